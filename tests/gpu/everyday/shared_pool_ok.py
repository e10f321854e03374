"""Speculative decoding: draft and target model are captured in one pool, to save memory."""
import torch

torch.manual_seed(7)
torch.set_grad_enabled(False)
N = 1024


def make(depth):
    layers = [m for _ in range(depth - 1) for m in (torch.nn.Linear(N, N), torch.nn.Tanh())]
    return torch.nn.Sequential(*layers, torch.nn.Linear(N, N)).cuda().eval()


draft, target = make(4), make(3)
x = torch.zeros(N, N, device="cuda")
pool = torch.cuda.graph_pool_handle()


def capture(model):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = model(x)
    return graph, out


draft_graph, draft_out = capture(draft)
target_graph, target_out = capture(target)
wrong = 0
for step in range(6):
    x.copy_(torch.randn(N, N, device="cuda"))
    target_graph.replay()  # verifies the last round's tokens
    draft_graph.replay()  # proposes the next ones
    accepted = (target_out - draft_out).abs().mean().item()
    want = (target(x) - draft(x)).abs().mean().item()
    print("step %d: distance %.5f, eager %.5f" % (step, accepted, want))
    wrong += abs(accepted - want) > 1e-3
print("WRONG: %d of 6 steps" % wrong if wrong else "right")
