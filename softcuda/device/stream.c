// SPDX-License-Identifier: Apache-2.0
/* Streams: their order among each other, and the way of a piece of work into the engine.
 */
#include "softcuda/device/stream.h"

#include <string.h>

#include "base/clock.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/process.h"
#include "softcuda/device/racing.h"
#include "softcuda/device/summary.h"
#include "softcuda/device/verdict.h"
#include "softcuda/rules/rules.h"

static atomic_ullong last_id;

/* ---- life -------------------------------------------------------------------------- */

static CUresult make_stream(soft_current in, soft_stream_kind kind, uint32_t flags,
                            int priority, soft_stream **out)
{
    soft_context *context = in.context;
    soft_stream *stream = soft_new(sizeof(*stream));
    SOFT_TRY(soft_made(stream, "no memory for a stream"));
    stream->ring = soft_new(SOFT_RECORD_COUNT * sizeof(*stream->ring));
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!stream->ring) {
        soft_refuse(result, "no memory for the records of a stream");
        goto free_stream;
    }
    result = soft_pass(soft_queue_create(context->device->engine, priority,
                                         &stream->queue, soft_error()));
    if (result != CUDA_SUCCESS)
        goto free_ring;
    result = soft_handle_add(stream, SOFT_KIND_STREAM);
    if (result != CUDA_SUCCESS)
        goto release_queue;

    stream->context = context;
    stream->green = soft_green_retain(in.green);
    stream->kind = kind;
    stream->flags = flags;
    stream->priority = priority;
    stream->sync_policy = -1;
    stream->domains.remote = 1;
    stream->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    pthread_mutex_init(&stream->mutex, NULL);
    soft_streams *streams = context->streams;
    pthread_mutex_lock(&streams->mutex);
    stream->next = streams->list;
    if (stream->next)
        stream->next->previous = stream;
    streams->list = stream;
    pthread_mutex_unlock(&streams->mutex);
    *out = stream;
    return CUDA_SUCCESS;

release_queue:
    soft_queue_release(stream->queue);
free_ring:
    soft_delete(stream->ring);
free_stream:
    soft_delete(stream);
    return result;
}

CUresult soft_stream_create(soft_current in, uint32_t flags, int priority,
                            soft_stream **out)
{
    return make_stream(in, SOFT_STREAM_CREATED, flags, priority, out);
}

/* The records are read by work under way: they go when the last of it is done. */
static void free_stream(soft_stream *stream)
{
    const soft_point last = soft_queue_tail(stream->queue);
    soft_point_wait(stream->context->device->engine, last);
    if (soft_racing()) /* the call itself promises no wait */
        soft_beside_leave(soft_racing(), last);
    for (uint32_t i = 0; i < SOFT_RECORD_COUNT; i++)
        soft_record_drop(&stream->ring[i]);
    soft_queue_release(stream->queue);
    soft_delete(stream->ring);
    soft_delete(stream->lent_nodes);
    soft_delete(stream->lent_data);
    pthread_mutex_destroy(&stream->mutex);
    soft_green_release(stream->green);
    soft_delete(stream);
}

static void unlink_stream(soft_streams *streams, soft_stream *stream)
{
    pthread_mutex_lock(&streams->mutex);
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        streams->list = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    pthread_mutex_unlock(&streams->mutex);
}

void soft_stream_destroy(soft_stream *stream)
{
    if (!soft_handle_remove(stream, SOFT_KIND_STREAM))
        return;
    if (soft_capture_get_hooks())
        soft_capture_get_hooks()->stream_gone(stream);
    unlink_stream(stream->context->streams, stream);
    free_stream(stream);
}

CUresult soft_streams_create(soft_context *context)
{
    soft_streams *streams = soft_new(sizeof(*streams));
    SOFT_TRY(soft_made(streams, "no memory for a context's streams"));
    streams->context = context;
    pthread_mutex_init(&streams->mutex, NULL);
    context->streams = streams;
    const CUresult result = make_stream((soft_current){context, NULL}, SOFT_STREAM_LEGACY,
                                        0, 0, &streams->legacy);
    if (result != CUDA_SUCCESS) {
        context->streams = NULL;
        pthread_mutex_destroy(&streams->mutex);
        soft_delete(streams);
    }
    return result;
}

static void drain(soft_streams *streams, const soft_green *green);

void soft_streams_destroy(soft_context *context)
{
    soft_streams *streams = context->streams;
    if (!streams)
        return;
    drain(streams, NULL);
    soft_racing_forget(context);
    while (streams->list)
        soft_stream_destroy(streams->list);
    context->streams = NULL;
    pthread_mutex_destroy(&streams->mutex);
    soft_delete(streams);
}

CUresult soft_green_add_stream(soft_green *green)
{
    return make_stream((soft_current){green->context, green}, SOFT_STREAM_LEGACY, 0, 0,
                       &green->legacy);
}

/* Captures of what is left are invalid: nothing can be added to them. */
void soft_green_drop_streams(soft_green *green)
{
    drain(green->context->streams, green);
    soft_stream *const own[] = {green->legacy, green->gather};
    green->legacy = green->gather = NULL;
    for (size_t i = 0; i < 2; i++)
        if (own[i])
            soft_stream_destroy(own[i]);
    if (soft_capture_is_open())
        soft_capture_get_hooks()->green_gone(green);
}

/* ---- look-up ----------------------------------------------------------------------- */

/* A thread's default streams, by context: few, so a short list. */
struct own_stream {
    const soft_context *context;
    uint64_t context_id; /* or the green context's */
    soft_stream *stream;
};
#define OWN_STREAMS 8
static _Thread_local struct own_stream own_streams[OWN_STREAMS];
static _Thread_local unsigned own_next;

static soft_green *current_green(const soft_context *context)
{
    soft_green *green = soft_green_current();
    return green && green->context == context ? green : NULL;
}

static CUresult per_thread_stream(soft_context *context, soft_stream **out)
{
    soft_green *green = current_green(context);
    const uint64_t id = green ? green->id : context->id;
    for (unsigned i = 0; i < OWN_STREAMS; i++)
        if (own_streams[i].context == context && own_streams[i].context_id == id &&
            soft_handle_is(own_streams[i].stream, SOFT_KIND_STREAM)) {
            *out = own_streams[i].stream;
            return CUDA_SUCCESS;
        }
    soft_stream *stream;
    SOFT_TRY(make_stream((soft_current){context, green}, SOFT_STREAM_PER_THREAD, 0, 0,
                         &stream));
    own_streams[own_next++ % OWN_STREAMS] = (struct own_stream){context, id, stream};
    *out = stream;
    return CUDA_SUCCESS;
}

static CUresult find(soft_context *context, CUstream handle, bool per_thread,
                     soft_stream **out)
{
    if (!handle)
        handle = per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    if (handle == CU_STREAM_PER_THREAD)
        return per_thread_stream(context, out);
    if (handle == CU_STREAM_LEGACY) {
        const soft_green *green = current_green(context);
        *out = green ? green->legacy : context->streams->legacy;
        return CUDA_SUCCESS;
    }
    if (!soft_handle_is(handle, SOFT_KIND_STREAM))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "%p is not a stream, or it was destroyed", (void *)handle);
    *out = (soft_stream *)handle;
    return CUDA_SUCCESS;
}

CUresult soft_stream_find(soft_context *context, CUstream handle, bool per_thread,
                          soft_stream **out)
{
    soft_stream *found;
    SOFT_TRY(find(context, handle, per_thread, &found));
    SOFT_TRY(soft_green_check(found->green));
    if (soft_capture_is_open())
        SOFT_TRY(soft_capture_get_hooks()->stream(found));
    *out = found;
    return CUDA_SUCCESS;
}

static bool is_default(CUstream handle)
{
    return !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

soft_green *soft_stream_green(const soft_context *context, CUstream handle)
{
    if (is_default(handle))
        return current_green(context);
    return soft_handle_is(handle, SOFT_KIND_STREAM) ? ((const soft_stream *)handle)->green
                                                    : NULL;
}

CUresult soft_enter_stream_context(const char *call, CUstream handle, soft_context **out)
{
    if (is_default(handle) || !soft_handle_is(handle, SOFT_KIND_STREAM))
        return soft_enter_context(call, out);
    soft_context *context = ((const soft_stream *)handle)->context;
    SOFT_TRY(soft_enter_into(call, context));
    *out = context;
    return CUDA_SUCCESS;
}

CUresult soft_enter_stream(const char *call, CUstream handle, bool per_thread,
                           soft_stream **out)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(call, handle, &context));
    return soft_stream_find(context, handle, per_thread, out);
}

soft_stream *soft_enter_quickly(const char *call, CUstream handle)
{
    soft_thread *self = soft_thread_self();
    soft_stream *stream = (soft_stream *)handle;
    self->call = call;
    if (!atomic_load_explicit(&soft_verdict_known, memory_order_relaxed) ||
        atomic_load_explicit(&soft_process.phase, memory_order_acquire) !=
            SOFT_PHASE_READY ||
        self->in_callback || soft_capture_is_open() ||
        !soft_handle_is_near(handle, SOFT_KIND_STREAM) || stream->green)
        return NULL;
    return soft_context_lives(stream->context) ? stream : NULL;
}

/* ---- order among streams ----------------------------------------------------------- */

#define WAITS_MAX 16

static gph_status submit_empty(soft_stream *stream, const soft_point *waits,
                               uint32_t count)
{
    const soft_work empty = {.kind = SOFT_WORK_EMPTY};
    return soft_queue_submit(stream->queue, &empty, waits, count, NULL);
}

/* The engine refuses work for one reason. */
static CUresult taken(gph_status status)
{
    if (status != GPH_OK)
        return soft_fail(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down");
    return CUDA_SUCCESS;
}

static bool is_behind_others(const soft_stream *stream)
{
    return stream->kind == SOFT_STREAM_LEGACY || stream->kind == SOFT_STREAM_GATHER;
}

/* The legacy stream waits for all blocking streams, the gathering one for all, those of a
 * green context for its own. Stream mutex held. */
static uint32_t others_to_wait_for(soft_stream *stream, soft_point *waits)
{
    const bool all = stream->kind == SOFT_STREAM_GATHER;
    soft_streams *streams = stream->context->streams;
    uint32_t count = 0;
    if (soft_racing())
        soft_beside_after_gone(soft_racing(), stream->queue);
    pthread_mutex_lock(&streams->mutex);
    for (soft_stream *other = streams->list; other; other = other->next) {
        if (other == stream || !(all || soft_stream_is_blocking(other)) ||
            (other->green != stream->green && !(all && !stream->green)))
            continue;
        const soft_point tail = soft_queue_tail(other->queue);
        soft_racing_after(stream, tail);
        if (soft_point_reached(tail))
            continue;
        if (count == WAITS_MAX) {
            (void)submit_empty(stream, waits, count);
            count = 0;
        }
        waits[count++] = tail;
    }
    pthread_mutex_unlock(&streams->mutex);
    return count;
}

static const soft_stream *legacy_of(const soft_stream *stream)
{
    return stream->green ? stream->green->legacy : stream->context->streams->legacy;
}

/* What work that goes to a stream now has to wait for beside what is in its queue. */
static uint32_t order_waits(soft_stream *stream, soft_point *waits)
{
    if (is_behind_others(stream))
        return others_to_wait_for(stream, waits);
    if (!soft_stream_is_blocking(stream))
        return 0;
    waits[0] = soft_queue_tail(legacy_of(stream)->queue);
    soft_racing_after(stream, waits[0]);
    return soft_point_reached(waits[0]) ? 0 : 1;
}

/* ---- submitting -------------------------------------------------------------------- */

static CUresult submit_locked(soft_stream *stream, const soft_task *task)
{
    soft_record *record = &stream->ring[stream->submitted % SOFT_RECORD_COUNT];
    if (!soft_point_reached(record->point))
        soft_point_wait(stream->context->device->engine, record->point);
    soft_record_drop(record);

    SOFT_TRY(soft_record_fill(record, stream->context, task, -1));
    soft_work work = soft_record_work(record, task->kind);
    if (task->kind == SOFT_TASK_KERNEL)
        work.cost_ns = &task->u.launch.function->cost_ns;
    soft_point waits[WAITS_MAX];
    const uint32_t count = order_waits(stream, waits);
    soft_racing_task *racing = soft_racing_begin(stream, task);
    soft_racing_watch(racing, record, task->kind);
    if (task->kind == SOFT_TASK_COPY)
        soft_copy_closes(&task->u.copy);
    const gph_status status =
        soft_queue_submit(stream->queue, &work, waits, count, &record->point);
    soft_racing_end(racing, stream, status == GPH_OK, &record->point);
    if (status != GPH_OK && task->kind == SOFT_TASK_COPY)
        soft_copy_opens(&task->u.copy);
    SOFT_TRY(taken(status));
    stream->submitted++;
    return CUDA_SUCCESS;
}

/* What only a graph can have. */
static CUresult check_plain(const soft_launch *launch)
{
    const ptx_kernel *kernel = launch->function->code->kernel;
    if (launch->updatable && soft_rule(R78))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%s: a kernel that the device changes is a node of a graph",
                         kernel->name);
    if (kernel->launches_graphs && soft_rule(R74))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%s calls cudaGraphLaunch(): it runs in graphs alone",
                         kernel->name);
    return CUDA_SUCCESS;
}

CUresult soft_stream_submit(soft_context *context, CUstream handle, bool per_thread,
                            const soft_task *task, bool *captured)
{
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    if (captured)
        *captured = soft_stream_captures(stream);
    if (soft_stream_captures(stream))
        return soft_capture_get_hooks()->task(stream, task);
    if (task->kind == SOFT_TASK_KERNEL)
        SOFT_TRY(check_plain(&task->u.launch));
    if ((task->kind == SOFT_TASK_COPY || task->kind == SOFT_TASK_FILL) &&
        task->names_idle && soft_rule(M_idle_address))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "an address belongs to a graph, and no launch has allocated it "
                         "or it was freed since");
    if (stream->context != context && task->kind == SOFT_TASK_KERNEL)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE,
                         "the stream is of another context than the current one");

    const bool is_kernel = task->kind == SOFT_TASK_KERNEL;
    const bool timed = is_kernel && soft_summary_wanted();
    const uint64_t begun = timed ? gphi_clock_ns() : 0;
    pthread_mutex_lock(&stream->mutex);
    CUresult result = submit_locked(stream, task);
    pthread_mutex_unlock(&stream->mutex);
    if (is_kernel && result == CUDA_SUCCESS) {
        atomic_fetch_add_explicit(&soft_counted.kernels_launched, 1,
                                  memory_order_relaxed);
        if (timed)
            atomic_fetch_add_explicit(&soft_counted.launch_host_ns,
                                      gphi_clock_ns() - begun, memory_order_relaxed);
        if (soft_launch_blocking())
            result = soft_stream_synchronize(stream);
    }
    return result;
}

void soft_capture_refuse_launch(soft_context *context, CUstream handle, bool per_thread,
                                CUresult code)
{
    soft_stream *stream;
    if (!is_default(handle) && !soft_handle_is(handle, SOFT_KIND_STREAM))
        return;
    if (find(context, handle, per_thread, &stream) == CUDA_SUCCESS &&
        soft_stream_captures(stream))
        soft_capture_get_hooks()->invalidate(stream, code);
}

/* Stream mutex held: what the stream waits for becomes a wait of `waits`, or of an empty
 * piece of work. */
static void add_order(soft_stream *stream, soft_point order[WAITS_MAX],
                      const soft_point **waits, uint32_t *wait_count)
{
    const uint32_t count = order_waits(stream, order);
    for (uint32_t i = 0; i < *wait_count; i++)
        soft_racing_after(stream, (*waits)[i]);
    if (count > 0 && *wait_count > 0) {
        (void)submit_empty(stream, order, count);
    } else if (count > 0) {
        *waits = order;
        *wait_count = count;
    }
}

CUresult soft_stream_launch(soft_stream *stream, const soft_launched *launch,
                            const soft_point *waits, uint32_t wait_count,
                            const soft_launch_frame *frame, soft_point *out)
{
    soft_point order[WAITS_MAX];
    gph_status status = GPH_OK;
    pthread_mutex_lock(&stream->mutex);
    add_order(stream, order, &waits, &wait_count);
    if (frame && frame->begin)
        frame->begin(frame->user, stream->queue);
    if (frame && frame->before) {
        status = soft_queue_submit(stream->queue, frame->before, waits, wait_count, NULL);
        wait_count = 0;
    }
    if (status == GPH_OK) {
        const uint64_t sequence =
            soft_queue_launch_kept(stream->queue, launch, waits, wait_count);
        *out = (soft_point){stream->queue, sequence};
        status = sequence == 0 ? GPH_E_STATE : GPH_OK;
    }
    if (status == GPH_OK && frame && frame->fence) {
        const soft_work empty = {.kind = SOFT_WORK_EMPTY};
        const soft_point all = soft_fence_arm(frame->fence);
        status = soft_queue_submit(stream->queue, &empty, &all, 1, out);
    }
    pthread_mutex_unlock(&stream->mutex);
    return taken(status);
}

static __attribute__((noinline)) bool waits_for_legacy(const soft_stream *stream)
{
    return !soft_point_reached(soft_queue_tail(legacy_of(stream)->queue));
}

/* One submission, so that the queue's own order is enough. */
uint64_t soft_stream_launch_plain(soft_stream *stream, const soft_launched *launch,
                                  soft_point after)
{
    if (is_behind_others(stream) ||
        (soft_stream_is_blocking(stream) && waits_for_legacy(stream)))
        return 0;
    return soft_queue_launch_after(stream->queue, launch, after);
}

CUresult soft_stream_call(soft_stream *stream, const soft_work *work,
                          const soft_point *waits, uint32_t wait_count)
{
    soft_point order[WAITS_MAX];
    pthread_mutex_lock(&stream->mutex);
    add_order(stream, order, &waits, &wait_count);
    const gph_status status =
        soft_queue_submit(stream->queue, work, waits, wait_count, NULL);
    pthread_mutex_unlock(&stream->mutex);
    return taken(status);
}

/* Whether a wait for the point needs no work of its own. Where races are looked for it always has
 * some, as what is recorded next is a point of the queue, and has to lie after the wait. */
static bool is_over(soft_point point)
{
    return !soft_racing() && soft_point_reached(point);
}

CUresult soft_stream_wait_point(soft_stream *stream, soft_point point)
{
    soft_racing_after(stream, point);
    if (is_over(point))
        return CUDA_SUCCESS;
    pthread_mutex_lock(&stream->mutex);
    const gph_status status = submit_empty(stream, &point, 1);
    pthread_mutex_unlock(&stream->mutex);
    return taken(status);
}

/* ---- waiting ----------------------------------------------------------------------- */

soft_point soft_stream_tail(soft_stream *stream)
{
    soft_point waits[WAITS_MAX];
    /* Synchronizing the legacy stream includes what it would wait for (R94). */
    if (is_behind_others(stream)) {
        pthread_mutex_lock(&stream->mutex);
        const uint32_t count = others_to_wait_for(stream, waits);
        if (count > 0)
            (void)submit_empty(stream, waits, count);
        pthread_mutex_unlock(&stream->mutex);
    }
    return soft_queue_tail(stream->queue);
}

/* The first point not reached that synchronizing the stream includes: its own tail, and
 * for the legacy stream the tails of all blocking streams (R94). NULL queue: all are
 * reached. */
static soft_point open_point(soft_stream *stream)
{
    soft_point open = soft_queue_tail(stream->queue);
    if (!soft_point_reached(open))
        return open;
    open = (soft_point){0};
    if (stream->kind != SOFT_STREAM_LEGACY)
        return open;
    soft_streams *streams = stream->context->streams;
    pthread_mutex_lock(&streams->mutex);
    for (soft_stream *s = streams->list; s && !open.queue; s = s->next) {
        const soft_point tail = soft_queue_tail(s->queue);
        if (soft_stream_is_blocking(s) && s->green == stream->green &&
            !soft_point_reached(tail))
            open = tail;
    }
    pthread_mutex_unlock(&streams->mutex);
    return open;
}

CUresult soft_stream_query(soft_stream *stream)
{
    SOFT_TRY(soft_context_check(stream->context));
    if (open_point(stream).queue)
        return CUDA_ERROR_NOT_READY;
    if (soft_racing())
        soft_racing_waited(soft_stream_tail(stream));
    return soft_context_check(stream->context);
}

CUresult soft_stream_synchronize(soft_stream *stream)
{
    soft_context *const context = stream->context;
    soft_point tail;
    if (is_behind_others(stream)) {
        tail = soft_stream_tail(stream);
        soft_point_wait(context->device->engine, tail);
    } else {
        tail = soft_queue_wait(stream->queue);
    }
    if (soft_racing())
        soft_racing_waited(tail);
    return soft_context_lives(context) ? CUDA_SUCCESS : soft_context_check(context);
}

CUresult soft_stream_wait(soft_context *context, CUstream handle, bool per_thread)
{
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    return soft_stream_synchronize(stream);
}

/* Waits for what was submitted before the call; what other threads go on submitting to
 * more than DRAIN_POINTS streams may be waited for, too. */
#define DRAIN_POINTS 64

/* `green`: only its streams; NULL: all. */
static void drain(soft_streams *streams, const soft_green *green)
{
    uint32_t count;
    if (soft_racing() && !green)
        soft_beside_waited_gone(soft_racing());
    do {
        soft_point open[DRAIN_POINTS]; /* stay valid when their streams go */
        count = 0;
        pthread_mutex_lock(&streams->mutex);
        for (soft_stream *s = streams->list; s && count < DRAIN_POINTS; s = s->next) {
            const soft_point tail = soft_queue_tail(s->queue);
            if (green && s->green != green)
                continue;
            soft_racing_waited(tail); /* it will have */
            if (!soft_point_reached(tail))
                open[count++] = tail;
        }
        pthread_mutex_unlock(&streams->mutex);
        for (uint32_t i = 0; i < count; i++)
            soft_point_wait(streams->context->device->engine, open[i]);
    } while (count == DRAIN_POINTS);
}

CUresult soft_streams_wait_seen(soft_current seen)
{
    if (seen.context->streams)
        drain(seen.context->streams, seen.green);
    return soft_context_check(seen.context);
}

CUresult soft_streams_wait(soft_context *context)
{
    return soft_streams_wait_seen((soft_current){context, NULL});
}

CUresult soft_streams_gather(soft_current seen, soft_stream **out)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    SOFT_TRY(soft_capture_check_context(seen));
    soft_stream **gather =
        seen.green ? &seen.green->gather : &seen.context->streams->gather;
    pthread_mutex_lock(&once);
    CUresult result = CUDA_SUCCESS;
    if (!*gather)
        result = make_stream(seen, SOFT_STREAM_GATHER, CU_STREAM_NON_BLOCKING, 0, gather);
    *out = *gather;
    pthread_mutex_unlock(&once);
    return result;
}

CUresult soft_streams_wait_point(soft_current seen, soft_point point)
{
    soft_streams *streams = seen.context->streams;
    gph_status status = GPH_OK;
    pthread_mutex_lock(&streams->mutex);
    for (soft_stream *s = streams->list; s && soft_racing(); s = s->next)
        if (!seen.green || s->green == seen.green)
            soft_racing_after(s, point);
    for (soft_stream *s = streams->list; s && !is_over(point); s = s->next)
        if (!seen.green || s->green == seen.green)
            status = status ? status : submit_empty(s, &point, 1);
    pthread_mutex_unlock(&streams->mutex);
    return taken(status);
}

CUresult soft_capture_check_stream(soft_context *context, CUstream handle,
                                   bool per_thread)
{
    soft_stream *stream;
    return soft_capture_is_open() ? soft_stream_find(context, handle, per_thread, &stream)
                                  : CUDA_SUCCESS;
}

CUresult soft_capture_check_context(soft_current context)
{
    return soft_capture_is_open() ? soft_capture_get_hooks()->context(context)
                                  : CUDA_SUCCESS;
}

CUresult soft_stream_queue(soft_context *context, CUstream handle, bool per_thread,
                           soft_queue **out, bool *capturing)
{
    soft_stream *stream;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    *capturing = soft_stream_captures(stream);
    *out = stream->queue;
    return CUDA_SUCCESS;
}
