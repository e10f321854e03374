# SPDX-License-Identifier: Apache-2.0
"""numba-cuda: two of its kernels, captured on its stream by cuda-bindings' driver calls."""
import numpy as np
from cuda.bindings import driver
from numba import config, cuda

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def done(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result[0]
    return result[1] if len(result) == 2 else None


@cuda.jit
def scale(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= by


@cuda.jit
def shift(a, by):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += by


stream = cuda.stream()
a = cuda.to_device(np.zeros(1000, np.float32), stream=stream)
scale[8, 128, stream](a, np.float32(2))  # compiled before the capture
shift[8, 128, stream](a, np.float32(0))
stream.synchronize()

handle = driver.CUstream(int(getattr(stream.handle, "value", stream.handle)))
mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
done(driver.cuStreamBeginCapture(handle, mode))
scale[8, 128, stream](a, np.float32(2))
shift[8, 128, stream](a, np.float32(1))
graph = done(driver.cuStreamEndCapture(handle))
replayed = done(driver.cuGraphInstantiate(graph, 0))
for _ in range(4):
    done(driver.cuGraphLaunch(replayed, handle))
stream.synchronize()
result = a.copy_to_host()
assert (result == 15).all(), result
print(f"numba-cuda: {result.sum():.0f}")
