// SPDX-License-Identifier: Apache-2.0
/* Tensor maps: what cuTensorMapEncode...() refuse, as an H200 does. */
#include <stdint.h>

#include "driver.h"

#define U16 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define S32 CU_TENSOR_MAP_DATA_TYPE_INT32
#define NONE CU_TENSOR_MAP_SWIZZLE_NONE

static CUdeviceptr tensor;

typedef struct request {
    int type, interleave, swizzle, promotion, fill;
    unsigned rank;
    cuuint64_t address, size[6], stride[6];
    cuuint32_t box[6], step[6];
} request;

static CUresult ask(const request *r, CUtensorMap *map)
{
    return cu.cuTensorMapEncodeTiled(
        map, (CUtensorMapDataType)r->type, r->rank, (void *)(uintptr_t)r->address,
        r->size, r->stride, r->box, r->step, (CUtensorMapInterleave)r->interleave,
        (CUtensorMapSwizzle)r->swizzle, (CUtensorMapL2promotion)r->promotion,
        (CUtensorMapFloatOOBfill)r->fill);
}

static request plain(void)
{
    return (request){.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                     .rank = 3,
                     .address = tensor,
                     .size = {64, 64, 4, 4, 4, 4},
                     .stride = {256, 16384, 65536, 65536, 65536},
                     .box = {16, 8, 2, 1, 1, 1},
                     .step = {1, 1, 1, 1, 1, 1}};
}

/* The same request but for one thing. */
#define WITH(status, change)                                                             \
    do {                                                                                 \
        request r = plain();                                                             \
        CUtensorMap got;                                                                 \
        change;                                                                          \
        memset(&got, 0x5a, sizeof(got));                                                 \
        const CUresult is = ask(&r, &got);                                               \
        if (!CHECK(is == (status)))                                                      \
            fprintf(stderr, "  %s: %d\n", #change, (int)is);                             \
        if (is != CUDA_SUCCESS && driver_is_soft) /* NVIDIA's driver clears it */        \
            CHECK(((unsigned char *)&got)[0] == 0x5a);                                   \
    } while (0)
#define TAKEN(change) WITH(CUDA_SUCCESS, change)
#define BAD(change) WITH(CUDA_ERROR_INVALID_VALUE, change)

static void tiles_are_judged(void)
{
    TAKEN(r.rank = 1);
    BAD(r.rank = 0);
    BAD(r.rank = 6);
    BAD(r.type = 16);
    BAD(r.type = -1);
    BAD(r.promotion = 4);
    BAD(r.interleave = 3);
    BAD(r.fill = 2);
    TAKEN(r.fill = 1);
    BAD(r.fill = 1; r.type = S32);
    BAD(r.address += 8);
    TAKEN(r.address += 16);
    TAKEN(r.address = 0);
    BAD(r.address = 1ull << 57);
    BAD(r.size[1] = 0);
    TAKEN(r.size[1] = 1ull << 32);
    BAD(r.size[1] = (1ull << 32) + 1);
    BAD(r.stride[0] = 8);
    TAKEN(r.stride[0] = 16);
    TAKEN(r.stride[1] = 0);
    TAKEN(r.stride[1] = (1ull << 40) - 16);
    BAD(r.stride[1] = 1ull << 40);
    BAD(r.box[1] = 0);
    TAKEN(r.box[1] = 256);
    BAD(r.box[1] = 257);
    TAKEN(r.box[0] = 256; r.box[1] = 228; r.box[2] = 1);
    BAD(r.box[0] = 256; r.box[1] = 230; r.box[2] = 1);
    BAD(r.box[0] = 2);
    BAD(r.step[1] = 0);
    TAKEN(r.step[1] = 8);
    BAD(r.step[1] = 9);
    BAD(r.step[0] = 0);
    BAD(r.step[0] = 9);
}

static void swizzles_are_judged(void)
{
    TAKEN(r.swizzle = 2);
    BAD(r.swizzle = 1);
    TAKEN(r.swizzle = 3; r.box[0] = 32);
    BAD(r.swizzle = 3; r.box[0] = 64);
    BAD(r.interleave = 1; r.rank = 2);
    TAKEN(r.interleave = 1);
    TAKEN(r.interleave = 1; r.swizzle = 3; r.box[0] = 64);
    TAKEN(r.interleave = 2; r.box[0] = 8);
    BAD(r.interleave = 2; r.box[0] = 8; r.address += 16);
    BAD(r.interleave = 2; r.box[0] = 8; r.stride[0] = 272);
    BAD(r.interleave = 1; r.box[0] = 1);
    int major = 0;
    OK(cu.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    if (major != 9)
        SKIP("the packed types are judged at compute capability 9");
    for (int swizzle = 4; swizzle < 7; swizzle++)
        BAD(r.swizzle = swizzle);
    for (int type = 13; type < 16; type++)
        BAD(r.type = type; r.size[0] = r.box[0] = 128);
}

static CUresult ask_pixels(unsigned rank, int lower, int upper, unsigned channels,
                           unsigned pixels, unsigned step)
{
    static const cuuint64_t size[6] = {16, 8, 8, 2, 2, 2};
    static const cuuint64_t stride[6] = {32, 256, 2048, 4096, 8192};
    const int low[3] = {lower, -1, -1}, high[3] = {upper, -1, -1};
    const cuuint32_t steps[6] = {1, step, 1, 1, 1, 1};
    CUtensorMap map;
    return cu.cuTensorMapEncodeIm2col(
        &map, U16, rank, (void *)(uintptr_t)tensor, size, stride, low, high, channels,
        pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void columns_are_judged(void)
{
    OK(ask_pixels(4, -1, -1, 8, 16, 1));
    OK(ask_pixels(5, -1, -1, 8, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(2, -1, -1, 8, 16, 1));
    OK(ask_pixels(4, 127, 127, 8, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -129, -1, 8, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, 128, 8, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, 4, -4, 8, 16, 1));
    OK(ask_pixels(4, 3, -4, 8, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(5, -17, -1, 8, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 0, 16, 1));
    OK(ask_pixels(4, -1, -1, 256, 456, 1)); /* 228 KiB */
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 256, 457, 1));
    OK(ask_pixels(4, -1, -1, 64, 1024, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 264, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 4, 16, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 8, 0, 1));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 8, 1025, 1));
    OK(ask_pixels(4, -1, -1, 8, 16, 8));
    REFUSED(INVALID_VALUE, ask_pixels(4, -1, -1, 8, 16, 9));
}

int main(void)
{
    int supported = 0;
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuDeviceGetAttribute(&supported,
                               CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
    if (!supported) {
        printf("tensor maps need compute capability 9.0\n");
        return 77;
    }
    OK(cu.cuMemAlloc(&tensor, 128u << 10));
    RUN(tiles_are_judged);
    RUN(swizzles_are_judged);
    RUN(columns_are_judged);
    return test_done();
}
