# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ compiled by NVRTC (pip install cuda-bindings nvidia-cuda-nvrtc), recorded and replayed by graphophone.

Runs on a GPU, or on CPUs by softcuda: GPH_DRIVER=soft python3 nvrtc_module.py"""
import array

import graphophone as gph
from cuda.bindings import nvrtc

SOURCE = b"""
extern "C" __global__ void saxpy(float *y, const float *x, float a, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
"""
COUNT = 1000


def must(result):
    """What a call of cuda.bindings gave, without its status."""
    status, *values = result
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(status)
    return values[0] if values else None


def compile_ptx(source):
    program = must(nvrtc.nvrtcCreateProgram(source, b"saxpy.cu", 0, [], []))
    must(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_75"]))
    ptx = bytearray(must(nvrtc.nvrtcGetPTXSize(program)))
    buffer = bytes(ptx)
    must(nvrtc.nvrtcGetPTX(program, buffer))
    must(nvrtc.nvrtcDestroyProgram(program))
    return buffer.rstrip(b"\0")


def main():
    runtime = gph.open()
    stream, pool = runtime.stream(), runtime.pool()
    saxpy = runtime.module(compile_ptx(SOURCE)).function("saxpy")
    x, y = (pool.tensor(COUNT, stream=stream) for _ in range(2))
    x.copy_from(array.array("f", range(COUNT)))
    y.copy_from(array.array("f", [1.0] * COUNT))
    with runtime.capture(stream) as capture:
        with capture.region("saxpy"):
            saxpy(stream, -(-COUNT // 128), 128, y, x, 2.0, COUNT)
    replay = capture.recording.instantiate()
    for _ in range(3):
        replay(stream)
    stream.synchronize()
    out = array.array("f", bytes(4 * COUNT))
    y.copy_to(out)
    assert list(out) == [1.0 + 6.0 * i for i in range(COUNT)], out[:4]
    print("nvrtc: 3 replays, y[999] = %g" % out[999])


main()
