"""Greedy decoding: the next token comes back through pinned memory so that the copy does not block."""
import torch

torch.manual_seed(2)
torch.set_grad_enabled(False)
VOCAB, WIDTH, TOKENS = 4096, 2048, 24
table = torch.randn(VOCAB, WIDTH, device="cuda")
layers = [torch.randn(WIDTH, WIDTH, device="cuda") / WIDTH**0.5 for _ in range(60)]
head = torch.randn(WIDTH, VOCAB, device="cuda")


def decode(token):
    h = table[token]
    for layer in layers:
        h = torch.tanh(h @ layer) * 1.2
    return (h @ head).argmax(-1)


def eager(first):
    tokens = [first]
    for _ in range(TOKENS):
        tokens.append(int(decode(torch.tensor([tokens[-1]], device="cuda"))))
    return tokens


token = torch.zeros(1, dtype=torch.long, device="cuda")
host_out = torch.zeros(1, dtype=torch.long).pin_memory()
want = eager(17)
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    decode(token)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    next_token = decode(token)
torch.cuda.synchronize()
got = [17]
for _ in range(TOKENS):
    token.fill_(got[-1])
    graph.replay()
    host_out.copy_(next_token, non_blocking=True)
    torch.cuda.current_stream().synchronize()
    got.append(int(host_out[0]))
print("eager:", want[:8], "with a graph:", got[:8])
print("right" if got == want else "WRONG")
