"""Validation with a captured step; the last batch of the set is smaller than the others."""
import torch

torch.manual_seed(4)
torch.set_grad_enabled(False)
BATCH = 64
model = torch.nn.Sequential(torch.nn.Linear(100, 200), torch.nn.ReLU(), torch.nn.Linear(200, 10)).cuda().eval()
xs = torch.randn(300, 100, device="cuda")
xs[256:] *= 4  # the hard cases are at the end of the file
ys = torch.randint(0, 10, (300,), device="cuda")
static_x = torch.zeros(BATCH, 100, device="cuda")
static_y = torch.zeros(BATCH, dtype=torch.long, device="cuda")
mask = torch.ones(BATCH, device="cuda")


def step():
    losses = torch.nn.functional.cross_entropy(model(static_x), static_y, reduction="none")
    return (losses * mask).sum() / mask.sum()


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    static_loss = step()

total, seen = 0.0, 0
for start in range(0, 300, BATCH):
    x, y = xs[start:start + BATCH], ys[start:start + BATCH]
    static_x[:len(x)].copy_(x)
    static_y[:len(y)].copy_(y)
    mask.zero_()
    mask[:len(x)] = 1
    graph.replay()
    total += static_loss.item() * len(x)
    seen += len(x)
want = torch.nn.functional.cross_entropy(model(xs), ys).item()
print("validation loss: eager %.5f, with a graph %.5f" % (want, total / seen))
print("right" if abs(total / seen - want) < 1e-3 else "WRONG")
