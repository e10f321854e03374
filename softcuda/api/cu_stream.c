// SPDX-License-Identifier: Apache-2.0
/* cuStream*, but for capture (capture.c). Each call that takes a stream has a _ptsz twin,
 * for which stream 0 is the per-thread default stream.
 *
 * A stream is looked up before other arguments are judged, which is where captures
 * refuse a call. */
#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

/* A priority out of range is moved into it, not refused. */
CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "phStream"));
    if (flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: 0 and 1 (non-blocking) are known", flags);
    soft_stream *stream;
    SOFT_TRY(soft_stream_create((soft_current){context, soft_green_current()}, flags,
                                soft_stream_clamp_priority(priority), &stream));
    *out = (CUstream)stream;
    return CUDA_SUCCESS;
}

SOFT_OLDER(cuStreamCreate, (CUstream * out, unsigned int flags),
           cuStreamCreateWithPriority(out, flags, 0))

/* Its work goes on to the end. Default streams live as long as their context, created ones
 * until here, even if their green context is destroyed. */
CUresult cuStreamDestroy_v2(CUstream handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(__func__, handle, &context));
    if (!handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "a default stream is not destroyed");
    soft_stream *stream = (soft_stream *)handle;
    const bool is_left_over =
        soft_handle_is(handle, SOFT_KIND_STREAM) && !soft_green_is_alive(stream->green);
    if (!is_left_over)
        SOFT_TRY(soft_stream_find(context, handle, false, &stream));
    soft_stream_destroy(stream);
    return CUDA_SUCCESS;
}

SOFT_OLDER(cuStreamDestroy, (CUstream handle), cuStreamDestroy_v2(handle))

/* A question about a stream: `value`, of `stream`, goes to `out`, which CUDA's headers
 * call `argument`. */
#define QUESTION(name, type, argument, value)                                            \
    static CUresult name##_of(CUstream handle, bool per_thread, type *out)               \
    {                                                                                    \
        soft_stream *stream;                                                             \
        SOFT_TRY(soft_enter_stream(#name, handle, per_thread, &stream));                 \
        SOFT_TRY(soft_need(out, argument));                                              \
        *out = (value);                                                                  \
        return CUDA_SUCCESS;                                                             \
    }                                                                                    \
    SOFT_TWINS(name, _ptsz, (CUstream handle, type * out),                               \
               name##_of(handle, per_thread, out))

QUESTION(cuStreamGetPriority, int, "priority", stream->priority)
QUESTION(cuStreamGetFlags, unsigned int, "flags", stream->flags)
QUESTION(cuStreamGetId, unsigned long long, "streamId", stream->id)
QUESTION(cuStreamGetDevice, CUdevice, "device", stream->context->device->ordinal)

/* The primary context, for a stream of a green one: an H200, whose guide has the first
 * version of the call refuse those. */
static CUresult get_context(CUstream handle, bool per_thread, CUcontext *out,
                            CUgreenCtx *green)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream("cuStreamGetCtx", handle, per_thread, &stream));
    SOFT_TRY(soft_need(out, "pctx"));
    *out = (CUcontext)stream->context;
    if (green)
        *green = (CUgreenCtx)stream->green;
    return CUDA_SUCCESS;
}

SOFT_TWINS(cuStreamGetCtx, _ptsz, (CUstream handle, CUcontext *out),
           get_context(handle, per_thread, out, NULL))
SOFT_TWINS(cuStreamGetCtx_v2, _ptsz, (CUstream handle, CUcontext *out, CUgreenCtx *green),
           get_context(handle, per_thread, out, green))

/* NOT_READY is an answer, not a failure: nothing is logged. */
static CUresult query(CUstream handle, bool per_thread)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream("cuStreamQuery", handle, per_thread, &stream));
    return soft_stream_query(stream);
}

SOFT_TWINS(cuStreamQuery, _ptsz, (CUstream handle), query(handle, per_thread))

/* A point at which pools give back what was freed before it. */
static CUresult synchronize_entered(soft_stream *stream)
{
    SOFT_TRY(soft_stream_synchronize(stream));
    if (soft_rule(M_pool_steps))
        soft_memory_synchronized(stream->context->device->memory);
    return CUDA_SUCCESS;
}

static const char synchronize_call[] = "cuStreamSynchronize";

static __attribute__((noinline)) CUresult synchronize_slowly(CUstream handle,
                                                             bool per_thread)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream(synchronize_call, handle, per_thread, &stream));
    return synchronize_entered(stream);
}

static CUresult synchronize(CUstream handle, bool per_thread)
{
    soft_stream *stream = soft_enter_quickly(synchronize_call, handle);
    return stream ? synchronize_entered(stream) : synchronize_slowly(handle, per_thread);
}

SOFT_TWINS(cuStreamSynchronize, _ptsz, (CUstream handle), synchronize(handle, per_thread))

/* An event that was never recorded holds up nothing. One of a capture, or a capturing
 * stream, makes an edge instead (R91). */
static CUresult wait_event(CUstream handle, bool per_thread, CUevent event_handle,
                           unsigned int flags)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream("cuStreamWaitEvent", handle, per_thread, &stream));
    soft_event *event;
    const CUresult is_event = soft_event_find(event_handle, &event);
    if (is_event != CUDA_SUCCESS && soft_rule(M_wait_nothing))
        soft_capture_refuse_launch(soft_context_current(), handle, per_thread, is_event);
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

SOFT_TWINS(cuStreamWaitEvent, _ptsz, (CUstream handle, CUevent event, unsigned int flags),
           wait_event(handle, per_thread, event, flags))

/* ---- callbacks --------------------------------------------------------------------- */

struct callback {
    CUstreamCallback function;
    CUstream stream;
    soft_context *context;
    void *user;
};

/* Runs even if the context is in error, and gets that as its result. */
static void call_back(void *user)
{
    struct callback *callback = user;
    const CUresult status = (CUresult)atomic_load(&callback->context->error);
    callback->function(callback->stream, status, callback->user);
    soft_delete(callback);
}

/* An older form of cuLaunchHostFunc(): it runs after errors as well, and gets the code.
 * No capture takes it (R98). */
static CUresult add_callback(CUstream handle, bool per_thread, CUstreamCallback function,
                             void *user, unsigned int flags)
{
    soft_stream *stream;
    SOFT_TRY(soft_enter_stream("cuStreamAddCallback", handle, per_thread, &stream));
    SOFT_TRY(soft_need((const void *)(uintptr_t)function, "callback"));
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    struct callback *callback = soft_new(sizeof(*callback));
    SOFT_TRY(soft_made(callback, "no memory for a callback"));
    *callback = (struct callback){function, handle, stream->context, user};
    const soft_task task = {.kind = SOFT_TASK_HOST,
                            .u.host = {call_back, callback, true}};
    const CUresult result =
        soft_stream_submit(soft_context_current(), handle, per_thread, &task, NULL);
    if (result != CUDA_SUCCESS)
        soft_delete(callback);
    return result;
}

SOFT_TWINS(cuStreamAddCallback, _ptsz,
           (CUstream handle, CUstreamCallback function, void *user, unsigned int flags),
           add_callback(handle, per_thread, function, user, flags))
