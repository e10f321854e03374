// SPDX-License-Identifier: Apache-2.0
/* Kernels that move a box of a tensor, and show what they moved: of tests of tensor maps. Each
 * program has the tensor once. */
#ifndef CONFORMANCE_BOXES_H
#define CONFORMANCE_BOXES_H
#include <stdint.h>

#include "driver.h"

#define ROOM 8192u /* bytes of shared memory that a kernel shows */
#define TENSOR_BYTES (128u << 10)
#define PTX_BYTES 8192u
#define SWIZZLE_32B CU_TENSOR_MAP_SWIZZLE_32B
#define SWIZZLE_64B CU_TENSOR_MAP_SWIZZLE_64B
#define SWIZZLE_128B CU_TENSOR_MAP_SWIZZLE_128B

static unsigned char before[TENSOR_BYTES], after[TENSOR_BYTES], wanted[TENSOR_BYTES];
static CUdeviceptr tensor;

/* Byte `i` of words that count up: 1, 2, 3 ... in 16 bits. */
static inline unsigned char counted(unsigned i, unsigned first)
{
    const unsigned word = i / 2 + first;
    return (unsigned char)(i % 2 ? word >> 8 : word);
}

/* Where byte `i` of a box lies in shared memory, which begins at a multiple of 1024. */
static inline unsigned swizzled(unsigned i, CUtensorMapSwizzle swizzle)
{
    const unsigned chunk = i / 16, row = i / 128;
    switch ((int)swizzle) {
    case SWIZZLE_32B: return (chunk ^ row % 2) * 16 + i % 16;
    case SWIZZLE_64B: return (chunk ^ row % 4) * 16 + i % 16;
    case SWIZZLE_128B: return (chunk ^ row % 8) * 16 + i % 16;
    default: return i;
    }
}

/* ---- kernels --------------------------------------------------------------------------- */

/* map, five coordinates, bytes to expect, im2col's offsets, where to show shared memory */
static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .align 4 .b8 c[32],\n"
    "  .param .u64 out)\n{\n"
    ".reg .b64 %m, %o, %u; .reg .b32 %c<5>, %w<2>, %t, %i, %n, %a, %x, %b;\n"
    ".reg .b16 %h<3>; .reg .pred %p;\n"
    ".shared .align 1024 .b8 tile[8192]; .shared .align 8 .b64 bar;\n"
    "mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %o, [out];\n"
    "ld.param.u32 %c0, [c]; ld.param.u32 %c1, [c+4]; ld.param.u32 %c2, [c+8];\n"
    "ld.param.u32 %c3, [c+12]; ld.param.u32 %c4, [c+16]; ld.param.u32 %n, [c+20];\n"
    "ld.param.u32 %w0, [c+24]; ld.param.u32 %w1, [c+28];\n"
    "cvt.u16.u32 %h0, %w0; shr.u32 %w0, %w0, 16; cvt.u16.u32 %h1, %w0;\n"
    "cvt.u16.u32 %h2, %w1;\n"
    "mov.u32 %t, %tid.x; mov.u32 %a, tile; mov.u32 %b, bar; shl.b32 %i, %t, 2;\n";

/* All of a warp: shared memory is 0xee, thread 0 loads, all wait and show it. */
static const char load_text[] =
    "F: add.u32 %%x, %%a, %%i; st.shared.b32 [%%x], 0xeeeeeeee; add.u32 %%i, %%i, 128;\n"
    "setp.lt.u32 %%p, %%i, 8192; @%%p bra F;\n"
    "fence.proxy.async; bar.sync 0; setp.ne.u32 %%p, %%t, 0; @%%p bra W;\n"
    "prefetch.tensormap [%%m];\n"
    "cp.async.bulk.prefetch.tensor.%s.L2.global.%s [%%m, {%s}]%s;\n"
    "mbarrier.init.shared.b64 [%%b], 1; fence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared.b64 %%u, [%%b], %%n;\n"
    "cp.async.bulk.tensor.%s.shared::cluster.global.%s.mbarrier::complete_tx::bytes "
    "[%%a], [%%m, {%s}], [%%b]%s;\n"
    "W: bar.sync 0;\nL: mbarrier.try_wait.parity.shared.b64 %%p, [%%b], 0; @!%%p bra L;\n"
    "shl.b32 %%i, %%t, 2;\n"
    "G: add.u32 %%x, %%a, %%i; ld.shared.b32 %%x, [%%x]; cvt.u64.u32 %%u, %%i;\n"
    "add.s64 %%u, %%u, %%o; st.global.b32 [%%u], %%x; add.u32 %%i, %%i, 128;\n"
    "setp.lt.u32 %%p, %%i, 8192; @%%p bra G;\nret;\n}\n";

/* Shared memory counts up from 1001 in 16 bits, and thread 0 stores it. */
static const char store_text[] =
    "F: add.u32 %%x, %%a, %%i; shr.u32 %%n, %%i, 1; add.u32 %%n, %%n, 1001;\n"
    "add.u32 %%w0, %%n, 1; shl.b32 %%w0, %%w0, 16; or.b32 %%n, %%n, %%w0;\n"
    "st.shared.b32 [%%x], %%n; add.u32 %%i, %%i, 128;\n"
    "setp.lt.u32 %%p, %%i, 8192; @%%p bra F;\n"
    "fence.proxy.async; bar.sync 0; setp.ne.u32 %%p, %%t, 0; @%%p bra E;\n"
    "cp%s.async.bulk.tensor.%s.global.shared::cta%s.tile.bulk_group [%%m, {%s}], [%%a];\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nE: ret;\n}\n";

static const char *const ranks[] = {"", "1d", "2d", "3d", "4d", "5d"};
static const char *const coordinates[] = {"",
                                          "%c0",
                                          "%c0, %c1",
                                          "%c0, %c1, %c2",
                                          "%c0, %c1, %c2, %c3",
                                          "%c0, %c1, %c2, %c3, %c4"};
static const char *const filter[] = {
    "", "", "", ", {%h0}", ", {%h0, %h1}", ", {%h0, %h1, %h2}"};

static inline void write_load(unsigned rank, bool columns, char *text)
{
    const char *mode = columns ? "im2col" : "tile", *more = columns ? filter[rank] : "";
    strcpy(text, head);
    sprintf(text + strlen(text), load_text, ranks[rank], mode, coordinates[rank], more,
            ranks[rank], mode, coordinates[rank], more);
}

/* `operation` NULL: a store. */
static inline void write_store(unsigned rank, const char *operation, char *text)
{
    strcpy(text, head);
    sprintf(text + strlen(text), store_text, operation ? ".reduce" : "", ranks[rank],
            operation ? operation : "", coordinates[rank]);
}

typedef struct arguments {
    int at[5];
    unsigned bytes, offsets[2];
} arguments;

static inline bool run(const char *text, const CUtensorMap *map, const arguments *values,
                       unsigned char *shown)
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr out = 0;
    CUtensorMap kept __attribute__((aligned(64))) = *map;
    arguments passed = *values;
    if (!CHECK(cu.cuModuleLoadData(&module, text) == CUDA_SUCCESS))
        return false;
    OK(cu.cuModuleGetFunction(&kernel, module, "k"));
    OK(cu.cuMemAlloc(&out, ROOM));
    OK(cu.cuMemcpyHtoD(tensor, before, TENSOR_BYTES));
    void *params[] = {&kept, &passed, &out};
    OK(cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    const CUresult done = cu.cuCtxSynchronize();
    CHECK_IS(done, CUDA_SUCCESS);
    if (done == CUDA_SUCCESS && shown)
        OK(cu.cuMemcpyDtoH(shown, out, ROOM));
    if (done == CUDA_SUCCESS)
        OK(cu.cuMemcpyDtoH(after, tensor, TENSOR_BYTES));
    OK(cu.cuMemFree(out));
    OK(cu.cuModuleUnload(module));
    return done == CUDA_SUCCESS;
}

static inline void compare(const char *name, const unsigned char *got, unsigned bytes)
{
    unsigned i = 0;
    while (i < bytes && got[i] == wanted[i])
        i++;
    if (!CHECK(i == bytes))
        fprintf(stderr, "  %s: byte %u is %02x, not %02x\n", name, i, got[i], wanted[i]);
}

/* The tensor, with elements that count up; 77 where a device has no such maps. */
static inline int begin_boxes(void)
{
    int supported = 0;
    use_primary();
    OK(cu.cuDeviceGetAttribute(&supported,
                               CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
    if (!supported) {
        printf("tensor maps need compute capability 9.0\n");
        return 77;
    }
    OK(cu.cuMemAlloc(&tensor, TENSOR_BYTES));
    for (unsigned i = 0; i < TENSOR_BYTES; i++)
        before[i] = counted(i, 1);
    return 0;
}
#endif
