// SPDX-License-Identifier: Apache-2.0
/* All copies: each form becomes a CUDA_MEMCPY3D and goes the same way.
 *
 * A copy between device memory is in stream order even where the call is a synchronous
 * one; a copy that touches ordinary host memory has been done when an asynchronous call
 * returns, unless it is small. Programs rely on both, and so do captures, which take a
 * copy as it was given. */
#include <string.h>

#include "softcuda/api/cu_copy.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/peer.h"
#include "softcuda/device/task.h"
#include "softcuda/rules/rules.h"

static bool is_device(const soft_task *task)
{
    return soft_device_holding(task->u.copy.dst) && soft_device_holding(task->u.copy.src);
}

/* ---- small copies from ordinary memory ----
 * The program may change or free its bytes as soon as the call returns, and the call must
 * not wait for the stream: it takes a copy of them, which is freed after the work. */

#define STAGED_BYTES_MAX 65536 /* as on a GPU; larger copies wait */

static bool is_staged(const soft_copy *copy)
{
    return copy->src_pageable && !copy->dst_pageable && copy->height == 1 &&
           copy->depth == 1 && copy->width <= STAGED_BYTES_MAX;
}

static CUresult submit_staged(soft_context *context, soft_task *task, struct how how)
{
    soft_copy *copy = &task->u.copy;
    void *staged = soft_new(copy->width);
    SOFT_TRY(soft_made(staged, "no memory to stage %zu bytes", copy->width));
    memcpy(staged, (const void *)(uintptr_t)copy->src, copy->width);
    copy->src = (uint64_t)(uintptr_t)staged;
    const CUresult status =
        soft_stream_submit(context, how.stream, how.per_thread, task, NULL);
    if (status != CUDA_SUCCESS) {
        soft_delete(staged);
        return status;
    }
    const soft_task release = {.kind = SOFT_TASK_CALL,
                               .u.call = {.function = soft_delete, .user = staged}};
    return soft_stream_submit(context, how.stream, how.per_thread, &release, NULL);
}

static CUresult is_capturing(soft_context *context, struct how how, bool *out)
{
    soft_queue *queue;
    return soft_stream_queue(context, how.stream, how.per_thread, &queue, out);
}

/* The device whose memory a mapped range is of; NULL: it is none. cuMemAlloc() memory and pools
 * are not meant: between these devices copy without access (M_peer_copies). */
static soft_device *mapped_on(uint64_t address)
{
    soft_device *device = soft_device_holding(address);
    soft_allocation found;
    return device && soft_memory_find(device->memory, address, &found) &&
                   found.kind == SOFT_MEMORY_VMM
               ? device
               : NULL;
}

/* Between mapped ranges of two devices the context's device copies, by its own mappings. */
static CUresult check_mappings(const soft_context *context, const soft_copy *copy)
{
    if (soft_device_count() < 2 || !soft_rule(M_peer_mappings))
        return CUDA_SUCCESS;
    const soft_device *to = mapped_on(copy->dst), *from = mapped_on(copy->src);
    if (!to || !from || to == from)
        return CUDA_SUCCESS;
    SOFT_TRY(soft_peer_check(context, copy->src, false));
    return soft_peer_check(context, copy->dst, true);
}

/* A synchronous copy within device memory does not wait, as on a GPU; an asynchronous one
 * waits where the host memory is not known to the driver: the program may change it. */
CUresult soft_api_copy_submit(soft_context *context, const CUDA_MEMCPY3D *copy,
                              struct how how)
{
    soft_task task;
    SOFT_TRY(soft_capture_check_stream(context, how.stream, how.per_thread));
    const CUresult checked = soft_task_copy(context, copy, &task);
    if (checked != CUDA_SUCCESS && !soft_rule(M_C12_address))
        soft_capture_refuse_launch(context, how.stream, how.per_thread, checked);
    SOFT_TRY(checked);
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return CUDA_SUCCESS;
    bool captured = false;
    SOFT_TRY(is_capturing(context, how, &captured));
    if (!captured)
        SOFT_TRY(check_mappings(context, &task.u.copy));
    if (!captured && !how.sync && is_staged(&task.u.copy))
        return submit_staged(context, &task, how);
    SOFT_TRY(soft_stream_submit(context, how.stream, how.per_thread, &task, &captured));
    const bool pageable = task.u.copy.dst_pageable || task.u.copy.src_pageable;
    if (captured || !(how.sync ? !is_device(&task) : pageable))
        return CUDA_SUCCESS;
    return soft_stream_wait(context, how.stream, how.per_thread);
}

/* ---- one row ----------------------------------------------------------------------- */

struct row {
    CUmemorytype dst_type, src_type;
    uint64_t dst, src; /* an address, or the offset in an array */
    CUarray dst_array, src_array;
};

/* One row of bytes is a three-dimensional copy of height and depth 1: there is one way
 * for all. */
static CUresult copy_row(struct row row, size_t bytes, struct how how)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(how.call, how.stream, &context));
    CUDA_MEMCPY3D c = {.srcMemoryType = row.src_type,
                       .dstMemoryType = row.dst_type,
                       .srcArray = row.src_array,
                       .dstArray = row.dst_array,
                       .WidthInBytes = bytes,
                       .Height = 1,
                       .Depth = 1};
    switch (row.src_type) {
    case CU_MEMORYTYPE_HOST: c.srcHost = (const void *)(uintptr_t)row.src; break;
    case CU_MEMORYTYPE_ARRAY: c.srcXInBytes = row.src; break;
    default: c.srcDevice = row.src;
    }
    switch (row.dst_type) {
    case CU_MEMORYTYPE_HOST: c.dstHost = (void *)(uintptr_t)row.dst; break;
    case CU_MEMORYTYPE_ARRAY: c.dstXInBytes = row.dst; break;
    default: c.dstDevice = row.dst;
    }
    return soft_api_copy_submit(context, &c, how);
}

#define HOST(pointer) ((uint64_t)(uintptr_t)(pointer))

/* Where the bytes come from and go to: the types without CU_MEMORYTYPE_. */
#define ROW(to, from, ...)                                                               \
    ((struct row){CU_MEMORYTYPE_##to, CU_MEMORYTYPE_##from, __VA_ARGS__})
#define BOTH_SYNC(name, args, ...)                                                       \
    SOFT_TWINS(name, _ptds, args, copy_row(ROW(__VA_ARGS__), bytes, SOFT_SYNC))
#define BOTH_ASYNC(name, args, ...)                                                      \
    SOFT_TWINS(name, _ptsz, args, copy_row(ROW(__VA_ARGS__), bytes, SOFT_ASYNC))

BOTH_SYNC(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), UNIFIED, UNIFIED,
          dst, src, NULL, NULL)
BOTH_SYNC(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t bytes), DEVICE, HOST,
          dst, HOST(src), NULL, NULL)
BOTH_SYNC(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t bytes), HOST, DEVICE,
          HOST(dst), src, NULL, NULL)
BOTH_SYNC(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), DEVICE,
          DEVICE, dst, src, NULL, NULL)
BOTH_SYNC(cuMemcpyDtoA_v2, (CUarray dst, size_t to, CUdeviceptr src, size_t bytes), ARRAY,
          DEVICE, to, src, dst, NULL)
BOTH_SYNC(cuMemcpyAtoD_v2, (CUdeviceptr dst, CUarray src, size_t from, size_t bytes),
          DEVICE, ARRAY, dst, from, NULL, src)
BOTH_SYNC(cuMemcpyHtoA_v2, (CUarray dst, size_t to, const void *src, size_t bytes), ARRAY,
          HOST, to, HOST(src), dst, NULL)
BOTH_SYNC(cuMemcpyAtoH_v2, (void *dst, CUarray src, size_t from, size_t bytes), HOST,
          ARRAY, HOST(dst), from, NULL, src)
BOTH_SYNC(cuMemcpyAtoA_v2,
          (CUarray dst, size_t to, CUarray src, size_t from, size_t bytes), ARRAY, ARRAY,
          to, from, dst, src)

BOTH_ASYNC(cuMemcpyAsync,
           (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream), UNIFIED,
           UNIFIED, dst, src, NULL, NULL)
BOTH_ASYNC(cuMemcpyHtoDAsync_v2,
           (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream), DEVICE,
           HOST, dst, HOST(src), NULL, NULL)
BOTH_ASYNC(cuMemcpyDtoHAsync_v2,
           (void *dst, CUdeviceptr src, size_t bytes, CUstream stream), HOST, DEVICE,
           HOST(dst), src, NULL, NULL)
BOTH_ASYNC(cuMemcpyDtoDAsync_v2,
           (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream), DEVICE,
           DEVICE, dst, src, NULL, NULL)
BOTH_ASYNC(cuMemcpyHtoAAsync_v2,
           (CUarray dst, size_t to, const void *src, size_t bytes, CUstream stream),
           ARRAY, HOST, to, HOST(src), dst, NULL)
BOTH_ASYNC(cuMemcpyAtoHAsync_v2,
           (void *dst, CUarray src, size_t from, size_t bytes, CUstream stream), HOST,
           ARRAY, HOST(dst), from, NULL, src)

/* ---- between contexts -------------------------------------------------------------- */

/* Contexts of one device may be different ones: the call is allowed, and is a plain
 * copy. */
static CUresult copy_peer(CUcontext to, CUcontext from, struct row row, size_t bytes,
                          struct how how)
{
    soft_context *context, *peer;
    SOFT_TRY(soft_enter_stream_context(how.call, how.stream, &context));
    if (to) /* NULL is the current one, to an H100 */
        SOFT_TRY(soft_context_find(to, &peer));
    if (from)
        SOFT_TRY(soft_context_find(from, &peer));
    if (!soft_rule(M_peer_copies) && to != from)
        return soft_fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
                         "copies between contexts are switched off");
    return copy_row(row, bytes, how);
}

#define PEER_ARGS                                                                        \
    CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes
#define PEER_ROW ROW(DEVICE, DEVICE, dst, src, NULL, NULL)

SOFT_TWINS(cuMemcpyPeer, _ptds, (PEER_ARGS),
           copy_peer(to, from, PEER_ROW, bytes, SOFT_SYNC))

SOFT_TWINS(cuMemcpyPeerAsync, _ptsz, (PEER_ARGS, CUstream stream),
           copy_peer(to, from, PEER_ROW, bytes, SOFT_ASYNC))

/* ---- two and three dimensions ------------------------------------------------------ */

/* One plane; the unaligned call differs in speed alone, and there is no such difference
 * here. */
static CUresult copy_2d(const CUDA_MEMCPY2D *c, struct how how)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(how.call, how.stream, &context));
    SOFT_TRY(soft_need(c, "pCopy"));
    const CUDA_MEMCPY3D copy = {.srcXInBytes = c->srcXInBytes,
                                .srcY = c->srcY,
                                .srcMemoryType = c->srcMemoryType,
                                .srcHost = c->srcHost,
                                .srcDevice = c->srcDevice,
                                .srcArray = c->srcArray,
                                .srcPitch = c->srcPitch,
                                .dstXInBytes = c->dstXInBytes,
                                .dstY = c->dstY,
                                .dstMemoryType = c->dstMemoryType,
                                .dstHost = c->dstHost,
                                .dstDevice = c->dstDevice,
                                .dstArray = c->dstArray,
                                .dstPitch = c->dstPitch,
                                .WidthInBytes = c->WidthInBytes,
                                .Height = c->Height,
                                .Depth = 1};
    return soft_api_copy_submit(context, &copy, how);
}

SOFT_TWINS(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *copy), copy_2d(copy, SOFT_SYNC))

SOFT_TWINS(cuMemcpy2DUnaligned_v2, _ptds, (const CUDA_MEMCPY2D *copy),
           copy_2d(copy, SOFT_SYNC))

SOFT_TWINS(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *copy, CUstream stream),
           copy_2d(copy, SOFT_ASYNC))

static CUresult copy_3d(const CUDA_MEMCPY3D *copy, struct how how)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(how.call, how.stream, &context));
    SOFT_TRY(soft_need(copy, "pCopy"));
    return soft_api_copy_submit(context, copy, how);
}

SOFT_TWINS(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *copy), copy_3d(copy, SOFT_SYNC))

SOFT_TWINS(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *copy, CUstream stream),
           copy_3d(copy, SOFT_ASYNC))

/* The contexts only have to be alive: all devices lie in one address range. */
static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, struct how how)
{
    soft_context *context, *peer;
    SOFT_TRY(soft_enter_stream_context(how.call, how.stream, &context));
    SOFT_TRY(soft_need(c, "pCopy"));
    if (c->srcMemoryType == CU_MEMORYTYPE_DEVICE)
        SOFT_TRY(soft_context_find(c->srcContext, &peer));
    if (c->dstMemoryType == CU_MEMORYTYPE_DEVICE)
        SOFT_TRY(soft_context_find(c->dstContext, &peer));
    CUDA_MEMCPY3D copy;
    _Static_assert(sizeof(copy) == sizeof(*c), "contexts are where 0 is reserved");
    memcpy(&copy, c, sizeof(copy));
    copy.reserved0 = copy.reserved1 = NULL;
    copy.srcLOD = copy.dstLOD = 0;
    return soft_api_copy_submit(context, &copy, how);
}

SOFT_TWINS(cuMemcpy3DPeer, _ptds, (const CUDA_MEMCPY3D_PEER *copy),
           copy_3d_peer(copy, SOFT_SYNC))

SOFT_TWINS(cuMemcpy3DPeerAsync, _ptsz, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream),
           copy_3d_peer(copy, SOFT_ASYNC))

/* ---- batches ----------------------------------------------------------------------- */

struct batch {
    CUdeviceptr *dsts, *srcs;
    size_t *sizes;
    size_t count;
    CUmemcpyAttributes *attributes;
    size_t *firsts; /* of each attribute, the copy that it begins with */
    size_t attribute_count;
};

/* Attributes begin with copy 0 and follow each other, each with a copy at least: what
 * lies between two of them is the first one's. */
static CUresult check_batch(const struct batch *b)
{
    if (b->count == 0 || !b->dsts || !b->srcs || !b->sizes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu copies at %p, %p, %p", b->count,
                         (void *)b->dsts, (void *)b->srcs, (void *)b->sizes);
    if (b->attribute_count == 0 || b->attribute_count > b->count || !b->attributes ||
        !b->firsts)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%zu attributes at %p, %p for %zu copies", b->attribute_count,
                         (void *)b->attributes, (void *)b->firsts, b->count);
    for (size_t i = 0; i < b->attribute_count; i++) {
        const CUmemcpySrcAccessOrder order = b->attributes[i].srcAccessOrder;
        if (order < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
            order > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "attribute %zu has access order %d", i, (int)order);
        if (i == 0 ? b->firsts[0] != 0
                   : b->firsts[i] <= b->firsts[i - 1] || b->firsts[i] >= b->count)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "attribute %zu begins with copy %zu of %zu", i, b->firsts[i],
                             b->count);
    }
    return CUDA_SUCCESS;
}

/* What a batch may be sent to: not the legacy stream (INVALID_VALUE), and no stream that
 * captures (STREAM_CAPTURE_UNSUPPORTED, and the capture stays valid: C12). */
static CUresult check_batch_stream(soft_context *context, struct how how)
{
    if (how.stream == CU_STREAM_LEGACY || (!how.stream && !how.per_thread))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "a batch cannot go to the legacy default stream");
    bool capturing; /* refused by the look-up of the stream (C12) */
    return is_capturing(context, how, &capturing);
}

CUresult soft_api_copy_batch(const struct soft_copy_batch *batch, struct how how,
                             size_t *failed)
{
    CUDA_MEMCPY3D item;
    soft_task task;
    soft_context *context = soft_context_current();
    SOFT_TRY(check_batch_stream(context, how));
    for (size_t i = 0; i < batch->count; i++) {
        if (failed)
            *failed = i;
        SOFT_TRY(batch->item(batch->user, i, &item));
        SOFT_TRY(soft_task_copy(context, &item, &task));
    }
    for (size_t i = 0; i < batch->count; i++) {
        SOFT_TRY(batch->item(batch->user, i, &item));
        SOFT_TRY(soft_api_copy_submit(context, &item, how));
    }
    return CUDA_SUCCESS;
}

static CUresult batch_item(const void *user, size_t i, CUDA_MEMCPY3D *out)
{
    const struct batch *b = user;
    if (b->sizes[i] == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "copy %zu has 0 bytes", i);
    *out = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = b->srcs[i],
                           .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = b->dsts[i],
                           .WidthInBytes = b->sizes[i],
                           .Height = 1,
                           .Depth = 1};
    return CUDA_SUCCESS;
}

static CUresult copy_batch(const struct batch *b, struct how how, size_t *failed)
{
    SOFT_TRY(soft_enter_context(how.call, NULL));
    SOFT_TRY(check_batch(b));
    const struct soft_copy_batch batch = {b->count, batch_item, b};
    return soft_api_copy_batch(&batch, how, failed);
}

#define BATCH_ARGS                                                                       \
    CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,                   \
        CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count
#define BATCH                                                                            \
    &(struct batch)                                                                      \
    {                                                                                    \
        dsts, srcs, sizes, count, attributes, firsts, attribute_count                    \
    }

SOFT_TWINS(cuMemcpyBatchAsync_v2, _ptsz, (BATCH_ARGS, CUstream stream),
           copy_batch(BATCH, SOFT_ASYNC, NULL))

SOFT_TWINS(cuMemcpyBatchAsync, _ptsz, (BATCH_ARGS, size_t *failed, CUstream stream),
           copy_batch(BATCH, SOFT_ASYNC, failed))
