# An average of the weights whose decay grows with the steps.
import torch

model = torch.nn.Linear(64, 64).cuda()
average = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(32, 64, device="cuda"), torch.randn(32, 64, device="cuda")
rate = torch.zeros((), device="cuda")


def step(decay):
    optimizer.zero_grad(set_to_none=False)
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for a, p in zip(average.parameters(), model.parameters()):
            a.mul_(decay).add_(p * (1 - decay))
    return loss


def decay_at(number):
    return min(0.999, (1 + number) / (10 + number))


for p in model.parameters():
    p.grad = torch.zeros_like(p)
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for number in range(5):
        x.copy_(torch.randn(32, 64))
        rate.fill_(decay_at(number))
        step(rate)
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step(rate)
for number in range(5, 60):
    x.copy_(torch.randn(32, 64))
    rate.fill_(decay_at(number))
    graph.replay()
print("loss", loss.item())
