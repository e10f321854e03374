// SPDX-License-Identifier: Apache-2.0
/* Events: a point of a queue, and the time at which it was reached. */
#include <string.h>

#include "base/clock.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/eventshare.h"
#include "softcuda/device/racing.h"
#include "softcuda/rules/rules.h"

CUresult soft_event_create(soft_context *context, uint32_t flags,
                           struct soft_event_share *share, soft_event **out)
{
    soft_event *event = soft_new(sizeof(*event));
    if (!event) {
        soft_event_unshare(&(soft_event){.share = share});
        return soft_made(event, "no memory for an event");
    }
    event->share = share;
    event->context = context;
    event->flags = flags;
    atomic_init(&event->references, 1);
    pthread_mutex_init(&event->mutex, NULL);
    CUresult result = CUDA_SUCCESS;
    if (!share && (flags & CU_EVENT_INTERPROCESS) != 0)
        result = soft_event_share(event);
    if (result == CUDA_SUCCESS)
        result = soft_handle_add(event, SOFT_KIND_EVENT);
    if (result != CUDA_SUCCESS) {
        soft_event_release(event);
        return result;
    }
    *out = event;
    return CUDA_SUCCESS;
}

SOFT_FINDER(soft_event_find, CUevent, soft_event, SOFT_KIND_EVENT,
            CUDA_ERROR_INVALID_HANDLE, "event, or it was destroyed")

void soft_event_retain(soft_event *event)
{
    atomic_fetch_add_explicit(&event->references, 1, memory_order_relaxed);
}

static void drop_frontier(soft_event *event)
{
    if (event->frontier)
        event->drop_frontier(event->frontier);
    event->frontier = NULL;
}

void soft_event_release(soft_event *event)
{
    /* acq_rel: the last one sees what the others wrote before they let go. */
    if (atomic_fetch_sub_explicit(&event->references, 1, memory_order_acq_rel) != 1)
        return;
    drop_frontier(event);
    soft_event_unshare(event);
    pthread_mutex_destroy(&event->mutex);
    soft_delete(event);
}

CUresult soft_event_destroy(soft_event *event)
{
    if (!soft_handle_remove(event, SOFT_KIND_EVENT))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "%p is not an event, or it was destroyed", (void *)event);
    soft_event_release(event);
    return CUDA_SUCCESS;
}

/* The time belongs to the last record, whichever stamp runs last. */
void soft_event_stamp(soft_event *event)
{
    if (event->share)
        soft_event_shared_stamp(event);
    pthread_mutex_lock(&event->mutex);
    event->stamp_ns = gphi_clock_ns();
    event->stamp_serial = event->serial;
    pthread_mutex_unlock(&event->mutex);
}

static void stamp(void *user)
{
    soft_event_stamp(user);
    soft_event_release(user);
}

/* A later record makes the stamp of an earlier one stale. */
void soft_event_begin_record(soft_event *event)
{
    if (event->share)
        soft_event_shared_launch(event);
    pthread_mutex_lock(&event->mutex);
    event->serial++;
    pthread_mutex_unlock(&event->mutex);
}

void soft_event_set_point(soft_event *event, soft_point point)
{
    pthread_mutex_lock(&event->mutex);
    drop_frontier(event);
    event->state = SOFT_EVENT_RECORDED;
    event->point = point;
    pthread_mutex_unlock(&event->mutex);
}

struct shared_record {
    soft_event *event;
    uint64_t number;
};

static void end_shared(void *user)
{
    struct shared_record *record = user;
    soft_event_shared_end(record->event, record->number);
    soft_event_release(record->event);
    soft_delete(record);
}

/* Other processes have no queue to look at: the work itself says that it is over. */
static CUresult record_shared(soft_event *event, soft_stream *stream)
{
    struct shared_record *record = soft_new(sizeof(*record));
    SOFT_TRY(soft_made(record, "no memory for a record between processes"));
    soft_event_retain(event);
    *record = (struct shared_record){event, soft_event_shared_begin(event)};
    const soft_task task = {.kind = SOFT_TASK_CALL, .u.call = {end_shared, record}};
    const CUresult result =
        soft_stream_submit(stream->context, (CUstream)stream, false, &task, NULL);
    if (result != CUDA_SUCCESS)
        end_shared(record); /* nobody waits for what never comes */
    else
        soft_event_set_point(event, soft_queue_tail(stream->queue));
    return result;
}

/* Without timing an event is a point of the queue, and costs no work. */
CUresult soft_event_record(soft_event *event, soft_stream *stream)
{
    if (soft_rule(R114) && event->context != stream->context)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "the event and the stream are of different contexts");
    if (event->share)
        return record_shared(event, stream);
    if (event->flags & CU_EVENT_DISABLE_TIMING) {
        soft_event_set_point(event, soft_stream_tail(stream));
        return CUDA_SUCCESS;
    }
    soft_event_begin_record(event);
    soft_event_retain(event);
    const soft_task task = {.kind = SOFT_TASK_CALL, .u.call = {stamp, event}};
    const CUresult result =
        soft_stream_submit(stream->context, (CUstream)stream, false, &task, NULL);
    if (result != CUDA_SUCCESS) {
        soft_event_release(event);
        return result;
    }
    pthread_mutex_lock(&event->mutex);
    drop_frontier(event);
    event->state = SOFT_EVENT_RECORDED;
    event->point = soft_queue_tail(stream->queue);
    pthread_mutex_unlock(&event->mutex);
    return CUDA_SUCCESS;
}

/* Never recorded: nothing to wait for. */
soft_point soft_event_point(soft_event *event)
{
    if (event->share)
        return soft_event_shared_point(event);
    pthread_mutex_lock(&event->mutex);
    const soft_point point =
        event->state == SOFT_EVENT_RECORDED ? event->point : (soft_point){0};
    pthread_mutex_unlock(&event->mutex);
    return point;
}

static bool is_captured(soft_event *event)
{
    pthread_mutex_lock(&event->mutex);
    const bool captured = event->state == SOFT_EVENT_CAPTURED;
    pthread_mutex_unlock(&event->mutex);
    return captured;
}

/* A captured event cannot be asked, and an open capture may forbid asking any. */
static CUresult check_capture(soft_event *event)
{
    if (!is_captured(event) && !soft_capture_is_open())
        return CUDA_SUCCESS;
    return soft_capture_get_hooks()->event(event);
}

CUresult soft_event_query(soft_event *event)
{
    SOFT_TRY(check_capture(event));
    SOFT_TRY(soft_context_check(event->context));
    if (event->share ? !soft_event_shared_done(event)
                     : !soft_point_reached(soft_event_point(event)))
        return CUDA_ERROR_NOT_READY;
    if (soft_racing())
        soft_racing_waited(soft_event_point(event));
    return soft_context_check(event->context);
}

CUresult soft_event_synchronize(soft_event *event)
{
    SOFT_TRY(check_capture(event));
    const soft_point point = soft_event_point(event);
    soft_point_wait(event->context->device->engine, point);
    soft_racing_waited(point);
    return soft_context_check(event->context);
}

/* The time of the last record: NOT_READY, or INVALID_HANDLE if it has none (R114). */
static CUresult time_of(soft_event *event, const char *name, uint64_t *out)
{
    SOFT_TRY(check_capture(event));
    if (event->flags & CU_EVENT_DISABLE_TIMING)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%s was created without timing",
                         name);
    pthread_mutex_lock(&event->mutex);
    const bool recorded = event->state == SOFT_EVENT_RECORDED;
    const bool stamped =
        event->stamp_serial == event->serial && soft_point_reached(event->point);
    *out = event->stamp_ns;
    const soft_point point = event->point;
    pthread_mutex_unlock(&event->mutex);
    if (recorded && stamped)
        soft_racing_waited(point);
    if (!recorded)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%s was never recorded", name);
    return stamped ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult soft_event_elapsed(soft_event *start, soft_event *end, float *out_ms)
{
    uint64_t from, to;
    const CUresult first = time_of(start, "the start event", &from);
    if (first != CUDA_SUCCESS && first != CUDA_ERROR_NOT_READY)
        return first;
    SOFT_TRY(time_of(end, "the end event", &to));
    SOFT_TRY(first);
    *out_ms = (float)((double)((int64_t)(to - from)) / 1e6);
    return CUDA_SUCCESS;
}

CUresult soft_event_record_all(soft_event *event, soft_current context)
{
    soft_stream *gather;
    SOFT_TRY(soft_streams_gather(context, &gather));
    return soft_event_record(event, gather);
}

CUresult soft_event_wait_all(soft_event *event, soft_current context)
{
    SOFT_TRY(soft_capture_check_context(context));
    return soft_streams_wait_point(context, soft_event_point(event));
}
