#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python program that repeats its work eagerly, over the driver API: 40 rounds of ten launches."""
import ctypes

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 p)
{ .reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u64 %d1, [p];
  ld.global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2; ret; }
"""
cu = ctypes.CDLL("libcuda.so.1")


def ok(result):
    assert result == 0, result


def step():
    for _ in range(10):
        ok(cu.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None))  # the line


context, module, kernel, stream = (ctypes.c_void_p() for _ in range(4))
memory, out = ctypes.c_uint64(), ctypes.c_uint32()
ok(cu.cuInit(0))
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
ok(cu.cuCtxSetCurrent(context))
ok(cu.cuModuleLoadData(ctypes.byref(module), PTX))
ok(cu.cuModuleGetFunction(ctypes.byref(kernel), module, b"add"))
ok(cu.cuStreamCreate(ctypes.byref(stream), 1))
ok(cu.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4)))
ok(cu.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(1)))
ok(cu.cuCtxSynchronize())
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
for _ in range(40):
    step()
    ok(cu.cuStreamSynchronize(stream))
ok(cu.cuMemcpyDtoH_v2(ctypes.byref(out), memory, ctypes.c_size_t(4)))
assert out.value == 400, out.value
