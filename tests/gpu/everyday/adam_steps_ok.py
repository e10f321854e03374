# A hand-written Adam, captured as one graph.
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).cuda()
params = list(model.parameters())
first = [torch.zeros_like(p) for p in params]
second = [torch.zeros_like(p) for p in params]
inputs = torch.randn(16, 64, device="cuda")
labels = torch.randint(0, 8, (16,), device="cuda")


class Adam:
    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999):
        self.lr, self.beta1, self.beta2 = lr, beta1, beta2
        self.count = torch.zeros((), device="cuda")

    @torch.no_grad()
    def step(self, grads):
        self.count += 1
        c1 = 1 - self.beta1 ** self.count
        c2 = 1 - self.beta2 ** self.count
        for p, g, m, v in zip(params, grads, first, second):
            m.lerp_(g, 1 - self.beta1)
            v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
            p.sub_(self.lr * (m / c1) / ((v / c2).sqrt() + 1e-8))


adam = Adam()


def step():
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    adam.step(torch.autograd.grad(loss, params))
    return loss


stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    for _ in range(4):
        step()
torch.cuda.current_stream().wait_stream(stream)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for i in range(100):
    inputs.copy_(torch.randn(16, 64))
    graph.replay()
print("loss", loss.item())
