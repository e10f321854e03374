"""Evaluation during mixed precision training: the evaluation pass is captured once, weights change between evaluations."""
import torch

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
static_x = torch.zeros(64, 512, device="cuda")
graph = torch.cuda.CUDAGraph()

with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            model(static_x)
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        static_out = model(static_x)


def evaluate(x):
    static_x.copy_(x)
    graph.replay()
    return static_out.float().clone()


wrong = 0
for epoch in range(4):
    for _ in range(5):
        x = torch.randn(64, 512, device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = ((model(x).float() - x[:, :16]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    x = torch.randn(64, 512, device="cuda")
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        want = model(x).float()
    error = ((evaluate(x) - want).norm() / want.norm()).item()
    print("epoch %d: relative difference to eager %.4f" % (epoch, error))
    wrong += not error < 0.02
print("WRONG: %d of 4 evaluations" % wrong if wrong else "right")
