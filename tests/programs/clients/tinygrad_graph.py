# SPDX-License-Identifier: Apache-2.0
"""tinygrad: TinyJit records at its second call and replays a CUDA graph from the third on."""
from tinygrad import Device, Tensor, TinyJit
from tinygrad.runtime.graph.cuda import CUDAGraph

assert Device.DEFAULT == "CUDA", Device.DEFAULT

replays = []
replay = CUDAGraph.__call__
CUDAGraph.__call__ = lambda self, *a, **k: (replays.append(self), replay(self, *a, **k))[1]


@TinyJit
def step(x):
    shifted = (x + 1).contiguous().realize()
    scaled = (shifted * 2).contiguous().realize()
    return scaled.sum().realize()


sums = []
for i in range(5):
    sums.append(int(step(Tensor.full((32,), float(i)).contiguous().realize()).item()))
assert sums == [64 * (i + 1) for i in range(5)], sums
assert len(replays) >= 3, len(replays)
print(f"tinygrad: {sums[-1]}")
