# Collects the logits of all batches and scores them at the end.
import torch

torch.manual_seed(1)
model = torch.nn.Linear(64, 16).cuda().eval()
static_input = torch.zeros(8, 64, device="cuda")

with torch.no_grad():
    for _ in range(3):
        model(static_input)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = model(static_input)


def forward(batch):
    static_input.copy_(batch)
    graph.replay()
    return logits.clone()


kept = []
for i in range(12):
    kept.append(forward(torch.randn(8, 64)))
scores = torch.stack(kept).softmax(-1).cpu()
print(scores.shape, scores.max().item())
