// SPDX-License-Identifier: Apache-2.0
/* All copies: each form becomes a CUDA_MEMCPY3D and goes the same way. */
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/task.h"

struct how {
    CUstream stream;
    bool per_thread; /* which default stream 0 means */
    bool sync;       /* the call returns when the copy is done */
};

static bool is_device(const soft_task *task)
{
    return soft_device_holding(task->u.copy.dst) && soft_device_holding(task->u.copy.src);
}

/* A synchronous copy within device memory does not wait, as on a GPU; an asynchronous one
 * waits where the host memory is not known to the driver: the program may change it. */
static CUresult submit(soft_context *context, const CUDA_MEMCPY3D *copy, struct how how)
{
    soft_task task;
    SOFT_TRY(soft_task_copy(context, copy, &task));
    if (copy->WidthInBytes == 0 || copy->Height == 0 || copy->Depth == 0)
        return CUDA_SUCCESS;
    bool captured = false;
    SOFT_TRY(soft_stream_submit(context, how.stream, how.per_thread, &task, &captured));
    const bool pageable = task.u.copy.dst_pageable || task.u.copy.src_pageable;
    if (captured || !(how.sync ? !is_device(&task) : pageable))
        return CUDA_SUCCESS;
    return soft_stream_wait(context, how.stream, how.per_thread);
}

/* ---- one row ---- */

struct row {
    CUmemorytype dst_type, src_type;
    uint64_t dst, src; /* an address, or the offset in an array */
    CUarray dst_array, src_array;
};

static CUresult copy_row(soft_context *context, struct row row, size_t bytes,
                         struct how how)
{
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
    return submit(context, &c, how);
}

#define SYNC(thread) ((struct how){.per_thread = thread, .sync = true})
#define ASYNC(thread) ((struct how){.stream = stream, .per_thread = thread})
#define HOST(pointer) ((uint64_t)(uintptr_t)(pointer))

/* Both variants of a call: the legacy default stream, and the thread's own. */
#define BOTH(name, suffix, args, how_legacy, how_thread, ...)                            \
    CUresult name args                                                                   \
    {                                                                                    \
        SOFT_ENTER_CONTEXT(context);                                                     \
        const struct row row = {__VA_ARGS__};                                            \
        return copy_row(context, row, bytes, how_legacy);                                \
    }                                                                                    \
    CUresult name##suffix args                                                           \
    {                                                                                    \
        SOFT_ENTER_CONTEXT(context);                                                     \
        const struct row row = {__VA_ARGS__};                                            \
        return copy_row(context, row, bytes, how_thread);                                \
    }
#define BOTH_SYNC(name, args, ...)                                                       \
    BOTH(name, _ptds, args, SYNC(false), SYNC(true), __VA_ARGS__)
#define BOTH_ASYNC(name, args, ...)                                                      \
    BOTH(name, _ptsz, args, ASYNC(false), ASYNC(true), __VA_ARGS__)

BOTH_SYNC(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
          CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED, dst, src, NULL, NULL)
BOTH_SYNC(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t bytes),
          CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, dst, HOST(src), NULL, NULL)
BOTH_SYNC(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t bytes), CU_MEMORYTYPE_HOST,
          CU_MEMORYTYPE_DEVICE, HOST(dst), src, NULL, NULL)
BOTH_SYNC(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
          CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, dst, src, NULL, NULL)
BOTH_SYNC(cuMemcpyDtoA_v2, (CUarray dst, size_t to, CUdeviceptr src, size_t bytes),
          CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, to, src, dst, NULL)
BOTH_SYNC(cuMemcpyAtoD_v2, (CUdeviceptr dst, CUarray src, size_t from, size_t bytes),
          CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, dst, from, NULL, src)
BOTH_SYNC(cuMemcpyHtoA_v2, (CUarray dst, size_t to, const void *src, size_t bytes),
          CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_HOST, to, HOST(src), dst, NULL)
BOTH_SYNC(cuMemcpyAtoH_v2, (void *dst, CUarray src, size_t from, size_t bytes),
          CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_ARRAY, HOST(dst), from, NULL, src)
BOTH_SYNC(cuMemcpyAtoA_v2,
          (CUarray dst, size_t to, CUarray src, size_t from, size_t bytes),
          CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_ARRAY, to, from, dst, src)

BOTH_ASYNC(cuMemcpyAsync,
           (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
           CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED, dst, src, NULL, NULL)
BOTH_ASYNC(cuMemcpyHtoDAsync_v2,
           (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream),
           CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, dst, HOST(src), NULL, NULL)
BOTH_ASYNC(cuMemcpyDtoHAsync_v2,
           (void *dst, CUdeviceptr src, size_t bytes, CUstream stream),
           CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, HOST(dst), src, NULL, NULL)
BOTH_ASYNC(cuMemcpyDtoDAsync_v2,
           (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
           CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, dst, src, NULL, NULL)
BOTH_ASYNC(cuMemcpyHtoAAsync_v2,
           (CUarray dst, size_t to, const void *src, size_t bytes, CUstream stream),
           CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_HOST, to, HOST(src), dst, NULL)
BOTH_ASYNC(cuMemcpyAtoHAsync_v2,
           (void *dst, CUarray src, size_t from, size_t bytes, CUstream stream),
           CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_ARRAY, HOST(dst), from, NULL, src)

/* ---- between contexts ---- */

static CUresult copy_peer(soft_context *context, CUcontext to, CUcontext from,
                          struct row row, size_t bytes, struct how how)
{
    soft_context *peer;
    SOFT_TRY(soft_context_find(to, &peer));
    SOFT_TRY(soft_context_find(from, &peer));
    return copy_row(context, row, bytes, how);
}

#define PEER_ARGS                                                                        \
    CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t bytes
#define PEER_ROW                                                                         \
    ((struct row){CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, dst, src, NULL, NULL})

CUresult cuMemcpyPeer(PEER_ARGS)
{
    SOFT_ENTER_CONTEXT(context);
    return copy_peer(context, to, from, PEER_ROW, bytes, SYNC(false));
}

CUresult cuMemcpyPeer_ptds(PEER_ARGS)
{
    SOFT_ENTER_CONTEXT(context);
    return copy_peer(context, to, from, PEER_ROW, bytes, SYNC(true));
}

CUresult cuMemcpyPeerAsync(PEER_ARGS, CUstream stream)
{
    SOFT_ENTER_CONTEXT(context);
    return copy_peer(context, to, from, PEER_ROW, bytes, ASYNC(false));
}

CUresult cuMemcpyPeerAsync_ptsz(PEER_ARGS, CUstream stream)
{
    SOFT_ENTER_CONTEXT(context);
    return copy_peer(context, to, from, PEER_ROW, bytes, ASYNC(true));
}

/* ---- two and three dimensions ---- */

static CUresult copy_2d(const char *call, const CUDA_MEMCPY2D *c, struct how how)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    if (c == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pCopy is NULL");
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
    return submit(context, &copy, how);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(__func__, copy, SYNC(false));
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(__func__, copy, SYNC(true));
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(__func__, copy, SYNC(false));
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy)
{
    return copy_2d(__func__, copy, SYNC(true));
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy_2d(__func__, copy, ASYNC(false));
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy_2d(__func__, copy, ASYNC(true));
}

static CUresult copy_3d(const char *call, const CUDA_MEMCPY3D *copy, struct how how)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    if (copy == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pCopy is NULL");
    return submit(context, copy, how);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
    return copy_3d(__func__, copy, SYNC(false));
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy)
{
    return copy_3d(__func__, copy, SYNC(true));
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy_3d(__func__, copy, ASYNC(false));
}

CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy_3d(__func__, copy, ASYNC(true));
}

static CUresult copy_3d_peer(const char *call, const CUDA_MEMCPY3D_PEER *c,
                             struct how how)
{
    soft_context *context, *peer;
    SOFT_TRY(soft_enter_context(call, &context));
    if (c == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "pCopy is NULL");
    if (c->srcMemoryType == CU_MEMORYTYPE_DEVICE)
        SOFT_TRY(soft_context_find(c->srcContext, &peer));
    if (c->dstMemoryType == CU_MEMORYTYPE_DEVICE)
        SOFT_TRY(soft_context_find(c->dstContext, &peer));
    const CUDA_MEMCPY3D copy = {.srcXInBytes = c->srcXInBytes,
                                .srcY = c->srcY,
                                .srcZ = c->srcZ,
                                .srcMemoryType = c->srcMemoryType,
                                .srcHost = c->srcHost,
                                .srcDevice = c->srcDevice,
                                .srcArray = c->srcArray,
                                .srcPitch = c->srcPitch,
                                .srcHeight = c->srcHeight,
                                .dstXInBytes = c->dstXInBytes,
                                .dstY = c->dstY,
                                .dstZ = c->dstZ,
                                .dstMemoryType = c->dstMemoryType,
                                .dstHost = c->dstHost,
                                .dstDevice = c->dstDevice,
                                .dstArray = c->dstArray,
                                .dstPitch = c->dstPitch,
                                .dstHeight = c->dstHeight,
                                .WidthInBytes = c->WidthInBytes,
                                .Height = c->Height,
                                .Depth = c->Depth};
    return submit(context, &copy, how);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy_3d_peer(__func__, copy, SYNC(false));
}

CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy_3d_peer(__func__, copy, SYNC(true));
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    return copy_3d_peer(__func__, copy, ASYNC(false));
}

CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    return copy_3d_peer(__func__, copy, ASYNC(true));
}
