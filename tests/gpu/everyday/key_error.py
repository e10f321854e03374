# A captured forward whose configuration is looked up on the way.
import torch

config = {"hidden": 128, "layers": 2}
weights = [torch.randn(config["hidden"], config["hidden"], device="cuda") for _ in range(config["layers"])]
x = torch.randn(4, config["hidden"], device="cuda")


def block(h, weight, training):
    h = torch.relu(h @ weight)
    if not training:
        h = h * config["scale"]  # <here>
    return h


def forward(training=False):
    h = x
    for weight in weights:
        h = block(h, weight, training)
    return h


for _ in range(3):
    forward(training=True)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = forward()
for _ in range(10):
    x.copy_(torch.randn(4, 128))
    graph.replay()
print(out.sum().item())
