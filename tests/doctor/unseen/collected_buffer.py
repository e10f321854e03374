# SPDX-License-Identifier: Apache-2.0
"""A captured function's scratch is freed by __del__ when the function returns. Allocation,
free and launch are made by helpers: of the first cause, the free, its callers' lines belong to the stack."""
import ctypes as C

cuda = C.CDLL("libcuda.so.1")
BYTES = 4096


def must(result):
    if result:
        raise RuntimeError(f"CUDA error {result}")


class Buffer:
    def __init__(self):
        self.address = C.c_uint64()
        must(cuda.cuMemAlloc_v2(C.byref(self.address), C.c_size_t(BYTES)))

    def fill(self, stream):
        must(cuda.cuMemsetD8Async(self.address, 0, C.c_size_t(BYTES), stream))

    def copy(self, other, stream):
        must(cuda.cuMemcpyDtoDAsync_v2(self.address, other.address, C.c_size_t(BYTES), stream))

    def __del__(self):
        cuda.cuMemFree_v2(self.address)  # <- here


class Graphed:
    def __init__(self, stream, out):
        scratch = Buffer()
        self.stream, self.graph, self.replayed = stream, C.c_void_p(), C.c_void_p()
        must(cuda.cuStreamBeginCapture_v2(stream, 1))
        scratch.fill(stream)
        out.copy(scratch, stream)
        must(cuda.cuStreamEndCapture(stream, C.byref(self.graph)))
        must(cuda.cuGraphInstantiateWithFlags(C.byref(self.replayed), self.graph, C.c_ulonglong(0)))

    def __call__(self):
        cuda.cuGraphLaunch(self.replayed, self.stream)


def main():
    context, stream = C.c_void_p(), C.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(C.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuStreamCreate(C.byref(stream), 1))
    out = Buffer()
    step = Graphed(stream, out)
    state = Buffer()
    state.fill(stream)
    for _ in range(3):
        step()
    cuda.cuStreamSynchronize(stream)


main()
