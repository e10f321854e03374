# SPDX-License-Identifier: Apache-2.0
"""A device, a kernel that multiplies a number, and captures of it, by calls of the driver."""
import ctypes

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 at, .param .f32 by)
{
    .reg .b64 %rd<2>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [at]; ld.param.f32 %f1, [by];
    ld.global.f32 %f2, [%rd1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%rd1], %f2;
    ret;
}
.visible .entry scale_by(.param .u64 at, .param .u64 by)
{
    .reg .b64 %rd<3>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [by]; ld.global.f32 %f1, [%rd2];
    ld.global.f32 %f2, [%rd1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%rd1], %f2;
    ret;
}
"""


class Cuda:
    def __init__(self):
        self.driver, context, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(module), PTX)
        self.scale, self.scale_by = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(self.scale), module, b"scale")
        self.call("cuModuleGetFunction", ctypes.byref(self.scale_by), module, b"scale_by")
        self.stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        self.x, self.number = self.allocate(), self.allocate()

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        assert status == 0, (name, status)

    def allocate(self):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(256))
        return at

    def put(self, at, value):
        self.call("cuMemcpyHtoD_v2", at, ctypes.byref(ctypes.c_float(value)), ctypes.c_size_t(4))

    def get(self):
        out = ctypes.c_float()
        self.call("cuStreamSynchronize", self.stream)
        self.call("cuMemcpyDtoH_v2", ctypes.byref(out), self.x, ctypes.c_size_t(4))
        return out.value

    def launch(self, function, *arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*[ctypes.cast(ctypes.pointer(a), ctypes.c_void_p) for a in arguments])
        self.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, self.stream, pointers, None)

    def multiply(self, by):
        self.launch(self.scale, self.x, ctypes.c_float(by))

    def multiply_by(self, at):
        self.launch(self.scale_by, self.x, at)

    def begin(self):
        self.call("cuStreamBeginCapture_v2", self.stream, 2)

    def end(self):
        graph, run = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        self.call("cuGraphInstantiateWithFlags", ctypes.byref(run), graph, ctypes.c_uint64(0))
        return run

    def replay(self, run, value=3.0):
        self.put(self.x, value)
        self.call("cuGraphLaunch", run, self.stream)
        return self.get()
