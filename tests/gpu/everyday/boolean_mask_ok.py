# The loss counts only the positions that are not padding.
import torch

PAD = 0
logits_layer = torch.nn.Linear(32, 100).cuda()
hidden = torch.randn(64, 32, device="cuda")
labels = torch.randint(0, 100, (64,), device="cuda")


def masked_loss():
    logits = logits_layer(hidden)
    return torch.nn.functional.cross_entropy(logits, labels, ignore_index=PAD)


with torch.no_grad():
    for _ in range(3):
        masked_loss()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = masked_loss()
    for _ in range(10):
        hidden.copy_(torch.randn(64, 32))
        graph.replay()
    print("loss", loss.item())
