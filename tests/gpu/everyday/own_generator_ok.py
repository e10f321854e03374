# Stochastic depth with a generator of its own.
import torch

gen = torch.Generator(device="cuda")
gen.manual_seed(1234)
weight = torch.randn(128, 128, device="cuda")
x = torch.randn(16, 128, device="cuda")


def forward():
    keep = torch.rand(16, 1, device="cuda", generator=gen) > 0.2
    return (x @ weight) * keep


for _ in range(3):
    forward()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
graph.register_generator_state(gen)
with torch.cuda.graph(graph):
    out = forward()
for _ in range(20):
    x.copy_(torch.randn(16, 128))
    graph.replay()
print("mean", out.mean().item())
