# A loader thread brings batches to the device while the model is being captured.
import queue
import threading
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(12)]).cuda().eval()
x = torch.zeros(32, 256, device="cuda")
ready, go, done = queue.Queue(), threading.Event(), threading.Event()
loaded = threading.Event()


def loader():
    go.wait()
    for i in range(8):
        try:
            size = 3_000_000 + i * 600_000
            ready.put(torch.empty(size, device="cuda"))  # <here>
        except RuntimeError as error:
            print("loader:", str(error).splitlines()[0])
        loaded.set()
    done.set()


thread = threading.Thread(target=loader)
thread.start()
with torch.no_grad():
    for _ in range(2):
        model(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        go.set()
        loaded.wait()
        out = model(x)
    done.wait()
    for _ in range(10):
        x.copy_(torch.randn(32, 256))
        graph.replay()
    print(out.sum().item())
thread.join()
