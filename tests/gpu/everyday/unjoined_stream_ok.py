# Two towers in one graph, the second on a stream of its own.
import torch

left = torch.nn.Linear(64, 64).cuda()
right = torch.nn.Linear(64, 64).cuda()
x = torch.randn(16, 64, device="cuda")
side = torch.cuda.Stream()


def towers():
    main = torch.cuda.current_stream()
    side.wait_stream(main)
    with torch.cuda.stream(side):
        b = right(x)
    a = left(x)
    main.wait_stream(side)
    return a, b


with torch.inference_mode():
    for _ in range(3):
        towers()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        a, b = towers()
    for _ in range(10):
        x.copy_(torch.randn(16, 64))
        graph.replay()
    torch.cuda.synchronize()
    print((a + b).sum().item())
