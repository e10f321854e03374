# make_graphed_callables with a data set whose last batch is smaller.
import torch

model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
data, labels = torch.randn(110, 32), torch.randint(0, 4, (110,))
graphed = torch.cuda.make_graphed_callables(model, (torch.randn(25, 32, device="cuda"),))

for epoch in range(2):
    for start in range(0, 110, 25):
        x, y = data[start:start + 25].cuda(), labels[start:start + 25].cuda()
        if len(x) < 25:
            continue
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(graphed(x), y)
        loss.backward()
        optimizer.step()
print("loss", loss.item())
