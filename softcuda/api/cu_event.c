// SPDX-License-Identifier: Apache-2.0
/* cuEvent*.
 *
 * An event belongs to the context that was current when it was made, and its calls need
 * none. Where a stream captures, or the event came from a capture, the hooks of graph/
 * decide (device/stream.h). */
#include "softcuda/api/exports.h"
#include "softcuda/device/stream.h"

/* An interprocess event may not be timed. */
CUresult cuEventCreate(CUevent *out, unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    const unsigned known =
        CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    SOFT_TRY(soft_need(out, "phEvent"));
    if (flags & ~known)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: bits 0 to 2 are known", flags);
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "an interprocess event needs CU_EVENT_DISABLE_TIMING");
    soft_event *event;
    SOFT_TRY(soft_event_create(context, flags, NULL, &event));
    *out = (CUevent)event;
    return CUDA_SUCCESS;
}

/* Work that was recorded goes on: streams hold the event until its point is reached. */
CUresult cuEventDestroy_v2(CUevent handle)
{
    SOFT_TRY(soft_enter_any(__func__));
    soft_event *event;
    SOFT_TRY(soft_event_find(handle, &event));
    return soft_event_destroy(event);
}

SOFT_OLDER(cuEventDestroy, (CUevent handle), cuEventDestroy_v2(handle))

/* On a capturing stream it is an edge, or with the external flag a node (R91, R92); the
 * flag means nothing elsewhere. */
static CUresult record(CUevent handle, CUstream stream_handle, bool per_thread,
                       unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context("cuEventRecord", stream_handle, &context));
    soft_event *event;
    SOFT_TRY(soft_event_find(handle, &event));
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, stream_handle, per_thread, &stream));
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x: 0 and 1 (external) are known", flags);
    if (soft_stream_captures(stream))
        return soft_capture_get_hooks()->record_event(stream, event, flags);
    if (flags & CU_EVENT_RECORD_EXTERNAL)
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "the external flag is for streams that capture");
    return soft_event_record(event, stream);
}

SOFT_TWINS(cuEventRecord, _ptsz, (CUevent handle, CUstream stream),
           record(handle, stream, per_thread, 0))

SOFT_TWINS(cuEventRecordWithFlags, _ptsz,
           (CUevent handle, CUstream stream, unsigned int flags),
           record(handle, stream, per_thread, flags))

/* No context need be current: an event brings its own. */
CUresult cuEventQuery(CUevent handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_event *event;
    SOFT_TRY(soft_event_find(handle, &event));
    return soft_event_query(event);
}

/* A point at which pools give back what was freed before it. */
CUresult cuEventSynchronize(CUevent handle)
{
    SOFT_TRY(soft_enter(__func__));
    soft_event *event;
    SOFT_TRY(soft_event_find(handle, &event));
    SOFT_TRY(soft_event_synchronize(event));
    soft_memory_synchronized(event->context->device->memory);
    return CUDA_SUCCESS;
}

/* Both must be recorded, with timing, and be over (R114). */
CUresult cuEventElapsedTime_v2(float *out, CUevent start_handle, CUevent end_handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pMilliseconds"));
    soft_event *start, *end;
    SOFT_TRY(soft_event_find(start_handle, &start));
    SOFT_TRY(soft_event_find(end_handle, &end));
    return soft_event_elapsed(start, end, out);
}

SOFT_OLDER(cuEventElapsedTime, (float *out, CUevent start, CUevent end),
           cuEventElapsedTime_v2(out, start, end))

/* ---- whole contexts ---------------------------------------------------------------- */

typedef CUresult all_fn(soft_event *event, soft_current of);

/* The event may be of any context of the same device. */
static CUresult with_all(soft_current of, CUevent handle, all_fn *does)
{
    soft_event *event;
    SOFT_TRY(soft_context_check(of.context));
    SOFT_TRY(soft_event_find(handle, &event));
    return does(event, of);
}

/* NULL does not name the current context here. */
static CUresult of_context(const char *call, CUcontext handle, CUevent event,
                           all_fn *does)
{
    soft_current of;
    SOFT_TRY(soft_enter(call));
    if (!handle)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "the context is NULL");
    SOFT_TRY(soft_context_find_seen(handle, &of));
    return with_all(of, event, does);
}

/* Its streams, and no others. */
static CUresult of_green(const char *call, CUgreenCtx handle, CUevent event, all_fn *does)
{
    soft_green *green;
    SOFT_TRY(soft_enter(call));
    SOFT_TRY(soft_green_find(handle, &green));
    return with_all((soft_current){green->context, green}, event, does);
}

/* After all work of all of its streams. */
CUresult cuCtxRecordEvent(CUcontext context, CUevent event)
{
    return of_context(__func__, context, event, soft_event_record_all);
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event)
{
    return of_green(__func__, green, event, soft_event_record_all);
}

/* Work that is submitted to any of its streams from now on waits. */
CUresult cuCtxWaitEvent(CUcontext context, CUevent event)
{
    return of_context(__func__, context, event, soft_event_wait_all);
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event)
{
    return of_green(__func__, green, event, soft_event_wait_all);
}
