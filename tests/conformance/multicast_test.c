// SPDX-License-Identifier: Apache-2.0
/* cp.async.bulk and cp.async.bulk.tensor with .multicast::cluster: a block copies to those
 * of its cluster that a mask names, and each waits for the bytes in an mbarrier
 * of its own. What each block's memory then holds, and codes, are an H200's. */
#include <stdint.h>

#include "driver.h"

#define SHOWN 1024u /* bytes of each block */
#define BOX 128u
#define BLOCKS 4u
#define TENSOR_BYTES 4096u
#define ROW_BYTES 96u

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 src, .param .u32 "
    "mask,\n"
    "  .param .u64 out)\n%s\n{\n"
    ".reg .b64 %%m, %%o, %%u, %%g; .reg .b32 %%t, %%b, %%i, %%a, %%x, %%r, %%k;\n"
    ".reg .b16 %%h; .reg .pred %%p;\n"
    ".shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 bar;\n"
    "mov.b64 %%m, map; cvta.param.u64 %%m, %%m; ld.param.u64 %%g, [src];\n"
    "ld.param.u32 %%k, [mask]; cvt.u16.u32 %%h, %%k; ld.param.u64 %%o, [out];\n"
    "mov.u32 %%t, %%tid.x; mov.u32 %%a, tile; mov.u32 %%b, bar; mov.u32 %%r, %%ctaid.x;\n"
    "shl.b32 %%i, %%t, 2;\n";

/* Memory is 0xee, each expects its bytes, one copies, all wait and show theirs. */
static const char body[] =
    "F: add.u32 %%x, %%a, %%i; st.shared.b32 [%%x], 0xeeeeeeee; add.u32 %%i, %%i, 128;\n"
    "setp.lt.u32 %%p, %%i, 1024; @%%p bra F;\n"
    "fence.proxy.async; bar.sync 0;\n"
    "shr.u32 %%k, %%k, %%r; and.b32 %%k, %%k, 1; setp.ne.u32 %%p, %%t, 0; @%%p bra A;\n"
    "mbarrier.init.shared.b64 [%%b], 1; fence.mbarrier_init.release.cluster;\n"
    "mul.lo.u32 %%x, %%k, 128; mbarrier.arrive.expect_tx.shared.b64 %%u, [%%b], %%x;\n"
    "A: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    "setp.ne.u32 %%p, %%t, 0; @%%p bra W; setp.ne.u32 %%p, %%r, %u; @%%p bra W;\n"
    "%s\n"
    "W: bar.sync 0;\nL: mbarrier.try_wait.parity.shared.b64 %%p, [%%b], 0; @!%%p bra L;\n"
    "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    "mul.lo.u32 %%x, %%r, 1024; cvt.u64.u32 %%u, %%x; add.s64 %%o, %%o, %%u;\n"
    "shl.b32 %%i, %%t, 2;\n"
    "G: add.u32 %%x, %%a, %%i; ld.shared.b32 %%x, [%%x]; cvt.u64.u32 %%u, %%i;\n"
    "add.s64 %%u, %%u, %%o; st.global.b32 [%%u], %%x; add.u32 %%i, %%i, 128;\n"
    "setp.lt.u32 %%p, %%i, 1024; @%%p bra G;\nret;\n}\n";

static const char *const copies[] = {
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    ".multicast::cluster [%a], [%g], 128, [%b], %h;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    ".multicast::cluster [%a], [%m, {8, 2}], [%b], %h;"};

static CUdeviceptr tensor, out;
static unsigned char content[TENSOR_BYTES];

/* A plane of 16 bits, 40 x 10: boxes of 16 x 4, which are 128 bytes. */
static void make_tensor(CUtensorMap *map)
{
    const cuuint64_t sizes[] = {40, 10}, strides[] = {ROW_BYTES};
    const cuuint32_t box[] = {16, 4}, steps[] = {1, 1};
    for (unsigned i = 0; i < TENSOR_BYTES; i++)
        content[i] = (unsigned char)(i % 2 ? (i / 2 + 1) >> 8 : i / 2 + 1);
    OK(cu.cuMemAlloc(&tensor, TENSOR_BYTES));
    OK(cu.cuMemAlloc(&out, BLOCKS * SHOWN));
    OK(cu.cuMemcpyHtoD(tensor, content, TENSOR_BYTES));
    OK(cu.cuTensorMapEncodeTiled(
        map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, (void *)(uintptr_t)tensor, sizes, strides,
        box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

static CUresult run(bool of_tensor, unsigned mask, unsigned size, unsigned from,
                    CUtensorMap *map)
{
    char text[4096], cluster[64] = "";
    CUmodule module;
    CUfunction kernel;
    if (size > 1)
        snprintf(cluster, sizeof(cluster), ".reqnctapercluster %u, 1, 1", size);
    const int at = snprintf(text, sizeof(text), head, cluster);
    snprintf(text + at, sizeof(text) - (size_t)at, body, from, copies[of_tensor]);
    CUdeviceptr source = tensor + 64;
    void *params[] = {map, &source, &mask, &out};
    if (!CHECK(cu.cuModuleLoadData(&module, text) == CUDA_SUCCESS))
        return CUDA_ERROR_INVALID_PTX;
    OK(cu.cuModuleGetFunction(&kernel, module, "k"));
    OK(cu.cuMemsetD8(out, 0xdd, BLOCKS * SHOWN));
    OK(cu.cuLaunchKernel(kernel, size, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    const CUresult status = cu.cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        OK(cu.cuModuleUnload(module));
    return status;
}

/* What a block shows that the mask names, or does not. */
static void want(bool of_tensor, bool is_named, unsigned char wanted[SHOWN])
{
    memset(wanted, 0xee, SHOWN);
    for (unsigned i = 0; is_named && i < BOX; i++)
        wanted[i] = content[of_tensor ? (2 + i / 32) * ROW_BYTES + 16 + i % 32 : 64 + i];
}

/* Copies from another block than the first were not recorded: they lie as PTX says. */
static void blocks_that_a_mask_names(void)
{
    static const struct {
        unsigned mask, size, from;
    } cases[] = {{0, 1, 0}, {1, 1, 0}, {1, 2, 0},  {2, 2, 0},  {3, 2, 0},
                 {3, 2, 1}, {1, 2, 1}, {15, 4, 0}, {10, 4, 0}, {7, 4, 2}};
    static unsigned char shown[BLOCKS * SHOWN], wanted[SHOWN];
    CUtensorMap map __attribute__((aligned(64)));
    make_tensor(&map);
    for (unsigned n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
        const bool of_tensor = n % 2 != 0;
        const unsigned mask = cases[n / 2].mask, size = cases[n / 2].size;
        const CUresult status = run(of_tensor, mask, size, cases[n / 2].from, &map);
        if (!CHECK(status == CUDA_SUCCESS))
            return;
        OK(cu.cuMemcpyDtoH(shown, out, sizeof(shown)));
        for (unsigned block = 0; block < size; block++) {
            want(of_tensor, mask >> block & 1, wanted);
            CHECK(memcmp(shown + SHOWN * block, wanted, SHOWN) == 0);
        }
    }
}

/* Each was recorded in a process of its own. */
static void blocks_that_are_missing(void)
{
    static const struct {
        unsigned mask, size;
        CUresult status;
    } cases[] = {{2, 1, CUDA_ERROR_ILLEGAL_INSTRUCTION},
                 {3, 1, CUDA_ERROR_ILLEGAL_INSTRUCTION},
                 {5, 2, CUDA_ERROR_LAUNCH_FAILED}};
    CUtensorMap map __attribute__((aligned(64)));
    if (!driver_is_soft)
        SKIP("each ends its process on a GPU");
    for (unsigned n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
        OK(cu.cuDevicePrimaryCtxReset(0));
        use_primary();
        make_tensor(&map);
        CHECK_IS(run(n % 2 != 0, cases[n / 2].mask, cases[n / 2].size, 0, &map),
                 cases[n / 2].status);
    }
}

int main(void)
{
    int supported = 0;
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuDeviceGetAttribute(&supported,
                               CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
    if (!supported) {
        printf("copies to several blocks need compute capability 9.0\n");
        return 77;
    }
    RUN(blocks_that_a_mask_names);
    RUN(blocks_that_are_missing);
    return test_done();
}
