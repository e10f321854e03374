# Decoding with a cache of keys; the position is a Python number.
import torch

cache = torch.zeros(64, 8, 32, device="cuda")
wk = torch.randn(32, 32, device="cuda")
token = torch.randn(8, 32, device="cuda")


def step(at):
    key = token @ wk
    cache[at].copy_(key)  # <here>
    return (cache.mean(0) * token).sum(-1)


with torch.inference_mode():
    for at in range(6):
        token.copy_(torch.randn(8, 32))
        step(at)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scores = step(6)  # <here>
    for at in range(6, 40):
        token.copy_(torch.randn(8, 32))
        graph.replay()
    print("last", scores[0].item())
