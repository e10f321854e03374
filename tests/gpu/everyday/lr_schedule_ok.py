# Trains a small regressor; the learning rate follows a cosine.
import math
import torch

torch.manual_seed(0)
device = torch.device("cuda")
w1 = torch.randn(64, 128, device=device, requires_grad=True)
w2 = torch.randn(128, 1, device=device, requires_grad=True)
x = torch.randn(32, 64, device=device)
y = torch.randn(32, 1, device=device)
rate = torch.zeros((), device=device)


def cosine(step, total=60, peak=1e-3):
    return peak * 0.5 * (1 + math.cos(math.pi * step / total))


def train_step(lr):
    loss = ((torch.relu(x @ w1) @ w2 - y) ** 2).mean()
    g1, g2 = torch.autograd.grad(loss, (w1, w2))
    with torch.no_grad():
        w1.sub_(g1 * lr)
        w2.sub_(g2 * lr)
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for step in range(5):
        x.copy_(torch.randn(32, 64))
        rate.fill_(cosine(step))
        train_step(rate)
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = train_step(rate)

for step in range(5, 60):
    x.copy_(torch.randn(32, 64))
    lr = cosine(step)
    rate.fill_(lr)
    graph.replay()
    if step % 20 == 0:
        print(step, lr, loss.item())
