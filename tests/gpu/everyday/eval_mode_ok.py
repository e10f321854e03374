# One graph for the forward pass; validation comes after some steps of training.
import torch

net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64), torch.nn.ReLU(), torch.nn.Dropout(0.2)).cuda()
x = torch.randn(32, 64, device="cuda")

with torch.no_grad():
    net.train()
    for _ in range(3):
        net(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = net(x)
    for _ in range(20):
        x.copy_(torch.randn(32, 64))
        graph.replay()
    net.eval()
    net(x)
    torch.cuda.synchronize()
    evaluation = torch.cuda.CUDAGraph()
    with torch.cuda.graph(evaluation):
        out = net(x)
    total = 0.0
    for _ in range(10):
        x.copy_(torch.randn(32, 64))
        evaluation.replay()
        total += out.abs().mean().item()
print("validation", total / 10)
