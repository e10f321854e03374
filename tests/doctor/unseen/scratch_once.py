# SPDX-License-Identifier: Apache-2.0
"""A step takes its scratch when it runs first, and that is in the capture. Other buffers were taken before, by other
lines: all calls of ctypes come from one place in it, but that is not the program's."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
scratch = ctypes.c_uint64()


def normalize(stream, x):
    if not scratch:
        cuda.cuMemAlloc_v2(ctypes.byref(scratch), ctypes.c_size_t(4096))  # <- here
    cuda.cuMemcpyDtoDAsync_v2(scratch, x, ctypes.c_size_t(4096), stream)
    cuda.cuMemcpyDtoDAsync_v2(x, scratch, ctypes.c_size_t(4096), stream)


context, stream, graph, x = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuStreamCreate(ctypes.byref(stream), 1)
cuda.cuMemAlloc_v2(ctypes.byref(x), ctypes.c_size_t(4096))
cuda.cuStreamBeginCapture_v2(stream, 0)
normalize(stream, x)
sys.exit(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) != 0)
