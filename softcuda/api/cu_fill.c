// SPDX-License-Identifier: Apache-2.0
/* All memsets. Those of a device's own memory never wait: they are asynchronous to the
 * host, as on a GPU. What the host can read, pinned or managed, is filled when a call
 * without Async returns.
 *
 * Widths are in elements, pitches in bytes (R21). In a capture a destination is not
 * judged: it may be allocated later, so the instantiation looks at it again. */
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/peer.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

/* Pinned and registered memory is the host's; managed memory is both's. */
static bool is_seen_by_host(CUdeviceptr address)
{
    soft_device *device = soft_device_holding(address);
    soft_allocation found;
    return !device || (soft_memory_find(device->memory, address, &found) &&
                       (found.is_managed || found.of_host));
}

static CUresult fill(const char *call, CUstream stream, bool per_thread, bool waits,
                     CUDA_MEMSET_NODE_PARAMS params)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(call, stream, &context));
    soft_task task;
    bool capturing = false;
    soft_queue *queue;
    if (soft_capture_is_open())
        SOFT_TRY(soft_stream_queue(context, stream, per_thread, &queue, &capturing));
    if (capturing && soft_rule(M_capture_fill))
        SOFT_TRY(soft_task_fill_captured(&params, &task));
    else
        SOFT_TRY(soft_task_fill(context, &params, &task));
    if (params.width == 0 || params.height == 0)
        return CUDA_SUCCESS;
    /* A fill is run by the context's device, as a kernel is; a copy may be by either. */
    if (!capturing && soft_rule(M_peer_fills))
        SOFT_TRY(soft_peer_check(context, params.dst, true));
    bool captured = false;
    SOFT_TRY(soft_stream_submit(context, stream, per_thread, &task, &captured));
    if (!waits || captured || !is_seen_by_host(params.dst))
        return CUDA_SUCCESS;
    return soft_stream_wait(context, stream, per_thread);
}

#define LINE(bytes)                                                                      \
    (CUDA_MEMSET_NODE_PARAMS)                                                            \
    {                                                                                    \
        .dst = dst, .value = value, .elementSize = bytes, .width = count, .height = 1    \
    }
#define AREA(bytes)                                                                      \
    (CUDA_MEMSET_NODE_PARAMS)                                                            \
    {                                                                                    \
        .dst = dst, .pitch = pitch, .value = value, .elementSize = bytes,                \
        .width = width, .height = height                                                 \
    }
#define LINE_ARGS(type) CUdeviceptr dst, type value, size_t count
#define AREA_ARGS(type)                                                                  \
    CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height

/* The four variants of a call: synchronous and not, with either default stream. */
#define VARIANTS(sync, async, what, ...)                                                 \
    CUresult sync(__VA_ARGS__)                                                           \
    {                                                                                    \
        return fill(__func__, NULL, false, true, what);                                  \
    }                                                                                    \
    CUresult sync##_ptds(__VA_ARGS__)                                                    \
    {                                                                                    \
        return fill(__func__, NULL, true, true, what);                                   \
    }                                                                                    \
    CUresult async(__VA_ARGS__, CUstream stream)                                         \
    {                                                                                    \
        return fill(__func__, stream, false, false, what);                               \
    }                                                                                    \
    CUresult async##_ptsz(__VA_ARGS__, CUstream stream)                                  \
    {                                                                                    \
        return fill(__func__, stream, true, false, what);                                \
    }

VARIANTS(cuMemsetD8_v2, cuMemsetD8Async, LINE(1), LINE_ARGS(unsigned char))
VARIANTS(cuMemsetD16_v2, cuMemsetD16Async, LINE(2), LINE_ARGS(unsigned short))
VARIANTS(cuMemsetD32_v2, cuMemsetD32Async, LINE(4), LINE_ARGS(unsigned int))
VARIANTS(cuMemsetD2D8_v2, cuMemsetD2D8Async, AREA(1), AREA_ARGS(unsigned char))
VARIANTS(cuMemsetD2D16_v2, cuMemsetD2D16Async, AREA(2), AREA_ARGS(unsigned short))
VARIANTS(cuMemsetD2D32_v2, cuMemsetD2D32Async, AREA(4), AREA_ARGS(unsigned int))
