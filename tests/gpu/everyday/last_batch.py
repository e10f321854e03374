# A data set whose last batch is smaller than the others.
import torch

BATCH = 32
data = torch.randn(150, 64)
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda().eval()
static = torch.zeros(BATCH, 64, device="cuda")
outputs = []

with torch.inference_mode():
    for _ in range(3):
        net(static)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = net(static)
    for epoch in range(4):
        for start in range(0, len(data), BATCH):
            batch = data[start:start + BATCH]
            static[:len(batch)].copy_(batch)  # <here>
            graph.replay()  # <here>
            outputs.append(out.cpu())  # <here>
print(torch.cat(outputs).shape)
