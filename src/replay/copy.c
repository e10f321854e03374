// SPDX-License-Identifier: Apache-2.0
/* The kernel that copies, who has it loaded, and the choice of ways. */
#include "replay/copy.h"
#include "base/fail.h"
#include "base/log.h"
#include "cuda/status.h"
#include "replay/copy_body.h"

enum {
    MANY = 32, /* ranges of a launch. 4 KiB of arguments could be 170, but the driver
                  copies them with each launch, and few graphs have more inputs */
    THREADS = 256,
    BLOCK_BYTES = 16384, /* 4 vectors of 16 a thread */
    BLOCKS_MAX = 64
};

/* Up to here the kernel is taken. On an H100 it is ahead up to 4 MiB, the largest that
 * was measured (docs/measurements.md); larger ranges are bound by the memory and not by
 * the host's calls. Words and bytes are slower by what they move less at a time. */
enum { WIDE_MAX = 4 << 20, WORDS_MAX = 1 << 18, BYTES_MAX = 1 << 16 };

/* On softcuda the kernel's work is the host's: from 4 KiB on a call is cheaper. */
enum { SOFT_GRAPH_MAX = 1 << 10 };

/* As the kernel reads it. */
struct range {
    CUdeviceptr to, from;
    uint64_t bytes;
};

/* Block (x, y) copies its share of range y. */
/* clang-format off */
static const char copy_ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry gph_copy(.param .align 8 .b8 ranges[768])\n"
    "{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<24>;\n.reg .b64 %d<24>;\n"
    "mov.u32 %r1, %ctaid.y;\nmul.wide.u32 %d1, %r1, 24;\n"
    "mov.b64 %d2, ranges;\nadd.s64 %d2, %d2, %d1;\n"
    "ld.param.u64 %d3, [%d2];\n" /* to */
    "ld.param.u64 %d4, [%d2+8];\n" /* from */
    "ld.param.u64 %d5, [%d2+16];\n" /* bytes */
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
    "mov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "cvt.u64.u32 %d7, %r4;\n"
    "mad.wide.u32 %d6, %r2, %r3, %d7;\n" /* this thread in all of the range's */
    "mul.wide.u32 %d7, %r3, %r5;\n" /* those */
    GPHI_COPY_BODY
    "DONE:\nret;\n"
    "}\n";
/* clang-format on */
_Static_assert(sizeof(struct range) * MANY == 768, "the argument of gph_copy");

static const gphi_kernel_text copy_text = {
    .what = "the kernel that copies", .ptx = copy_ptx, .names = {"gph_copy"}};

static bool is_for(const gph_runtime *runtime)
{
    return runtime->copy_way == GPHI_COPY_KERNEL ||
           (runtime->copy_way == GPHI_COPY_AUTO &&
            (runtime->info.features & GPH_FEATURE_SOFTCUDA) == 0);
}

/* Without a kernel copies cost more, and that is all. */
gph_status gphi_copier_retain(gph_runtime *runtime, gphi_copier **out, gph_error *error)
{
    gph_error own = {0};
    gphi_kernels *found = NULL;
    const gph_status status =
        is_for(runtime) ? gphi_kernels_retain(runtime, &copy_text, &found, &own) : GPH_OK;
    if (status == GPH_E_NO_MEMORY)
        return gphi_fail(error, status, "%s", own.message);
    if (status != GPH_OK)
        gphi_log("copy", GPH_LOG_WARN, "inputs are copied by calls: %s", own.message);
    *out = found;
    return GPH_OK;
}

void gphi_copier_release(gphi_copier *copier)
{
    gphi_kernels_release(copier);
}

/* ---- by the driver ---- */

/* The batched copy refuses the legacy stream. */
static bool can_batch(const gph_runtime *runtime, CUstream stream)
{
    return runtime->copy_way != GPHI_COPY_EACH && stream && stream != CU_STREAM_LEGACY &&
           (gphi_cuda_has(&runtime->cu, cuMemcpyBatchAsync) || runtime->batch_12080);
}

static gph_status copy_batch(const gph_runtime *runtime, const gphi_copies *copies,
                             CUstream stream, gph_error *error)
{
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t first = 0, failed = 0;
    const CUresult result =
        runtime->batch_12080
            ? runtime->batch_12080(copies->to, copies->from, copies->bytes, copies->count,
                                   &attributes, &first, 1, &failed, stream)
            : runtime->cu.cuMemcpyBatchAsync(copies->to, copies->from, copies->bytes,
                                             copies->count, &attributes, &first, 1,
                                             stream);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuMemcpyBatchAsync",
                              "copying %zu tensors", copies->count);
    return GPH_OK;
}

static gph_status copy_by_driver(const gph_runtime *runtime, const gphi_copies *copies,
                                 CUstream stream, gph_error *error)
{
    if (copies->count > 1 && can_batch(runtime, stream))
        return copy_batch(runtime, copies, stream, error);
    for (size_t i = 0; i < copies->count; i++) {
        /* which looks what the addresses are */
        const CUresult result = runtime->cu.cuMemcpyAsync(copies->to[i], copies->from[i],
                                                          copies->bytes[i], stream);
        if (result != CUDA_SUCCESS)
            return gphi_cuda_fail(error, (gph_status)result, "cuMemcpyAsync",
                                  "copying tensor %zu of %zu", i, copies->count);
    }
    return GPH_OK;
}

/* ---- by the kernel ---- */

/* Memory of the copier's device that kernels reach at this address. Asked again each time:
 * an address may have become another device's. */
static bool is_ours(const gph_runtime *runtime, CUdevice own, CUdeviceptr address)
{
    CUdeviceptr there = 0;
    int device = -1;
    unsigned type = 0;
    CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&there, &device, &type};
    return runtime->cu.cuPointerGetAttributes(3, what, data, address) == CUDA_SUCCESS &&
           there == address && device == own && type == CU_MEMORYTYPE_DEVICE;
}

static size_t most(CUdeviceptr to, CUdeviceptr from)
{
    const CUdeviceptr skew = to ^ from;
    return skew % 16 == 0 ? WIDE_MAX : skew % 4 == 0 ? WORDS_MAX : BYTES_MAX;
}

/* Worth the kernel by its size, and allowed by its addresses. */
static bool is_fit(const gphi_copier *copier, const gphi_copies *copies, size_t i)
{
    const gph_runtime *runtime = copier->runtime;
    return (runtime->copy_way == GPHI_COPY_KERNEL ||
            copies->bytes[i] <= most(copies->to[i], copies->from[i])) &&
           (copies->to_is_own || is_ours(runtime, copier->device, copies->to[i])) &&
           (copies->from_is_own || is_ours(runtime, copier->device, copies->from[i]));
}

bool gphi_copy_is_for_graph(const gph_runtime *runtime, size_t bytes)
{
    const bool is_soft = (runtime->info.features & GPH_FEATURE_SOFTCUDA) != 0;
    return runtime->copy_way == GPHI_COPY_KERNEL ||
           (runtime->copy_way == GPHI_COPY_AUTO &&
            bytes <= (is_soft ? SOFT_GRAPH_MAX : WIDE_MAX));
}

bool gphi_copy_may_pull(const gph_runtime *runtime, CUdevice device, CUdeviceptr to,
                        CUdeviceptr from, size_t bytes)
{
    return (runtime->copy_way == GPHI_COPY_KERNEL || bytes <= most(to, from)) &&
           is_ours(runtime, device, from);
}

/* Ranges for one launch. */
struct group {
    struct range ranges[MANY];
    unsigned count;
    uint64_t largest;
};

static gph_status launch(const gphi_copier *copier, const struct group *group,
                         CUstream stream, gph_error *error)
{
    const uint64_t shares = (group->largest + BLOCK_BYTES - 1) / BLOCK_BYTES;
    const unsigned blocks = shares < BLOCKS_MAX ? (unsigned)shares : BLOCKS_MAX;
    void *params[] = {(void *)group->ranges}; /* which the driver copies */
    const CUresult result =
        copier->runtime->cu.cuLaunchKernel(copier->functions[0], blocks, group->count, 1,
                                           THREADS, 1, 1, 0, stream, params, NULL);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuLaunchKernel",
                              "copying %u tensors", group->count);
    return GPH_OK;
}

/* Moves range `from` of the arrays to place `to`. */
static void move(const gphi_copies *copies, size_t to, size_t from)
{
    copies->to[to] = copies->to[from];
    copies->from[to] = copies->from[from];
    copies->bytes[to] = copies->bytes[from];
}

/* Copies what is for the kernel; the rest is first in the arrays then, *left of them. */
static gph_status copy_by_kernel(const gphi_copier *copier, const gphi_copies *copies,
                                 size_t *left, CUstream stream, gph_error *error)
{
    struct group group;
    *left = 0;
    group.count = 0;
    group.largest = 0;
    for (size_t i = 0; i < copies->count; i++) {
        const size_t bytes = copies->bytes[i];
        if (bytes == 0)
            continue;
        if (!is_fit(copier, copies, i)) {
            move(copies, (*left)++, i);
            continue;
        }
        group.ranges[group.count++] =
            (struct range){copies->to[i], copies->from[i], bytes};
        group.largest = bytes > group.largest ? bytes : group.largest;
        if (group.count == MANY) {
            GPHI_TRY(launch(copier, &group, stream, error));
            group.count = 0;
            group.largest = 0;
        }
    }
    return group.count > 0 ? launch(copier, &group, stream, error) : GPH_OK;
}

gph_status gphi_copy(const gph_runtime *runtime, const gphi_copier *copier,
                     const gphi_copies *copies, CUstream stream, gph_error *error)
{
    gphi_copies rest = *copies;
    const unsigned way = runtime->copy_way;
    if (copier &&
        (way == GPHI_COPY_KERNEL || (way == GPHI_COPY_AUTO && copies->count > 1))) {
        GPHI_TRY(copy_by_kernel(copier, copies, &rest.count, stream, error));
        return copy_by_driver(runtime, &rest, stream, error);
    }
    /* Batches know no empty ranges. */
    rest.count = 0;
    for (size_t i = 0; i < copies->count; i++)
        if (copies->bytes[i] > 0)
            move(copies, rest.count++, i);
    return copy_by_driver(runtime, &rest, stream, error);
}
