# Greedy decoding over a key cache; only the filled part takes part in attention.
import torch

LIMIT, DIM = 64, 128
keys = torch.zeros(LIMIT, DIM, device="cuda")
query = torch.zeros(1, DIM, device="cuda")


def attend(length):
    keys[length].copy_(query[0])  # <here>
    scores = torch.softmax(query @ keys[:length + 1].T, -1)  # <here>
    return scores @ keys[:length + 1]  # <here>


with torch.inference_mode():
    length = 0
    for _ in range(6):
        query.copy_(torch.randn(1, DIM))
        attend(length)
        length += 1
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = attend(length)  # <here>
    while length < LIMIT - 1:
        query.copy_(torch.randn(1, DIM))
        graph.replay()
        length += 1
    print("out", out.norm().item())
