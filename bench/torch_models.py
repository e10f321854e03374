# SPDX-License-Identifier: Apache-2.0
"""The models of torch_end_to_end.py, of random weights: a decoder with a static cache of keys and values, the same of
transformers, a stack of many small kernels, a small encoder. The residual networks are torchvision's."""
import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    """Grouped queries, rotary positions; one token a call, at `position` of the cache."""

    def __init__(self, dim, heads, groups, batch, length):
        super().__init__()
        self.heads, self.groups, self.width = heads, groups, dim // heads
        self.qkv = nn.Linear(dim, (heads + 2 * groups) * self.width, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, groups, length, self.width))

    def forward(self, x, position, cosine, sine, mask):
        parts = self.qkv(x).view(x.shape[0], 1, self.heads + 2 * self.groups, self.width).transpose(1, 2)
        q, k, v = parts.split([self.heads, self.groups, self.groups], dim=1)
        q, k = (one * cosine + torch.cat((-one[..., self.width // 2:], one[..., :self.width // 2]), -1) * sine for one in (q, k))
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        y = functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask, enable_gqa=True)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, dim, heads, groups, hidden, batch, length):
        super().__init__()
        self.before_attention, self.before_product = nn.RMSNorm(dim), nn.RMSNorm(dim)
        self.attention = Attention(dim, heads, groups, batch, length)
        self.gate, self.up = nn.Linear(dim, hidden, bias=False), nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x, *where):
        x = x + self.attention(self.before_attention(x), *where)
        y = self.before_product(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    """The shape of Llama 3.2: forward(token, position) is the next token of each of a batch, int64, (batch, 1)."""

    def __init__(self, layers, dim, heads, groups, hidden, words, batch, length=256):
        super().__init__()
        self.embedding = nn.Embedding(words, dim)
        self.layers = nn.ModuleList(Layer(dim, heads, groups, hidden, batch, length) for _ in range(layers))
        self.norm = nn.RMSNorm(dim)
        nn.init.normal_(self.embedding.weight, std=0.02)
        nn.init.normal_(self.norm.weight)  # or each token would be the one before: it is the nearest to itself
        width = dim // heads
        angle = torch.arange(length)[:, None] / 500000 ** (torch.arange(0, width, 2, dtype=torch.float32) / width)[None, :]
        self.register_buffer("cosine", torch.cat((angle, angle), -1).cos().to(torch.get_default_dtype()))
        self.register_buffer("sine", torch.cat((angle, angle), -1).sin().to(torch.get_default_dtype()))
        self.register_buffer("places", torch.arange(length, dtype=torch.float32))

    def forward(self, token, position):
        x = self.embedding(token)
        mask = (self.places <= position)[None, None, None, :]
        for layer in self.layers:
            x = layer(x, position, self.cosine[position], self.sine[position], mask)
        return functional.linear(self.norm(x)[:, -1], self.embedding.weight).argmax(-1, keepdim=True)


LLAMAS = {"tiny": (4, 256, 8, 4, 512, 4096), "1b": (16, 2048, 32, 8, 8192, 128256)}


def llama(size, batch, make=None):
    """In bfloat16, with its parameters on the GPU; positions stay exact in float32. make(size, batch): another one."""
    torch.manual_seed(0)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("cuda"):
            model = make(size, batch) if make else Llama(*LLAMAS[size], batch)
    finally:
        torch.set_default_dtype(before)
    return model.eval().requires_grad_(False)


class TransformersLlama(nn.Module):
    """transformers' Llama of the same size with its static cache; forward() as that of Llama."""

    def __init__(self, size, batch, length=256):
        from transformers.cache_utils import StaticCache
        from transformers.models.llama.configuration_llama import LlamaConfig
        from transformers.models.llama.modeling_llama import LlamaForCausalLM
        super().__init__()
        layers, dim, heads, groups, hidden, words = LLAMAS[size]
        config = LlamaConfig(vocab_size=words, hidden_size=dim, intermediate_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                             num_key_value_heads=groups, max_position_embeddings=length, rope_theta=500000.0, tie_word_embeddings=True)
        config._attn_implementation = "sdpa"
        self.model = LlamaForCausalLM(config)
        nn.init.normal_(self.model.model.norm.weight)  # as Llama's
        self.cache = StaticCache(config=config, max_cache_len=length)
        self.cache.early_initialization(batch, groups, dim // heads, torch.get_default_dtype(), torch.device("cuda"))

    def forward(self, token, position):
        logits = self.model(token, cache_position=position, past_key_values=self.cache, use_cache=True).logits
        return logits[:, -1].argmax(-1, keepdim=True)

    def generate(self, token, count, compiled):
        """As many tokens by its own loop; compiled: by its own use of torch.compile(mode="reduce-overhead")."""
        return self.model.generate(token, attention_mask=torch.ones_like(token), max_new_tokens=count, min_new_tokens=count, do_sample=False,
                                   cache_implementation="static", disable_compile=not compiled, pad_token_id=0)


class ManySmall(nn.Module):
    """A stack whose forward and backward passes are some hundreds of kernels of a few microseconds."""

    def __init__(self, layers=24, width=64):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU()) for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x


class Encoder(nn.Module):
    """A small transformer that classifies rows of words."""

    def __init__(self, words=1000, dim=256, heads=4, layers=4, classes=10):
        super().__init__()
        self.embedding = nn.Embedding(words, dim)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(dim, heads, 2 * dim, dropout=0.0, batch_first=True)
                                    for _ in range(layers))
        self.head = nn.Linear(dim, classes)

    def forward(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))
