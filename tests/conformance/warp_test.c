// SPDX-License-Identifier: Apache-2.0
/* Warps whose lanes part, and warps that work together without a barrier: what an H200
 * gives, whatever CUDA promises. */
#include "driver.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    /* Each side of a branch asks who is there. */
    ".visible .entry sides(.param .u64 out)\n{\n"
    ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 11;\n"
    "@%p bra low;\nactivemask.b32 %r1;\nbra.uni both;\n"
    "low:\nactivemask.b32 %r1;\nadd.u32 %r1, %r1, 0;\n"
    "both:\nmul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;\n"
    "st.global.u32 [%d2], %r1;\nret;\n}\n"
    /* The same under a guard, which is a branch as well. */
    ".visible .entry guarded(.param .u64 out)\n{\n"
    ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 11;\n"
    "@%p activemask.b32 %r1;\n@!%p activemask.b32 %r1;\n"
    "mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;\n"
    "st.global.u32 [%d2], %r1;\nret;\n}\n"
    /* Each side writes and ends: nothing of one may run for the other's threads. */
    ".visible .entry ends(.param .u64 out)\n{\n"
    ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; setp.lt.u32 %p, %r0, 11;\n"
    "mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;\n"
    "@%p bra low;\nactivemask.b32 %r1;\nst.global.u32 [%d2], %r1;\nbra.uni both;\n"
    "low:\nactivemask.b32 %r1;\nst.global.u32 [%d2], %r1;\n"
    "both:\nret;\n}\n"
    /* A register before the memory, by what is added to it: cuBLAS' transpose does so. */
    ".visible .entry before(.param .u64 out)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %d<3>;\n"
    ".shared .align 4 .b8 b[128];\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;\n"
    "mov.u32 %r2, b; add.u32 %r3, %r2, %r1; sub.u32 %r3, %r3, 8192;\n"
    "st.shared.u32 [%r3+8192], %r0;\nbar.sync 0;\n"
    "mov.u32 %r2, b; sub.u32 %r3, %r2, %r1; ld.shared.u32 %r4, [%r3+124];\n"
    "mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;\n"
    "st.global.u32 [%d2], %r4;\nret;\n}\n"
    /* nvcc's form of the last steps of many a reduction: volatile int *v; v[t] += v[t + n].
     */
    ".visible .entry halves(.param .u64 out)\n{\n"
    ".reg .b32 %r<12>; .reg .b64 %d<3>; .reg .pred %p;\n"
    ".shared .align 4 .b8 v[512];\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2;\n"
    "mov.u32 %r2, v; add.u32 %r3, %r2, %r1; mov.u32 %r4, 1;\n"
    "st.shared.u32 [%r3], %r4;\nbar.sync 0;\nsetp.gt.u32 %p, %r0, 31;\n@%p bra "
    "out_of_it;\n"
    "ld.volatile.shared.u32 %r5, [%r3+128]; ld.volatile.shared.u32 %r6, [%r3];\n"
    "add.u32 %r7, %r6, %r5; st.volatile.shared.u32 [%r3], %r7;\n"
    "ld.volatile.shared.u32 %r5, [%r3+64]; ld.volatile.shared.u32 %r6, [%r3];\n"
    "add.u32 %r7, %r6, %r5; st.volatile.shared.u32 [%r3], %r7;\n"
    "ld.volatile.shared.u32 %r5, [%r3+32]; ld.volatile.shared.u32 %r6, [%r3];\n"
    "add.u32 %r7, %r6, %r5; st.volatile.shared.u32 [%r3], %r7;\n"
    "ld.volatile.shared.u32 %r5, [%r3+16]; ld.volatile.shared.u32 %r6, [%r3];\n"
    "add.u32 %r7, %r6, %r5; st.volatile.shared.u32 [%r3], %r7;\n"
    "ld.volatile.shared.u32 %r5, [%r3+8]; ld.volatile.shared.u32 %r6, [%r3];\n"
    "add.u32 %r7, %r6, %r5; st.volatile.shared.u32 [%r3], %r7;\n"
    "ld.volatile.shared.u32 %r5, [%r3+4]; ld.volatile.shared.u32 %r6, [%r3];\n"
    "add.u32 %r7, %r6, %r5; st.volatile.shared.u32 [%r3], %r7;\n"
    "out_of_it:\nbar.sync 0;\nld.shared.u32 %r8, [v];\n"
    "mul.wide.u32 %d1, %r0, 4; add.u64 %d2, %d0, %d1;\n"
    "st.global.u32 [%d2], %r8;\nret;\n}\n"
    /* The same in a loop, over a generic address. */
    ".visible .entry looped(.param .u64 out)\n{\n"
    ".reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p, %q;\n"
    ".shared .align 4 .b8 w[512];\n"
    "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
    "mov.u64 %d2, w; cvta.shared.u64 %d3, %d2; add.u64 %d3, %d3, %d1; mov.u32 %r4, 1;\n"
    "st.volatile.u32 [%d3], %r4; st.volatile.u32 [%d3+256], 0;\n"
    "mov.u64 %d4, 64;\n"
    "again:\nadd.u64 %d5, %d3, %d4; ld.volatile.u32 %r5, [%d5];\n"
    "ld.volatile.u32 %r6, [%d3]; add.u32 %r7, %r6, %r5; st.volatile.u32 [%d3], %r7;\n"
    "shr.u64 %d4, %d4, 1; setp.gt.u64 %q, %d4, 2; @%q bra again;\n"
    "bar.sync 0;\nand.b32 %r9, %r0, 32; shl.b32 %r9, %r9, 2; mov.u32 %r10, w;\n"
    "add.u32 %r10, %r10, %r9; ld.shared.u32 %r8, [%r10];\n"
    "add.u64 %d6, %d0, %d1; st.global.u32 [%d6], %r8;\nret;\n}\n";

#define THREADS 64

static CUmodule module;

static bool run(const char *name, unsigned threads, uint32_t out[THREADS])
{
    CUfunction kernel;
    CUdeviceptr memory;
    void *params[] = {&memory};
    OK(cu.cuModuleGetFunction(&kernel, module, name));
    OK(cu.cuMemAlloc(&memory, THREADS * 4));
    OK(cu.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(out, memory, threads * 4));
    return CHECK(cu.cuMemFree(memory) == CUDA_SUCCESS);
}

static void check_sides(const char *name)
{
    uint32_t out[THREADS] = {0};
    if (!run(name, 32, out))
        return;
    for (unsigned i = 0; i < 32; i++)
        if (!CHECK(out[i] == (i < 11 ? 0x7ffu : ~0x7ffu)))
            fprintf(stderr, "  %s: lane %u sees %08x\n", name, i, out[i]);
}

static void activemask_tells_who_is_on_this_side(void)
{
    check_sides("sides");
    check_sides("guarded");
    check_sides("ends");
}

static void shared_addresses_wrap(void)
{
    uint32_t out[THREADS] = {0};
    if (run("before", 32, out))
        for (uint32_t i = 0; i < 32; i++)
            CHECK(out[i] == 31 - i);
}

static void volatile_shared_memory_acts_in_lockstep(void)
{
    uint32_t out[THREADS] = {0};
    if (run("halves", 64, out))
        CHECK(out[0] == 64);
    if (run("looped", 32, out))
        CHECK(out[0] == 32);
}

/* A fill of what the host may read is done when the call returns; a GPU's own memory is
 * filled later. */
static unsigned late_fills(CUdeviceptr at, size_t bytes)
{
    unsigned late = 0;
    volatile unsigned char *seen = (volatile unsigned char *)(uintptr_t)at;
    for (unsigned i = 1; i <= 20; i++) {
        OK(cu.cuMemsetD8(at, (unsigned char)i, bytes));
        late += seen[bytes - 1] != i;
        OK(cu.cuMemsetD32(at, i * 0x01010101u + 1, bytes / 4));
        late += seen[bytes - 4] != i + 1;
        OK(cu.cuMemsetD2D16(at, 4096, (unsigned short)(i * 3), 2048, bytes / 4096));
        late += seen[bytes - 2] != i * 3;
        OK(cu.cuCtxSynchronize());
    }
    return late;
}

/* NVIDIA's reduction sample adds what lanes have that its block does not have. */
static void absent_lanes_give_0(void)
{
    static const char lonely[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry lonely(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4;\n"
        "add.u64 %d2, %d0, %d1; ld.global.u32 %r1, [%d2];\n"
        "shfl.sync.down.b32 %r2, %r1, 1, 31, -1;\nst.global.u32 [%d2], %r2;\nret;\n}\n";
    unsigned values[3] = {5, 6, 7};
    CUmodule own;
    CUfunction function;
    CUdeviceptr p;
    void *params[] = {&p};
    OK(cu.cuModuleLoadData(&own, lonely));
    OK(cu.cuModuleGetFunction(&function, own, "lonely"));
    OK(cu.cuMemAlloc(&p, sizeof(values)));
    OK(cu.cuMemcpyHtoD(p, values, sizeof(values)));
    OK(cu.cuLaunchKernel(function, 1, 1, 1, 3, 1, 1, 0, NULL, params, NULL));
    OK(cu.cuMemcpyDtoH(values, p, sizeof(values)));
    CHECK(values[0] == 6 && values[1] == 7 && values[2] == 0);
    OK(cu.cuMemFree(p));
    OK(cu.cuModuleUnload(own));
}

static void a_fill_of_host_memory_is_done_when_it_returns(void)
{
    const size_t bytes = 8u << 20;
    void *pinned;
    CUdeviceptr managed;
    OK(cu.cuMemHostAlloc(&pinned, bytes, 0));
    CHECK(late_fills((CUdeviceptr)(uintptr_t)pinned, bytes) == 0);
    OK(cu.cuMemFreeHost(pinned));
    OK(cu.cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL));
    CHECK(late_fills(managed, bytes) == 0);
    OK(cu.cuMemFree(managed));
}

int main(void)
{
    DEVICE_OR_SKIP();
    (void)use_primary();
    OK(cu.cuModuleLoadData(&module, text));
    RUN(activemask_tells_who_is_on_this_side);
    RUN(shared_addresses_wrap);
    RUN(volatile_shared_memory_acts_in_lockstep);
    RUN(absent_lanes_give_0);
    RUN(a_fill_of_host_memory_is_done_when_it_returns);
    return test_done();
}
