# Forward, backward and the optimizer in one graph.
import torch

model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 64, device="cuda")
y = torch.randn(32, 64, device="cuda")


def forward_backward():
    loss = (model(x) - y).abs().mean()
    loss.backward()  # <here>
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(4):
        x.copy_(torch.randn(32, 64))
        optimizer.zero_grad(set_to_none=False)
        forward_backward()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = forward_backward()

for step in range(50):
    x.copy_(torch.randn(32, 64))
    graph.replay()  # <here>
print("loss", loss.item())
