// SPDX-License-Identifier: Apache-2.0
/* Copies and fills of one to three dimensions, synchronous and not. */
#include "driver.h"

enum { BYTES = 4096 };
static unsigned char source[BYTES], target[BYTES];
static CUdeviceptr a, b;
static CUstream stream;

static void start(void)
{
    for (int i = 0; i < BYTES; i++)
        source[i] = (unsigned char)(i * 7 + i / 256);
    memset(target, 0, sizeof(target));
    OK(cu.cuMemcpyHtoD(a, source, BYTES));
    OK(cu.cuMemsetD8(b, 0, BYTES));
    OK(cu.cuCtxSynchronize()); /* `stream` does not wait for the default stream */
}

static bool target_is_source(void)
{
    return memcmp(target, source, BYTES) == 0;
}

static void one_dimension(void)
{
    start();
    OK(cu.cuMemcpyDtoD(b, a, BYTES));
    OK(cu.cuMemcpyDtoH(target, b, BYTES));
    CHECK(target_is_source());
    start();
    OK(cu.cuMemcpy(b, a, BYTES));
    OK(cu.cuMemcpy((CUdeviceptr)(uintptr_t)target, b, BYTES));
    CHECK(target_is_source());
    start();
    OK(cu.cuMemcpyHtoDAsync(b, source, BYTES, stream));
    OK(cu.cuMemcpyDtoDAsync(a, b, BYTES, stream));
    OK(cu.cuMemcpyDtoHAsync(target, a, BYTES, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(target_is_source());
    start();
    OK(cu.cuMemcpyAsync(b, a, BYTES, stream));
    OK(cu.cuMemcpyAsync((CUdeviceptr)(uintptr_t)target, b, BYTES, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(target_is_source());
}

static void source_may_change_after_an_asynchronous_copy(void)
{
    start();
    unsigned char local[256];
    memset(local, 1, sizeof(local));
    OK(cu.cuMemcpyHtoDAsync(b, local, sizeof(local), stream));
    memset(local, 2, sizeof(local)); /* pageable: was read already */
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemcpyDtoH(target, b, sizeof(local)));
    CHECK(target[0] == 1 && target[255] == 1);
}

static atomic_int gate;

static void wait_for_gate(void *user)
{
    (void)user;
    while (atomic_load(&gate) == 0)
        continue;
}

/* Were it to wait for the stream, the program would hang here. */
static void small_copies_from_ordinary_memory_do_not_wait(void)
{
    start();
    unsigned char local[64];
    memset(local, 3, sizeof(local));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(stream, wait_for_gate, NULL));
    OK(cu.cuMemcpyHtoDAsync(b, local, sizeof(local), stream));
    memset(local, 4, sizeof(local));
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemcpyDtoH(target, b, sizeof(local)));
    CHECK(target[0] == 3 && target[63] == 3);
}

static void batches(void)
{
    if (cu.cuMemcpyBatchAsync == NULL)
        SKIP("the driver has no cuMemcpyBatchAsync of CUDA 13");
    start();
    CUdeviceptr to[] = {b, b + 1024}, from[] = {a + 64, a};
    size_t sizes[] = {100, 200}, first = 0, wrong = 1;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    OK(cu.cuMemcpyDtoHAsync(target, b, BYTES, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(memcmp(target, source + 64, 100) == 0 && target[100] == 0);
    CHECK(memcmp(target + 1024, source, 200) == 0);
    REFUSED(INVALID_VALUE,
            cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, NULL));
    REFUSED(INVALID_VALUE,
            cu.cuMemcpyBatchAsync(to, from, sizes, 0, &attributes, &first, 1, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &wrong, 1, stream));
    REFUSED(INVALID_VALUE,
            cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 3, stream));
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    REFUSED(INVALID_VALUE,
            cu.cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
}

/* Rows of 64 bytes: a box of 16 x 3 x 2 out of layers of 4 rows, once through an array.
 */
static void batches_in_three_dimensions(void)
{
    if (cu.cuMemcpy3DBatchAsync == NULL)
        SKIP("the driver has no cuMemcpy3DBatchAsync of CUDA 13");
    start();
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 8,
                                          .Height = 4,
                                          .Depth = 2,
                                          .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                          .NumChannels = 1};
    OK(cu.cuArray3DCreate(&array, &desc));
#define POINTER(at, row, rows)                                                           \
    {                                                                                    \
        .type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {                              \
            .ptr = at,                                                                   \
            .rowLength = row,                                                            \
            .layerHeight = rows                                                          \
        }                                                                                \
    }
    CUDA_MEMCPY3D_BATCH_OP direct = {.src = POINTER(a, 64, 4),
                                     .dst = POINTER(b, 0, 0),
                                     .extent = {16, 3, 2},
                                     .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUDA_MEMCPY3D_BATCH_OP in = direct, out = direct;
    in.extent = out.extent =
        (CUextent3D){4, 3, 2}; /* elements, now that one is an array */
    in.src.op.ptr.rowLength = 16;
    in.dst = (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_ARRAY,
                                 .op.array = {array, {2, 1, 0}}};
    out.src = in.dst;
    out.dst.op.ptr.ptr = b + 1024;
    CUDA_MEMCPY3D_BATCH_OP both[] = {direct, in};
    OK(cu.cuMemcpy3DBatchAsync(2, both, 0, stream));
    OK(cu.cuMemcpy3DBatchAsync(1, &out, 0, stream));
    OK(cu.cuMemcpyDtoHAsync(target, b, BYTES, stream));
    OK(cu.cuStreamSynchronize(stream));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++) {
            const int from = (z * 4 + y) * 64, to = (z * 3 + y) * 16;
            CHECK(memcmp(target + to, source + from, 16) == 0);
            CHECK(memcmp(target + 1024 + to, source + from, 16) == 0);
        }
    REFUSED(INVALID_VALUE, cu.cuMemcpy3DBatchAsync(0, both, 0, stream));
    REFUSED(INVALID_VALUE, cu.cuMemcpy3DBatchAsync(1, &direct, 1, stream));
    REFUSED(INVALID_VALUE, cu.cuMemcpy3DBatchAsync(1, &direct, 0, NULL));
    direct.extent.depth = 0;
    REFUSED(INVALID_VALUE, cu.cuMemcpy3DBatchAsync(1, &direct, 0, stream));
    direct.extent.depth = 2;
    direct.src.op.ptr.rowLength = 8;
    REFUSED(INVALID_VALUE, cu.cuMemcpy3DBatchAsync(1, &direct, 0, stream));
    OK(cu.cuArrayDestroy(array));
}

static void wrong_ranges_are_refused(void)
{
    CUdeviceptr end;
    size_t bytes;
    OK(cu.cuMemGetAddressRange(&end, &bytes, a));
    REFUSED(INVALID_VALUE, cu.cuMemcpyHtoD(0, source, 16));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoH(NULL, a, 16));
    REFUSED(INVALID_VALUE, cu.cuMemcpyHtoD(a, NULL, 16));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoH(target, 0, 16));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoH(target, (CUdeviceptr)(uintptr_t)source, 16));
    OK(cu.cuMemcpyHtoD(a, source, 0));
    CUdeviceptr large;
    OK(cu.cuMemAlloc(&large, 4 << 20));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoD(large, large + (2 << 20), 3 << 20));
    REFUSED(INVALID_VALUE, cu.cuMemsetD8(large + (2 << 20), 0, 3 << 20));
    OK(cu.cuMemFree(large));
    REFUSED(INVALID_VALUE, cu.cuMemcpyHtoD(large, source, 16));
}

static void two_dimensions(void)
{
    start();
    const CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = source,
                              .srcPitch = 64,
                              .srcXInBytes = 4,
                              .srcY = 2,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = b,
                              .dstPitch = 128,
                              .dstXInBytes = 8,
                              .dstY = 1,
                              .WidthInBytes = 32,
                              .Height = 10};
    OK(cu.cuMemcpy2D(&in));
    OK(cu.cuMemcpyDtoH(target, b, BYTES));
    int wrong = 0;
    for (int y = 0; y < 10; y++)
        wrong += memcmp(target + (y + 1) * 128 + 8, source + (y + 2) * 64 + 4, 32) != 0;
    CHECK(wrong == 0);
    CHECK(target[128 + 7] == 0 && target[128 + 40] == 0 && target[8] == 0);
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = b,
                         .srcPitch = 128,
                         .srcXInBytes = 8,
                         .srcY = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = target,
                         .WidthInBytes = 32,
                         .Height = 10};
    memset(target, 0, sizeof(target));
    OK(cu.cuMemcpy2DAsync(&out, stream));
    OK(cu.cuStreamSynchronize(stream));
    for (int y = 0; y < 10; y++)
        wrong += memcmp(target + y * 32, source + (y + 2) * 64 + 4, 32) != 0;
    CHECK(wrong == 0);
    out.srcPitch = 16;
    REFUSED(INVALID_VALUE, cu.cuMemcpy2D(&out));
    REFUSED(INVALID_VALUE, cu.cuMemcpy2D(NULL));
    out.srcPitch = 128;
    out.srcMemoryType = (CUmemorytype)9;
    REFUSED(INVALID_VALUE, cu.cuMemcpy2D(&out));
    OK(cu.cuMemcpy2DUnaligned(&in));
}

static void three_dimensions(void)
{
    start();
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = a,
                          .srcPitch = 16,
                          .srcHeight = 8,
                          .srcXInBytes = 2,
                          .srcY = 1,
                          .srcZ = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = target,
                          .dstPitch = 8,
                          .dstHeight = 4,
                          .WidthInBytes = 8,
                          .Height = 4,
                          .Depth = 3};
    OK(cu.cuMemcpy3D(&copy));
    int wrong = 0;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 4; y++)
            wrong += memcmp(target + (z * 4 + y) * 8,
                            source + ((z + 1) * 8 + y + 1) * 16 + 2, 8) != 0;
    CHECK(wrong == 0);
    memset(target, 0, sizeof(target));
    OK(cu.cuMemcpy3DAsync(&copy, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(memcmp(target, source + (8 + 1) * 16 + 2, 8) == 0);
    copy.srcHeight = 2;
    REFUSED(INVALID_VALUE, cu.cuMemcpy3D(&copy));
    REFUSED(INVALID_VALUE, cu.cuMemcpy3D(NULL));
}

static void arrays_keep_rows(void)
{
    start();
    CUarray array = NULL;
    const CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 20,
                                          .Height = 8,
                                          .Depth = 0,
                                          .Format = CU_AD_FORMAT_FLOAT,
                                          .NumChannels = 1};
    CUDA_ARRAY3D_DESCRIPTOR back;
    OK(cu.cuArray3DCreate(&array, &desc));
    OK(cu.cuArray3DGetDescriptor(&back, array));
    CHECK(back.Width == 20 && back.Height == 8 && back.Format == CU_AD_FORMAT_FLOAT);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = source,
                          .srcPitch = 80,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = 80,
                          .Height = 8};
    OK(cu.cuMemcpy2D(&copy));
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = b,
                           .dstPitch = 80,
                           .WidthInBytes = 80,
                           .Height = 8};
    OK(cu.cuMemcpy2D(&copy));
    OK(cu.cuMemcpyDtoH(target, b, 640));
    CHECK(memcmp(target, source, 640) == 0);
    copy.Height = 9;
    REFUSED(INVALID_VALUE, cu.cuMemcpy2D(&copy));
    OK(cu.cuArrayDestroy(array));
    CUDA_ARRAY3D_DESCRIPTOR wrong = desc;
    wrong.NumChannels = 3;
    REFUSED(INVALID_VALUE, cu.cuArray3DCreate(&array, &wrong));
    wrong = desc;
    wrong.Width = 0;
    REFUSED(INVALID_VALUE, cu.cuArray3DCreate(&array, &wrong));
    REFUSED(INVALID_VALUE, cu.cuArray3DCreate(&array, NULL));
}

static void arrays_of_one_row(void)
{
    start();
    CUarray array = NULL, other = NULL;
    const CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 100, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    OK(cu.cuArrayCreate(&array, &desc));
    OK(cu.cuArrayCreate(&other, &desc));
    OK(cu.cuMemcpyHtoA(array, 0, source, 400));
    OK(cu.cuMemcpyAtoA(other, 0, array, 8, 100));
    OK(cu.cuMemcpyDtoA(other, 200, a, 100));
    OK(cu.cuMemcpyAtoD(b, other, 0, 100));
    OK(cu.cuMemcpyDtoH(target, b, 100));
    CHECK(memcmp(target, source + 8, 100) == 0);
    OK(cu.cuMemcpyAtoH(target, other, 200, 100));
    CHECK(memcmp(target, source, 100) == 0);
    REFUSED(INVALID_VALUE, cu.cuMemcpyHtoA(array, 301, source, 100));
    OK(cu.cuArrayDestroy(array));
    OK(cu.cuArrayDestroy(other));
}

static void fills(void)
{
    start();
    OK(cu.cuMemsetD8(a, 0x11, BYTES));
    OK(cu.cuMemsetD16(a + 16, 0x2233, 8));
    OK(cu.cuMemsetD32(a + 64, 0x44556677, 4));
    OK(cu.cuMemcpyDtoH(target, a, BYTES));
    CHECK(target[15] == 0x11 && target[16] == 0x33 && target[17] == 0x22);
    CHECK(target[31] == 0x22 && target[32] == 0x11);
    CHECK(target[64] == 0x77 && target[79] == 0x44 && target[80] == 0x11);
    OK(cu.cuMemsetD8Async(a, 1, BYTES, stream));
    OK(cu.cuMemsetD16Async(a, 2, 1, stream));
    OK(cu.cuMemsetD32Async(a + 4, 3, 1, stream));
    OK(cu.cuMemsetD2D8Async(a + 64, 64, 9, 4, 3, stream));
    OK(cu.cuMemsetD2D16Async(a + 512, 64, 8, 2, 2, stream));
    OK(cu.cuMemsetD2D32Async(a + 1024, 64, 7, 1, 2, stream));
    OK(cu.cuMemcpyDtoHAsync(target, a, BYTES, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(target[0] == 2 && target[1] == 0 && target[4] == 3 && target[8] == 1);
    CHECK(target[64] == 9 && target[67] == 9 && target[68] == 1 && target[192] == 9);
    CHECK(target[256] == 1 && target[576] == 8 && target[577] == 0);
    CHECK(target[1088] == 7 && target[1092] == 1);
    REFUSED(INVALID_VALUE, cu.cuMemsetD32(a + 2, 0, 1));
    REFUSED(INVALID_VALUE, cu.cuMemsetD16(a + 1, 0, 1));
    REFUSED(INVALID_VALUE, cu.cuMemsetD8(0, 0, 1));
    REFUSED(INVALID_VALUE, cu.cuMemsetD2D32(a, 2, 0, 4, 2));
    OK(cu.cuMemsetD8(a, 0, 0));
}

static void pinned_memory_is_device_memory_too(void)
{
    start();
    void *host = NULL;
    OK(cu.cuMemAllocHost(&host, BYTES));
    memset(host, 5, BYTES);
    OK(cu.cuMemcpyDtoD(b, (CUdeviceptr)(uintptr_t)host, BYTES));
    OK(cu.cuMemcpyDtoH(target, b, BYTES));
    CHECK(target[0] == 5 && target[BYTES - 1] == 5);
    OK(cu.cuMemsetD8((CUdeviceptr)(uintptr_t)host, 6, BYTES));
    OK(cu.cuCtxSynchronize());
    CHECK(((unsigned char *)host)[100] == 6);
    OK(cu.cuMemFreeHost(host));
}

static void peer_copies_name_contexts(void)
{
    start();
    CUcontext context = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuMemcpyPeer(b, context, a, context, BYTES));
    OK(cu.cuMemcpyDtoH(target, b, BYTES));
    CHECK(target_is_source());
    OK(cu.cuMemcpyPeerAsync(a, context, b, context, BYTES, stream));
    OK(cu.cuStreamSynchronize(stream));
    if (driver_is_soft)
        REFUSED(INVALID_CONTEXT, cu.cuMemcpyPeer(b, (CUcontext)source, a, context, 16));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuMemAlloc(&a, BYTES));
    OK(cu.cuMemAlloc(&b, BYTES));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RUN(one_dimension);
    RUN(source_may_change_after_an_asynchronous_copy);
    RUN(small_copies_from_ordinary_memory_do_not_wait);
    RUN(batches);
    RUN(batches_in_three_dimensions);
    RUN(wrong_ranges_are_refused);
    RUN(two_dimensions);
    RUN(three_dimensions);
    RUN(arrays_keep_rows);
    RUN(arrays_of_one_row);
    RUN(fills);
    RUN(pinned_memory_is_device_memory_too);
    RUN(peer_copies_name_contexts);
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuMemFree(a));
    OK(cu.cuMemFree(b));
    return test_done();
}
