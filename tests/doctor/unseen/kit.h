// SPDX-License-Identifier: Apache-2.0
/* What programs need that are not about it: a device, a module, launches. Some of them are
 * right where FIXED is defined; NAME_right.c is NAME.c with it. */
#ifndef KIT_H
#define KIT_H
#include "cu.h"
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CK(call)                                                                         \
    do {                                                                                 \
        CUresult ck_ = (call);                                                           \
        if (ck_ != CUDA_SUCCESS) {                                                       \
            fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, (int)ck_); \
            exit(3);                                                                     \
        }                                                                                \
    } while (0)

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define INDEX                                                                            \
    "mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x;\n"                   \
    "mad.lo.s32 %r4,%r1,%r2,%r3; setp.ge.u32 %p1,%r4,%r5; @%p1 bra DONE;\n"              \
    "mul.wide.u32 %rd3,%r4,4; add.s64 %rd4,%rd1,%rd3;\n"
#define REGS ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<8>;\n"
static const char *const kit_ptx = HEAD
    /* x[i] = v */
    ".visible .entry fill(.param .u64 x,.param .f32 v,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[x]; ld.param.f32 %f1,[v]; ld.param.u32 %r5,[n];\n" INDEX
    "st.global.f32 [%rd4],%f1;\nDONE: ret;}\n"
    /* x[i] += v */
    ".visible .entry add(.param .u64 x,.param .f32 v,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[x]; ld.param.f32 %f1,[v]; ld.param.u32 %r5,[n];\n" INDEX
    "ld.global.f32 %f2,[%rd4]; add.f32 %f2,%f2,%f1; st.global.f32 [%rd4],%f2;\n"
    "DONE: ret;}\n"
    /* y[i] += a x[i] */
    ".visible .entry axpy(.param .u64 y,.param .u64 x,.param .f32 a,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[y]; ld.param.u64 %rd2,[x]; ld.param.f32 %f1,[a];\n"
    "ld.param.u32 %r5,[n];\n" INDEX
    "add.s64 %rd5,%rd2,%rd3; ld.global.f32 %f2,[%rd5]; ld.global.f32 %f3,[%rd4];\n"
    "fma.rn.f32 %f3,%f1,%f2,%f3; st.global.f32 [%rd4],%f3;\nDONE: ret;}\n"
    /* y[i] = 2 x[i] */
    ".visible .entry twice(.param .u64 y,.param .u64 x,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[y]; ld.param.u64 %rd2,[x]; ld.param.u32 %r5,[n];\n" INDEX
    "add.s64 %rd5,%rd2,%rd3; ld.global.f32 %f2,[%rd5]; add.f32 %f2,%f2,%f2;\n"
    "st.global.f32 [%rd4],%f2;\nDONE: ret;}\n"
    /* *out = sum of x, one thread */
    ".visible .entry total(.param .u64 out,.param .u64 x,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[out]; ld.param.u64 %rd2,[x]; ld.param.u32 %r5,[n];\n"
    "mov.u32 %r1,%tid.x; setp.ne.u32 %p1,%r1,0; @%p1 bra DONE;\n"
    "mov.f32 %f1,0f00000000; mov.u32 %r2,0;\n"
    "LOOP: setp.ge.u32 %p2,%r2,%r5; @%p2 bra STORE; ld.global.f32 %f2,[%rd2];\n"
    "add.f32 %f1,%f1,%f2; add.s64 %rd2,%rd2,4; add.u32 %r2,%r2,1; bra LOOP;\n"
    "STORE: st.global.f32 [%rd1],%f1;\nDONE: ret;}\n"
    /* some work: x[i] = x[i] * 0.5 + 1, rounds times */
    ".visible .entry work(.param .u64 x,.param .u32 rounds,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[x]; ld.param.u32 %r6,[rounds]; ld.param.u32 %r5,[n];\n" INDEX
    "ld.global.f32 %f2,[%rd4]; mov.u32 %r7,0;\n"
    "LOOP: setp.ge.u32 %p2,%r7,%r6; @%p2 bra STORE;\n"
    "fma.rn.f32 %f2,%f2,0f3F000000,0f3F800000; add.u32 %r7,%r7,1; bra LOOP;\n"
    "STORE: st.global.f32 [%rd4],%f2;\nDONE: ret;}\n"
    /* out[i] = hash(seed, i) */
    ".visible .entry noise(.param .u64 out,.param .u64 seed,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[out]; ld.param.u64 %rd2,[seed]; ld.param.u32 %r5,[n];\n" INDEX
    "cvt.u32.u64 %r6,%rd2; add.u32 %r6,%r6,%r4; mul.lo.u32 %r6,%r6,747796405;\n"
    "shr.u32 %r7,%r6,9; cvt.rn.f32.u32 %f1,%r7; st.global.f32 [%rd4],%f1;\nDONE: ret;}\n"
    /* out[i] = table[0][i]: through an address that lies in memory */
    ".visible .entry gather(.param .u64 out,.param .u64 table,.param .u32 n){" REGS
    "ld.param.u64 %rd1,[out]; ld.param.u64 %rd2,[table]; ld.param.u32 %r5,[n];\n" INDEX
    "ld.global.u64 %rd6,[%rd2]; add.s64 %rd6,%rd6,%rd3; ld.global.f32 %f1,[%rd6];\n"
    "st.global.f32 [%rd4],%f1;\nDONE: ret;}\n"
    /* waits until *flag is not 0 */
    ".visible .entry await(.param .u64 flag){" REGS "ld.param.u64 %rd1,[flag];\n"
    "LOOP: ld.volatile.global.u32 %r1,[%rd1]; setp.eq.u32 %p1,%r1,0; @%p1 bra LOOP;\n"
    "ret;}\n";

static CUmodule kit_module;
static void device_open(void)
{
    CUdevice device;
    CUcontext context;
    CK(cuInit(0));
    CK(cuDeviceGet(&device, 0));
    CK(cuDevicePrimaryCtxRetain(&context, device));
    CK(cuCtxSetCurrent(context));
    CK(cuModuleLoadData(&kit_module, kit_ptx));
}

static inline CUfunction kernel(const char *name)
{
    CUfunction f;
    CK(cuModuleGetFunction(&f, kit_module, name));
    return f;
}

static inline CUdeviceptr floats(unsigned n)
{
    CUdeviceptr p;
    CK(cuMemAlloc(&p, n * sizeof(float)));
    CK(cuMemsetD32(p, 0, n));
    CK(cuStreamSynchronize(NULL)); /* streams made here do not wait for it */
    return p;
}

static inline CUstream stream_new(void)
{
    CUstream s;
    CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

#define LAUNCH(f, n, s, ...)                                                             \
    cuLaunchKernel(f, ((n) + 127) / 128, 1, 1, 128, 1, 1, 0, s, (void *[]){__VA_ARGS__}, \
                   NULL)

static inline float first(CUdeviceptr p)
{
    float v;
    CK(cuMemcpyDtoH(&v, p, sizeof v));
    return v;
}
#endif
