# SPDX-License-Identifier: Apache-2.0
"""A binding as programs have them: one line makes all calls, small functions and classes are
around it."""
import ctypes as C

lib = C.CDLL("libcuda.so.1")


def status(name, *args):
    return getattr(lib, "cu" + name)(*args)


def check(name, *args):
    code = status(name, *args)
    if code:
        raise RuntimeError(f"cu{name}: {code}")


def init():
    context = C.c_void_p()
    check("Init", 0)
    check("DevicePrimaryCtxRetain", C.byref(context), 0)
    check("CtxSetCurrent", context)


class Stream:
    def __init__(self):
        self.handle = C.c_void_p()
        check("StreamCreate", C.byref(self.handle), 1)

    def begin(self):
        check("StreamBeginCapture_v2", self.handle, 1)

    def end(self):
        graph = C.c_void_p()
        check("StreamEndCapture", self.handle, C.byref(graph))
        return graph

    def wait(self):
        check("StreamSynchronize", self.handle)


class Buffer:
    def __init__(self, count):
        self.address, self.count = C.c_uint64(), count
        check("MemAlloc_v2", C.byref(self.address), C.c_size_t(4 * count))

    def fill(self, value, stream):
        check("MemsetD32Async", self.address, value, C.c_size_t(self.count), stream.handle)


class Step:
    """What is not a wrapper: it makes many calls, each for its own reason."""

    def __init__(self, stream, buffer):
        self.stream, self.buffer = stream, buffer

    def record(self):
        check("StreamBeginCapture_v2", self.stream.handle, 1)
        check("MemsetD32Async", self.buffer.address, 1, C.c_size_t(self.buffer.count), self.stream.handle)
        check("StreamSynchronize", self.stream.handle)  # a look at the result
        return self.stream.end()
