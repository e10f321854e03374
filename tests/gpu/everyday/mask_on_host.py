# Each step builds its padding mask on the host and sends it from pinned memory.
import torch

LENGTH = 32
hidden = torch.randn(8, LENGTH, 64, device="cuda")
lengths = [5, 9, 12, 20, 7, 30, 2, 16]


def build_mask():
    rows = torch.arange(LENGTH)[None, :] < torch.tensor(lengths)[:, None]
    return rows.float().pin_memory()  # <here>


def pooled():
    mask = build_mask().to("cuda", non_blocking=True)  # <here>
    return (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


with torch.inference_mode():
    for _ in range(4):
        lengths = [min(LENGTH, n + 1) for n in lengths]
        pooled()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = pooled()
    for step in range(10):
        lengths = [min(LENGTH, n + 1) for n in lengths]
        hidden.copy_(torch.randn(8, LENGTH, 64))
        graph.replay()
    print(out.norm().item())
