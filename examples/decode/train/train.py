# SPDX-License-Identifier: Apache-2.0
"""Trains the model of examples/decode: a small Llama that adds two numbers written as text.

    python3 train.py --out DIR [--layers 2] [--minutes 6] [--early 0.3] [--seed 1]

A sequence is `1234+567=`, then the sum with its LEAST significant digit first, then the end
token: `1081` for 1801. So every digit depends only on what comes before it.
Tokens: 0-9 the digits, 10 `+`, 11 `=`, 12 end and padding; the vocabulary is padded to 16.

A hash of the two numbers puts each pair into one of 20 buckets: 0 is kept apart and only seen
once, at the end; 1 decides when to stop; the model is trained on the other 18.

The first layer alone learns to predict, too, with the same norm and head (--early): decode
--mode tree guesses with it.

DIR gets config.json and model.safetensors (float16, the Hugging Face layout of Llama),
problems.txt (1,000 problems of bucket 0) and reference.safetensors (the logits of a few
sequences in float32, computed from the rounded weights).
"""
import argparse
import json
import math
import pathlib
import struct
import time

import torch
import torch.nn.functional as F
from torch import nn

PLUS, EQUALS, END, VOCAB, LENGTH = 10, 11, 12, 16, 16


def bucket(a, b):
    """0..19 from the pair; integers below 2^53, so that any language gets the same."""
    h = (a * 10007 + b * 7919 + 12345) % 2147483647
    h = (h * 48271) % 2147483647
    return (h * 48271) % 2147483647 % 20


def encode(a, b):
    """Tokens [n, 16] of `a+b=`, the sum backwards, end; and the place of `=`."""
    n, device = len(a), a.device

    def digits(x):
        return sum((x >= 10**k).long() for k in range(1, 5)) + 1

    la, lb, s = digits(a), digits(b), a + b
    ls = digits(s)
    rows = torch.full((n, LENGTH + 1), END, device=device)  # the last column takes what is masked

    def put(column, value, keep):
        rows.scatter_(1, torch.where(keep, column, LENGTH)[:, None], value[:, None])

    every = torch.ones(n, dtype=torch.bool, device=device)
    for i in range(4):
        put(la - 1 - i, a // 10**i % 10, i < la)
        put(la + lb - i, b // 10**i % 10, i < lb)
    put(la, torch.full_like(a, PLUS), every)
    put(la + lb + 1, torch.full_like(a, EQUALS), every)
    for i in range(5):
        put(la + lb + 2 + i, s // 10**i % 10, i < ls)
    return rows[:, :LENGTH], la + lb + 1, ls


def draw(n, device, keep):
    """n pairs whose bucket satisfies `keep`; each count of digits is as likely as the others."""
    a = torch.empty(0, dtype=torch.long, device=device)
    b = a
    while len(a) < n:
        size = 2 * n + 64
        x = [(torch.rand(size, device=device) * 10 ** torch.randint(1, 5, (size,), device=device)).long()
             for _ in range(2)]
        ok = keep(bucket(x[0], x[1]))
        a, b = torch.cat([a, x[0][ok]]), torch.cat([b, x[1][ok]])
    return a[:n], b[:n]


def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, h, kv, hd, ff = (c[k] for k in ("hidden_size", "num_attention_heads",
                                           "num_key_value_heads", "head_dim",
                                           "intermediate_size"))
        self.heads, self.kv, self.head_dim = h, kv, hd
        self.input_layernorm = nn.RMSNorm(d, eps=c["rms_norm_eps"])
        self.self_attn = nn.ModuleDict({
            "q_proj": nn.Linear(d, h * hd, bias=False), "k_proj": nn.Linear(d, kv * hd, bias=False),
            "v_proj": nn.Linear(d, kv * hd, bias=False), "o_proj": nn.Linear(h * hd, d, bias=False)})
        self.post_attention_layernorm = nn.RMSNorm(d, eps=c["rms_norm_eps"])
        self.mlp = nn.ModuleDict({
            "gate_proj": nn.Linear(d, ff, bias=False), "up_proj": nn.Linear(d, ff, bias=False),
            "down_proj": nn.Linear(ff, d, bias=False)})

    def forward(self, x, cos, sin):
        n, t, _ = x.shape
        y, at = self.input_layernorm(x), self.self_attn
        q = rotate(at["q_proj"](y).view(n, t, self.heads, self.head_dim).transpose(1, 2), cos, sin)
        k = rotate(at["k_proj"](y).view(n, t, self.kv, self.head_dim).transpose(1, 2), cos, sin)
        v = at["v_proj"](y).view(n, t, self.kv, self.head_dim).transpose(1, 2)
        k, v = (z.repeat_interleave(self.heads // self.kv, dim=1) for z in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + at["o_proj"](y.transpose(1, 2).reshape(n, t, -1))
        y = self.post_attention_layernorm(x)
        return x + self.mlp["down_proj"](F.silu(self.mlp["gate_proj"](y)) * self.mlp["up_proj"](y))


class Llama(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.model.layers = nn.ModuleList([Layer(c) for _ in range(c["num_hidden_layers"])])
        self.model.norm = nn.RMSNorm(c["hidden_size"], eps=c["rms_norm_eps"])
        rate = c["rope_theta"] ** (-torch.arange(0, c["head_dim"], 2).float() / c["head_dim"])
        angle = torch.outer(torch.arange(c["max_position_embeddings"]).float(), rate)
        self.register_buffer("cos", torch.cat([angle, angle], -1).cos(), persistent=False)
        self.register_buffer("sin", torch.cat([angle, angle], -1).sin(), persistent=False)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.5 / math.sqrt(p.shape[1]))

    def forward(self, tokens, layers=None):
        """Logits after the first `layers`, or all."""
        m, t = self.model, tokens.shape[1]
        x = m.embed_tokens(tokens)
        for layer in m.layers[:layers]:
            x = layer(x, self.cos[:t], self.sin[:t])
        return F.linear(m.norm(x), m.embed_tokens.weight)  # the head is the embedding


@torch.no_grad()
def exact(model, a, b):
    """The share of problems whose whole greedy answer, end token included, is right."""
    truth, equals, ls = encode(a, b)
    column = torch.arange(LENGTH, device=a.device)[None]
    rows = torch.where(column <= equals[:, None], truth, END)
    for step in range(6):
        at = (equals + step).clamp(max=LENGTH - 2)[:, None]
        guess = model(rows).argmax(-1).gather(1, at)
        rows = rows.scatter(1, at + 1, guess)
    asked = (column > equals[:, None]) & (column <= (equals + ls + 1)[:, None])
    return ((rows == truth) | ~asked).all(1).float().mean().item()


def train(model, args, device):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.98),
                                  weight_decay=0.01)
    check = draw(2000, device, lambda h: h == 1)
    start, step = time.time(), 0
    column = torch.arange(LENGTH - 1, device=device)[None]
    while True:
        share = (time.time() - start) / (60 * args.minutes)
        if share >= 1 or (args.steps and step >= args.steps):
            break
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / 300) * (0.02 + 0.98 * math.cos(share * math.pi / 2))
        tokens, equals, ls = encode(*draw(args.batch, device, lambda h: h >= 2))
        asked = (column >= equals[:, None]) & (column <= (equals + ls)[:, None])
        truth = tokens[:, 1:][asked]
        loss = F.cross_entropy(model(tokens[:, :-1])[asked], truth)
        early = F.cross_entropy(model(tokens[:, :-1], 1)[asked], truth)
        loss = loss + args.early * early
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % args.every == 0:
            right = exact(model, *check)
            print(f"step {step}  {time.time() - start:.0f} s  loss {loss.item():.4f} "
                  f"(early {early.item():.4f})  "
                  f"exact {100 * right:.2f} %", flush=True)
            if right >= 0.9995 and share > 0.2:
                break


def write_safetensors(path, tensors):
    kinds = {torch.float16: "F16", torch.float32: "F32", torch.int32: "I32"}
    header, blob = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.detach().cpu().contiguous().numpy().tobytes()
        header[name] = {"dtype": kinds[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + blob)


def main():
    parser = argparse.ArgumentParser(description="train the adding model of examples/decode")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--inner", type=int, default=256)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--steps", type=int, default=0, help="0: until the time is over")
    parser.add_argument("--every", type=int, default=1000)
    parser.add_argument("--early", type=float, default=0.3,
                        help="weight of the first layer's own loss")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama",
              "hidden_act": "silu", "vocab_size": VOCAB, "hidden_size": args.hidden,
              "intermediate_size": args.inner, "num_hidden_layers": args.layers,
              "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": args.hidden // 4,
              "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 100.0,
              "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True,
              "bos_token_id": None, "eos_token_id": END, "pad_token_id": END, "torch_dtype": "float16"}
    model = Llama(config).to(device)
    print(f"{sum(p.numel() for p in model.parameters())} parameters on {device}", flush=True)
    train(model, args, device)

    torch.set_float32_matmul_precision("highest")
    for p in model.parameters():  # what is measured is what is shipped
        p.data = p.data.half().float()
    seen, problems = set(), []
    while len(problems) < 1000:
        for pair in zip(*(x.tolist() for x in draw(64, device, lambda h: h == 0))):
            if pair not in seen and len(problems) < 1000:
                seen.add(pair)
                problems.append(pair)
    a, b = (torch.tensor(x, device=device) for x in zip(*problems))
    print(f"held out: {1000 * exact(model, a, b):.0f} of 1000 exact", flush=True)

    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    write_safetensors(args.out / "model.safetensors",
                      {k: v.half() for k, v in model.state_dict().items()})
    (args.out / "problems.txt").write_text("".join(f"{x}+{y}={x + y}\n" for x, y in problems))
    tokens = encode(a[:8], b[:8])[0]
    with torch.no_grad():
        logits = model(tokens)
    write_safetensors(args.out / "reference.safetensors",
                      {"tokens": tokens.int(), "logits": logits.float()})
    try:
        from transformers import LlamaForCausalLM
    except ImportError:
        return
    peer = LlamaForCausalLM.from_pretrained(args.out).float().to(device).eval()
    with torch.no_grad():
        apart = (peer(tokens).logits - logits).abs().max().item()
    print(f"logits differ from transformers' Llama by at most {apart:.2g}", flush=True)


if __name__ == "__main__":
    main()
