# SPDX-License-Identifier: Apache-2.0
"""A kernel of Triton on PyTorch's tensors, recorded by graphophone into a callable and replayed.

Triton launches in PyTorch's current stream, which may be ours by its handle. PyTorch's tensors are read by
DLPack's C table. A callable runs its function once before it captures it: Triton compiles there."""
import graphophone as gph
import torch
import triton
import triton.language as tl


@triton.jit
def gelu(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    tl.store(y + i, v / (1 + tl.exp(-1.702 * v)), i < n)


def main():
    runtime = gph.open()
    stream, pool = runtime.stream(), runtime.pool()
    sample = torch.zeros(1000, device="cuda")
    torch.cuda.synchronize()

    def step(call, x):
        y = call.empty(x.shape)
        with torch.cuda.stream(torch.cuda.ExternalStream(call.stream.handle)):
            gelu[(triton.cdiv(1000, 256),)](torch.from_dlpack(y), torch.from_dlpack(x), 1000, BLOCK=256)
        return y

    graphed = runtime.callable(step, (sample,), outputs=1, pool=pool, stream=stream)
    for _ in range(3):
        x = torch.randn(1000, device="cuda")
        torch.cuda.synchronize()
        y = graphed(x)
        stream.synchronize()
        assert torch.allclose(torch.from_dlpack(y), x * torch.sigmoid(1.702 * x), atol=1e-6)
    print("triton: 3 calls of a callable, right")


main()
