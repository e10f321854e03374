# Moves a feature extractor to a graph; the loop prints the features.
import torch

net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Sigmoid()).cuda().eval()
image = torch.zeros(8, 64, device="cuda")

with torch.inference_mode():
    for _ in range(3):
        features = net(image)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static_features = net(image)  # <here>
    total = 0.0
    for i in range(15):
        image.copy_(torch.randn(8, 64))
        graph.replay()  # <here>
        total += features.mean().item()  # <here>
    print("mean", total / 15)
