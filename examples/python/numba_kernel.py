# SPDX-License-Identifier: Apache-2.0
"""Kernels of numba-cuda, recorded by graphophone and replayed.

Numba takes a stream by its handle and tensors by __cuda_array_interface__. What it compiles and loads at the
first call does not belong in a graph, so a kernel is called once before it is captured."""
import array

import graphophone as gph
from numba import cuda

COUNT = 1000


@cuda.jit("void(float32[::1], float32[::1], float32)")
def add(y, x, by):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[i] + by


def main():
    cuda.current_context()
    runtime = gph.open()
    stream, pool = runtime.stream(), runtime.pool()
    x, y = (pool.tensor(COUNT, stream=stream) for _ in range(2))
    x.copy_from(array.array("f", range(COUNT)))
    theirs = cuda.external_stream(stream.handle)
    view_x, view_y = (cuda.from_cuda_array_interface(t.__cuda_array_interface__, owner=t) for t in (x, y))
    blocks = -(-COUNT // 128)
    add[blocks, 128, theirs](view_y, view_x, 1.0)
    with runtime.capture(stream) as capture:
        with capture.region("add"):
            add[blocks, 128, theirs](view_y, view_x, 1.0)
            add[blocks, 128, theirs](view_x, view_y, 1.0)
    replay = capture.recording.instantiate()
    for _ in range(3):
        replay(stream)
    stream.synchronize()
    out = array.array("f", bytes(4 * COUNT))
    x.copy_to(out)
    assert list(out) == [6.0 + i for i in range(COUNT)], out[:4]
    print("numba: 3 replays of %d kernels, x[999] = %g" % (len(capture.recording.describe().nodes), out[999]))


main()
