# Greedy decoding over a key cache; only the filled part takes part in attention.
import torch

LIMIT, DIM = 64, 128
keys = torch.zeros(LIMIT, DIM, device="cuda")
query = torch.zeros(1, DIM, device="cuda")
positions = torch.arange(LIMIT, device="cuda")
filled = torch.zeros(1, dtype=torch.int64, device="cuda")


def attend(length):
    keys.index_copy_(0, filled, query)
    scores = (query @ keys.T).masked_fill(positions > filled, float("-inf")).softmax(-1)
    return scores @ keys


with torch.inference_mode():
    length = 0
    for _ in range(6):
        query.copy_(torch.randn(1, DIM))
        filled.fill_(length)
        attend(length)
        length += 1
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = attend(length)
    while length < LIMIT - 1:
        query.copy_(torch.randn(1, DIM))
        filled.fill_(length)
        graph.replay()
        length += 1
    print("out", out.norm().item())
