"""Forward and backward in a graph, the optimizer outside it, as with gradient clipping."""
import torch


def make():
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
    return model, torch.optim.SGD(model.parameters(), lr=0.05)


def batch(step):
    x = torch.randn(64, 32, device="cuda", generator=torch.Generator(device="cuda").manual_seed(step))
    return x, x[:, :1] * 2 + 1


def eager(steps):
    model, optimizer = make()
    for step in range(steps):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


def graphed(steps):
    model, optimizer = make()
    x, y = [t.clone() for t in batch(0)]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            torch.nn.functional.mse_loss(model(x), y).backward()
    torch.cuda.current_stream().wait_stream(side)
    optimizer.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
    for step in range(steps):
        next_x, next_y = batch(step)
        x.copy_(next_x), y.copy_(next_y)
        optimizer.zero_grad()  # <here>
        graph.replay()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


a, b = eager(100), graphed(100)
print("loss after 100 steps: eager %.5f, with a graph %.5f" % (a, b))
print("right" if abs(a - b) < 1e-3 + 0.05 * a else "WRONG")
