# The graph computes gradients; the optimizer runs eagerly.
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x, y = torch.randn(64, 32, device="cuda"), torch.randn(64, 1, device="cuda")

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()  # <here>

for step in range(30):
    x.copy_(torch.randn(64, 32))
    y.copy_(torch.randn(64, 1))
    optimizer.zero_grad()  # <here>
    graph.replay()  # <here>
    optimizer.step()  # <here>
print("loss", loss.item())
