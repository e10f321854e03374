# SPDX-License-Identifier: Apache-2.0
"""CuPy's operations, recorded by graphophone and replayed: element-wise, reduction, a kernel of its own.

CuPy works in the stream that is current, which may be ours by its handle. Its arrays are read by DLPack.
What CuPy compiles or allocates at the first call does not belong in a graph: the function runs once before."""
import cupy
import graphophone as gph

COUNT = 1000
add = cupy.RawKernel("""
extern "C" __global__ void add(float *y, const float *x, float by, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + by;
}""", "add")


def step(x, y, total):
    cupy.multiply(x, 2.0, out=y)
    add((-(-COUNT // 128),), (128,), (y, y, cupy.float32(1.0), cupy.uint32(COUNT)))
    cupy.sum(y, out=total)


def main():
    x, y, total = cupy.arange(COUNT, dtype="f4"), cupy.zeros(COUNT, "f4"), cupy.zeros((), "f4")
    runtime = gph.open()
    stream = runtime.stream()
    cupy.cuda.runtime.deviceSynchronize()
    with cupy.cuda.ExternalStream(stream.handle):
        step(x, y, total)
        with runtime.capture(stream) as capture:
            with capture.region("step"):
                step(x, y, total)
    replay = capture.recording.instantiate()
    for number in range(3):
        x += number
        cupy.cuda.runtime.deviceSynchronize()
        replay(stream)
        stream.synchronize()
    assert float(y[999]) == 2 * (999 + 3) + 1 and float(total) == sum(2 * (i + 3) + 1 for i in range(COUNT))
    print("cupy: 3 replays of %d kernels, total = %g" % (len(capture.recording.describe().nodes), float(total)))


main()
