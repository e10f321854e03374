# Paged attention's block table, rebuilt by the scheduler at each decode step.
import torch

PAGES, PAGE, HEADS, DIM = 64, 16, 4, 32


class Decoder:
    def __init__(self):
        self.keys = torch.randn(PAGES, PAGE, HEADS * DIM, device="cuda")
        self.query = torch.randn(4, HEADS * DIM, device="cuda")
        self.table = torch.zeros(4, 8, dtype=torch.int64, device="cuda")
        self.graph = None

    def schedule(self, step):
        rows = [[(step * 7 + r * 8 + c) % PAGES for c in range(8)] for r in range(4)]
        self.table = torch.tensor(rows, device="cuda")  # <here>

    def attend(self):
        keys = self.keys[self.table].reshape(4, 8 * PAGE, HEADS * DIM)  # <here>
        scores = torch.einsum("bd,bkd->bk", self.query, keys).softmax(-1)
        return torch.einsum("bk,bkd->bd", scores, keys)

    def decode(self, step):
        self.schedule(step)
        if self.graph is None:
            for _ in range(3):
                self.schedule(step)
                self.attend()
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = self.attend()
        self.graph.replay()
        return self.out.clone()


with torch.inference_mode():
    decoder = Decoder()
    total = 0.0
    for step in range(30):
        total += decoder.decode(step).sum().item()
    print("done", total)
