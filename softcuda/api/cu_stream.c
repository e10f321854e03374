// SPDX-License-Identifier: Apache-2.0
/* cuStream*, but for capture (capture.c). Each call that takes a stream has a _ptsz twin,
 * for which stream 0 is the per-thread default stream. */
#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority)
{
    SOFT_ENTER_CONTEXT(context);
    if (out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "phStream is NULL");
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: 0 and 1 (non-blocking) are known", flags);
    soft_stream *stream;
    SOFT_TRY(soft_stream_create(context, flags, soft_stream_clamp_priority(priority),
                                &stream));
    *out = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *out, unsigned int flags)
{
    return cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle)
{
    SOFT_ENTER_CONTEXT(context);
    if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "a default stream is not destroyed");
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, handle, false, &stream));
    soft_stream_destroy(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream handle)
{
    return cuStreamDestroy_v2(handle);
}

#define FIND(handle, per_thread) FIND_AS(__func__, handle, per_thread)
#define FIND_AS(call, handle, per_thread)                                                \
    SOFT_ENTER_CONTEXT_AS(call, context);                                                \
    soft_stream *stream;                                                                 \
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream))
#define NOT_NULL(pointer, name)                                                          \
    do {                                                                                 \
        if ((pointer) == NULL)                                                           \
            return soft_fail(CUDA_ERROR_INVALID_VALUE, name " is NULL");                 \
    } while (0)

static CUresult get_priority(CUstream handle, bool per_thread, int *out)
{
    FIND_AS("cuStreamGetPriority", handle, per_thread);
    NOT_NULL(out, "priority");
    *out = stream->priority;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int *out)
{
    return get_priority(handle, false, out);
}

CUresult cuStreamGetPriority_ptsz(CUstream handle, int *out)
{
    return get_priority(handle, true, out);
}

static CUresult get_flags(CUstream handle, bool per_thread, unsigned int *out)
{
    FIND_AS("cuStreamGetFlags", handle, per_thread);
    NOT_NULL(out, "flags");
    *out = stream->flags;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *out)
{
    return get_flags(handle, false, out);
}

CUresult cuStreamGetFlags_ptsz(CUstream handle, unsigned int *out)
{
    return get_flags(handle, true, out);
}

static CUresult get_id(CUstream handle, bool per_thread, unsigned long long *out)
{
    FIND_AS("cuStreamGetId", handle, per_thread);
    NOT_NULL(out, "streamId");
    *out = stream->id;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *out)
{
    return get_id(handle, false, out);
}

CUresult cuStreamGetId_ptsz(CUstream handle, unsigned long long *out)
{
    return get_id(handle, true, out);
}

static CUresult get_context(CUstream handle, bool per_thread, CUcontext *out)
{
    FIND_AS("cuStreamGetCtx", handle, per_thread);
    NOT_NULL(out, "pctx");
    *out = (CUcontext)stream->context;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out)
{
    return get_context(handle, false, out);
}

CUresult cuStreamGetCtx_ptsz(CUstream handle, CUcontext *out)
{
    return get_context(handle, true, out);
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green)
{
    SOFT_TRY(get_context(handle, false, out));
    if (green)
        *green = NULL;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream handle, CUcontext *out, CUgreenCtx *green)
{
    SOFT_TRY(get_context(handle, true, out));
    if (green)
        *green = NULL;
    return CUDA_SUCCESS;
}

static CUresult get_device(CUstream handle, bool per_thread, CUdevice *out)
{
    FIND_AS("cuStreamGetDevice", handle, per_thread);
    NOT_NULL(out, "device");
    *out = stream->context->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *out)
{
    return get_device(handle, false, out);
}

CUresult cuStreamGetDevice_ptsz(CUstream handle, CUdevice *out)
{
    return get_device(handle, true, out);
}

static CUresult query(CUstream handle, bool per_thread)
{
    FIND_AS("cuStreamQuery", handle, per_thread);
    return soft_stream_query(stream);
}

CUresult cuStreamQuery(CUstream handle)
{
    return query(handle, false);
}

CUresult cuStreamQuery_ptsz(CUstream handle)
{
    return query(handle, true);
}

static CUresult synchronize(CUstream handle, bool per_thread)
{
    FIND_AS("cuStreamSynchronize", handle, per_thread);
    SOFT_TRY(soft_stream_synchronize(stream));
    if (soft_rule(M_pool_steps))
        soft_memory_synchronized(stream->context->device->memory);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle)
{
    return synchronize(handle, false);
}

CUresult cuStreamSynchronize_ptsz(CUstream handle)
{
    return synchronize(handle, true);
}

static CUresult wait_event(CUstream handle, bool per_thread, CUevent event_handle,
                           unsigned int flags)
{
    FIND_AS("cuStreamWaitEvent", handle, per_thread);
    soft_event *event;
    const CUresult is_event = soft_event_find(event_handle, &event);
    if (is_event != CUDA_SUCCESS && soft_rule(M_wait_nothing))
        soft_capture_spoil(context, handle, per_thread, is_event);
    SOFT_TRY(is_event);
    if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: 0 and 1 (external) are known", flags);
    pthread_mutex_lock(&event->mutex);
    const bool captured = event->state == SOFT_EVENT_CAPTURED;
    pthread_mutex_unlock(&event->mutex);
    if (captured || soft_stream_captures(stream))
        return soft_capture_get_hooks()->wait_event(stream, event, flags);
    if (flags & CU_EVENT_WAIT_EXTERNAL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "the external flag is for streams that capture");
    if (!soft_rule(M_peer_events) && event->context != stream->context)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "the event is of another context");
    return soft_stream_wait_point(stream, soft_event_point(event));
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags)
{
    return wait_event(handle, false, event, flags);
}

CUresult cuStreamWaitEvent_ptsz(CUstream handle, CUevent event, unsigned int flags)
{
    return wait_event(handle, true, event, flags);
}

/* ---- callbacks
 * -------------------------------------------------------------------------- */

struct callback {
    CUstreamCallback function;
    CUstream stream;
    soft_context *context;
    void *user;
};

/* Runs even if the context is in error, and is told so. */
static void call_back(void *user)
{
    struct callback *callback = user;
    const CUresult status = (CUresult)atomic_load(&callback->context->error);
    callback->function(callback->stream, status, callback->user);
    soft_delete(callback);
}

static CUresult add_callback(CUstream handle, bool per_thread, CUstreamCallback function,
                             void *user, unsigned int flags)
{
    FIND_AS("cuStreamAddCallback", handle, per_thread);
    NOT_NULL(function, "callback");
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    struct callback *callback = soft_new(sizeof(*callback));
    if (callback == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a callback");
    *callback = (struct callback){function, handle, stream->context, user};
    const soft_task task = {.kind = SOFT_TASK_HOST,
                            .u.host = {call_back, callback, true}};
    const CUresult result = soft_stream_submit(context, handle, per_thread, &task, NULL);
    if (result != CUDA_SUCCESS)
        soft_delete(callback);
    return result;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void *user,
                             unsigned int flags)
{
    return add_callback(handle, false, function, user, flags);
}

CUresult cuStreamAddCallback_ptsz(CUstream handle, CUstreamCallback function, void *user,
                                  unsigned int flags)
{
    return add_callback(handle, true, function, user, flags);
}
