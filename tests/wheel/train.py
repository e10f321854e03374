# SPDX-License-Identifier: Apache-2.0
"""A program of the driver by ctypes that allocates while it captures: what gph doctor has to name
is the line of it. Without `broken` it captures right, launches and checks what came out."""
import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 by)
{
    .reg .u32 %r<2>; .reg .u64 %d<4>; .reg .f32 %f<3>;
    ld.param.u64 %d1, [data];
    ld.param.f32 %f1, [by];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d3, %d1, %d2;
    ld.global.f32 %f2, [%d3];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%d3], %f2;
    ret;
}
\0"""
COUNT, GLOBAL = 64, 0
cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        raise RuntimeError("CUDA error %d" % result)


def step(kernel, data, stream):
    """Four times what it was, in two launches."""
    by = ctypes.c_float(2)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(data), ctypes.addressof(by))
    for _ in range(2):
        check(cuda.cuLaunchKernel(kernel, 1, 1, 1, COUNT, 1, 1, 0, stream, arguments, None))


def allocate(bytes):
    data = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(bytes)))  # the mistake
    return data


def main(is_broken):
    handle = ctypes.c_void_p
    device, context, stream, module, kernel = ctypes.c_int(), handle(), handle(), handle(), handle()
    graph, exec_ = handle(), handle()
    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"scale"))
    data = allocate(4 * COUNT)
    host = (ctypes.c_float * COUNT)(*range(COUNT))
    check(cuda.cuMemcpyHtoD_v2(data, host, ctypes.sizeof(host)))

    check(cuda.cuStreamBeginCapture_v2(stream, GLOBAL))
    step(kernel, data, stream)
    if is_broken:
        allocate(4096)
    check(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
    check(cuda.cuGraphInstantiateWithFlags(ctypes.byref(exec_), graph, ctypes.c_ulonglong(0)))
    check(cuda.cuGraphLaunch(exec_, stream))
    check(cuda.cuStreamSynchronize(stream))
    check(cuda.cuMemcpyDtoH_v2(host, data, ctypes.sizeof(host)))
    assert list(host) == [4.0 * i for i in range(COUNT)], list(host)
    check(cuda.cuGraphExecDestroy(exec_))
    check(cuda.cuGraphDestroy(graph))
    print("trained")


main("broken" in sys.argv)
