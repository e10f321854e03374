# torch.compile with graphs on requests whose length differs each time.
import torch
import torch._dynamo

torch._dynamo.config.automatic_dynamic_shapes = False
torch._dynamo.config.cache_size_limit = 64
weight = torch.randn(64, 64, device="cuda")


@torch.compile(backend="cudagraphs")
def score(x):
    return torch.relu(x @ weight).sum(-1)


with torch.no_grad():
    for request in range(24):
        length = 3 * request + 4
        length = -(-length // 40) * 40
        for part in range(3):
            score(torch.randn(length, 64, device="cuda"))
    torch.cuda.synchronize()
print("scored")
