# SPDX-License-Identifier: Apache-2.0
"""Kernels that cuda.core compiles and launches (pip install cuda-core nvidia-cuda-nvrtc), recorded by graphophone.

A stream of cuda.core speaks __cuda_stream__, so it is captured as it is; its buffers speak DLPack."""
import array
from ctypes import c_float as FLOAT  # cuda.core takes the width of an argument from its type
from ctypes import c_uint32 as UNSIGNED

import graphophone as gph
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void scale(float *y, const float *x, float by, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = by * x[i];
}
"""
COUNT = 1000


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch="sm_%d%d" % tuple(device.compute_capability))
    scale = Program(SOURCE, code_type="c++", options=options).compile("ptx").get_kernel("scale")

    runtime = gph.open()
    pool = runtime.pool()
    x, y = (pool.tensor(COUNT, stream=stream) for _ in range(2))
    x.copy_from(array.array("f", range(COUNT)))
    config = LaunchConfig(grid=-(-COUNT // 128), block=128)
    with runtime.capture(stream, pool=pool) as capture:
        with capture.region("scale"):
            middle = pool.tensor(COUNT, stream=stream)
            launch(stream, config, scale, middle.data, x.data, FLOAT(2.0), UNSIGNED(COUNT))
            launch(stream, config, scale, y.data, middle.data, FLOAT(0.5), UNSIGNED(COUNT))
            del middle
    replay = capture.recording.instantiate()
    for number in range(3):
        x.copy_from(array.array("f", [number + i for i in range(COUNT)]))
        replay(stream)
        stream.sync()
    out = array.array("f", bytes(4 * COUNT))
    y.copy_to(out)
    assert list(out) == [2.0 + i for i in range(COUNT)], out[:4]
    print("cuda.core: 3 replays of %d kernels, y[999] = %g" % (len(capture.recording.describe().nodes), out[999]))


main()
