# Tokens are copied to pinned memory and handed to the detokenizer.
import torch

vocabulary = 4096
head = torch.randn(256, vocabulary, device="cuda")
hidden = torch.zeros(64, 256, device="cuda")
tokens_host = torch.zeros(64, dtype=torch.int64, pin_memory=True)

with torch.inference_mode():
    for _ in range(2):
        (hidden @ head).argmax(-1)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tokens = (hidden @ head).argmax(-1)

    text = []
    for step in range(25):
        hidden.copy_(torch.randn(64, 256))
        graph.replay()
        tokens_host.copy_(tokens, non_blocking=True)
        torch.cuda.current_stream().synchronize()
        text.append(tokens_host.tolist())
    torch.cuda.synchronize()
print(len(text), "steps")
