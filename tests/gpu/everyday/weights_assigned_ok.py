# Serves a model and loads new weights while it runs.
import torch

torch.manual_seed(0)


def make():
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))


model = make().cuda().eval()
x = torch.zeros(4, 64, device="cuda")


@torch.no_grad()
def capture():
    for _ in range(3):
        model(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(x)
    return graph, out


graph, out = capture()
versions = [make().cuda().state_dict() for _ in range(3)]
for version in versions:
    model.load_state_dict(version)
    for _ in range(5):
        x.copy_(torch.randn(4, 64))
        graph.replay()
        print(round(out.sum().item(), 3))
