# Clips the gradient in the captured step; falls back to eager when a capture is refused.
import torch

model = torch.nn.Linear(128, 128).cuda()
x = torch.randn(16, 128, device="cuda")


def clip(grads, limit=1.0):
    norm = torch.stack([g.norm() for g in grads]).norm()
    factor = (limit / norm).clamp(max=1.0)
    for g in grads:
        g.mul_(factor)


def step():
    loss = model(x).square().mean()
    grads = torch.autograd.grad(loss, list(model.parameters()))
    clip(grads)
    with torch.no_grad():
        for p, g in zip(model.parameters(), grads):
            p.sub_(g, alpha=0.01)


side = torch.cuda.Stream()
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        step()
    run = graph.replay
except RuntimeError as error:
    print("no graph:", str(error).splitlines()[0])
    run = step
for _ in range(20):
    x.copy_(torch.randn(16, 128))
    run()
torch.cuda.synchronize()
print("trained")
