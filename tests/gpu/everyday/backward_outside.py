# Only the forward pass is captured; the backward pass is called as always.
import torch

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(32, 64, device="cuda"), torch.randn(32, 1, device="cuda")


def forward():
    return torch.nn.functional.mse_loss(model(x), y)


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        forward().backward()
torch.cuda.current_stream().wait_stream(side)
optimizer.zero_grad(set_to_none=True)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = forward()
for step in range(20):
    x.copy_(torch.randn(32, 64))
    optimizer.zero_grad()
    graph.replay()
    loss.backward()  # <here>
    optimizer.step()
print("loss", loss.item())
