# Inference on batches that arrive on the host.
import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).cuda().eval()
batches = [torch.randn(32, 128) for _ in range(20)]


@torch.no_grad()
def run():
    static_input = torch.zeros(32, 128, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(static_input)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static_output = model(static_input)
    answers = []
    for batch in batches:
        static_input.copy_(batch)
        graph.replay()
        answers.append(static_output.argmax(-1).cpu())
    return torch.stack(answers)


print(run().shape)
