# Mixed precision: a graph for forward and backward, the scaler outside.
import torch

torch.manual_seed(0)
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda", init_scale=256.0, growth_interval=2)
x, y = torch.randn(32, 64, device="cuda"), torch.randn(32, 64, device="cuda")
for p in model.parameters():
    p.grad = torch.zeros_like(p)


def forward_backward(scale):
    with torch.autocast("cuda", dtype=torch.float16, cache_enabled=False):
        loss = torch.nn.functional.mse_loss(model(x).float(), y)
    for p in model.parameters():
        p.grad.zero_()
    (loss * scale).backward()  # <here>
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(5):
        scaler.scale(torch.ones((), device="cuda"))
        forward_backward(scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()
torch.cuda.current_stream().wait_stream(side)

scale = scaler.get_scale()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = forward_backward(scale)  # <here>

for step in range(20):
    x.copy_(torch.randn(32, 64))
    graph.replay()
    scaler.step(optimizer)
    scaler.update()
print("scale", scaler.get_scale(), "loss", loss.item())
