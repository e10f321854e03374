# Each step builds its padding mask on the host and sends it from pinned memory.
import torch

LENGTH = 32
hidden = torch.randn(8, LENGTH, 64, device="cuda")
mask_host = torch.zeros(8, LENGTH, pin_memory=True)
lengths = [5, 9, 12, 20, 7, 30, 2, 16]


def build_mask():
    rows = torch.arange(LENGTH)[None, :] < torch.tensor(lengths)[:, None]
    mask_host.copy_(rows.float())
    return mask_host


def pooled():
    mask = mask_host.to("cuda", non_blocking=True)
    return (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)


with torch.inference_mode():
    for _ in range(4):
        lengths = [min(LENGTH, n + 1) for n in lengths]
        torch.cuda.synchronize()
        build_mask()
        pooled()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = pooled()
    for step in range(10):
        lengths = [min(LENGTH, n + 1) for n in lengths]
        hidden.copy_(torch.randn(8, LENGTH, 64))
        torch.cuda.synchronize()
        build_mask()
        graph.replay()
    print(out.norm().item())
