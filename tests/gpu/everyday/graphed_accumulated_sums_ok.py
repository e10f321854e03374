"""Gradient accumulation over micro-batches with make_graphed_callables."""
import torch


def make():
    torch.manual_seed(10)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).cuda()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


def train(graphed):
    model, optimizer = make()
    step = model
    if graphed:
        step = torch.cuda.make_graphed_callables(model, (torch.zeros(16, 32, device="cuda"),))
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)  # memory of its own, which the graph does not write
    generator = torch.Generator(device="cuda").manual_seed(11)
    for _ in range(10):
        for micro in range(4):
            x = torch.randn(16, 32, device="cuda", generator=generator) * (micro + 1)
            loss = ((step(x) - x.sum(-1, keepdim=True).sin()) ** 2).mean() / 4
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    return [p.detach().clone() for p in model.parameters()]


want, got = train(False), train(True)
error = max((a - b).abs().max().item() for a, b in zip(want, got))
print("largest difference of a weight to eager: %.5f" % error)
print("right" if error < 1e-3 else "WRONG")
