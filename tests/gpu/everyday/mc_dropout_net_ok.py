"""Uncertainty by Monte Carlo dropout: the same input through the captured model many times."""
import torch

torch.manual_seed(9)
torch.set_grad_enabled(False)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(256, 1)).cuda()
static_x = torch.randn(32, 64, device="cuda")


def capture():
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(static_x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(static_x)
    return graph, out


model.eval()
print("point estimate: %.4f" % model(static_x).mean().item())
model.train()
graph, out = capture()
samples = []
for _ in range(50):
    graph.replay()
    samples.append(out.clone())
got = torch.stack(samples).std(0).mean().item()
want = torch.stack([model(static_x) for _ in range(50)]).std(0).mean().item()
print("uncertainty: eager %.4f, with a graph %.4f" % (want, got))
print("right" if abs(got - want) < 0.3 * want else "WRONG")
