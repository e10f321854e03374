"""A whole training step in a graph, with a learning rate schedule."""
import torch

STEPS = 40


def make():
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2, capturable=True)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.8)
    return model, optimizer, schedule


def batch(step):
    generator = torch.Generator(device="cuda").manual_seed(step)
    x = torch.randn(32, 64, device="cuda", generator=generator)
    return x, x.sum(-1, keepdim=True).sin()


def eager():
    model, optimizer, schedule = make()
    for step in range(3 + STEPS):
        x, y = batch(step)
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()  # <here>
        if step >= 3:
            schedule.step()
    return [p.detach().clone() for p in model.parameters()]


def graphed():
    model, optimizer, schedule = make()
    static_x, static_y = [t.clone() for t in batch(0)]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for step in range(3):  # warm-up: three real steps
            x, y = batch(step)
            static_x.copy_(x), static_y.copy_(y)
            optimizer.zero_grad(set_to_none=True)
            torch.nn.functional.mse_loss(model(static_x), static_y).backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = torch.nn.functional.mse_loss(model(static_x), static_y)
        loss.backward()
        optimizer.step()  # <here>
    for step in range(3, 3 + STEPS):
        x, y = batch(step)
        static_x.copy_(x), static_y.copy_(y)
        graph.replay()
        schedule.step()
    print("last learning rate of the schedule: %.2e, loss %.4f" % (float(optimizer.param_groups[0]["lr"]), loss.item()))
    return [p.detach().clone() for p in model.parameters()]


error = max((a - b).abs().max().item() for a, b in zip(eager(), graphed()))
print("largest difference of a weight to eager: %.5f" % error)
print("right" if error < 2e-3 else "WRONG")
