# The next batch is sent on a stream of its own while the graph works.
import torch

batches = [torch.randn(256, 1024).pin_memory() for _ in range(12)]
net = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)).cuda().eval()
static = torch.zeros(256, 1024, device="cuda")
copies = torch.cuda.Stream()

with torch.inference_mode():
    for _ in range(3):
        net(static)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = net(static)
    results = []
    for batch in batches:
        with torch.cuda.stream(copies):
            static.copy_(batch, non_blocking=True)  # <here>
        torch.cuda.current_stream().wait_stream(copies)
        graph.replay()  # <here>
        results.append(out.clone())
    torch.cuda.synchronize()
print(torch.stack(results).mean().item())
