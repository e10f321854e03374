# Stochastic depth: each step leaves out layers by chance.
import random
import torch

random.seed(11)
layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(6)).cuda()
optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
x, y = torch.randn(32, 64, device="cuda"), torch.randn(32, 64, device="cuda")
keep = torch.ones(6, device="cuda")


def step():
    h = x
    for i, layer in enumerate(layers):
        h = h + keep[i] * torch.tanh(layer(h))
    optimizer.zero_grad(set_to_none=False)
    loss = torch.nn.functional.mse_loss(h, y)
    loss.backward()
    optimizer.step()
    return loss


def draw():
    x.copy_(torch.randn(32, 64))
    keep.copy_((torch.rand(6) >= 0.3).float())


for layer in layers:
    for p in layer.parameters():
        p.grad = torch.zeros_like(p)
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(6):
        draw()
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(40):
    draw()
    graph.replay()
print("loss", loss.item())
