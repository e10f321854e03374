"""Feature extraction over shards that a loader puts into one pinned buffer."""
import torch

torch.set_grad_enabled(False)
ROWS, STEPS = 4096, 12


def read_shard(step, buffer):
    """What the data loader does: decodes a shard into the buffer."""
    buffer.fill_(float(step + 1))


pinned = torch.empty(ROWS, 256).pin_memory()
weight = (torch.eye(ROWS) * 1.0).cuda()
x = torch.zeros(ROWS, 256, device="cuda")
total = torch.zeros((), device="cuda", dtype=torch.float64)


def extract():
    h = weight
    for _ in range(4):
        h = h @ weight
    total.add_((h @ x).double().mean())


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    extract()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    extract()
total.zero_()
torch.cuda.synchronize()
for step in range(STEPS):
    read_shard(step, pinned)  # <here>
    x.copy_(pinned, non_blocking=True)  # <here>
    graph.replay()
want = sum(range(1, STEPS + 1))
print("sum of the shards' means: %.3f, expected %d" % (total.item(), want))
print("right" if abs(total.item() - want) < 1e-2 else "WRONG")
