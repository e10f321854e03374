// SPDX-License-Identifier: Apache-2.0
/* Captures: who is in them, by which wait, and what was captured after what.
 *
 *   capture.nodes  0 <- 1 <- 3      in order; deps point to earlier ones
 *                    \- 2           a stream's front: its last nodes, {3}, {2}
 *
 * An event of a capture keeps the front it was recorded at; a wait adds it to the front
 * of the stream that waits; a node follows its stream's front and becomes it. */
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/model/call_kinds.h"
#include "doctor/model/model_state.h"

#include <stdio.h>
#include <string.h>

enum {
    ACTIVE = CU_STREAM_CAPTURE_STATUS_ACTIVE,
    INVALIDATED = CU_STREAM_CAPTURE_STATUS_INVALIDATED,
    NOT_ASKED = 0xFF,
    EXTERNAL = 1, /* of waits and records: a node, no edge */
    SET_DEPENDENCIES = 1
};

static model_capture *own_of(gphi_capture *capture)
{
    return (model_capture *)capture;
}

gph_status gphi_front_add(model_front *front, uint32_t node)
{
    const uint32_t *at = front->items;
    for (size_t i = 0; i < front->count; i++)
        if (at[i] == node)
            return GPH_OK;
    return gphi_vec_push(front, &node);
}

static gph_status front_join(model_front *front, const model_front *from)
{
    for (size_t i = 0; i < from->count; i++)
        GPHI_TRY(gphi_front_add(front, *(uint32_t *)gphi_vec_at(from, i)));
    return GPH_OK;
}

void gphi_capture_clear(gphi_model *model, void *item)
{
    model_capture *capture = item;
    for (size_t i = 0; i < model->own->open.count; i++) {
        void **at = gphi_vec_at(&model->own->open, i);
        if (*at == item)
            *at = gphi_vec_pointer(&model->own->open, --model->own->open.count);
    }
    gphi_vec_fini(&capture->seen.members);
    gphi_vec_fini(&capture->seen.calls);
    gphi_vec_fini(&capture->seen.failures);
    gphi_vec_fini(&capture->seen.regions);
    gphi_vec_fini(&capture->nodes);
    gphi_vec_fini(&capture->deps);
    gphi_map_fini(&capture->by_handle);
}

static gphi_capture_member *member_of(const gphi_capture *capture,
                                      const gphi_stream *stream)
{
    gphi_capture_member *members = capture->members.items;
    for (size_t i = 0; i < capture->members.count; i++)
        if (members[i].stream == stream)
            return &members[i];
    return NULL;
}

/* ---- streams in and out ---- */

static gph_status join(gphi_capture *capture, model_stream *stream, const gphi_call *by)
{
    stream->seen.capture = capture;
    stream->front.count = 0;
    if (member_of(capture, &stream->seen))
        return GPH_OK;
    const gphi_capture_member member = {.stream = &stream->seen,
                                        .joined = *by,
                                        .last_index = UINT32_MAX,
                                        .is_origin = &stream->seen == capture->origin};
    return gphi_vec_push(&capture->members, &member);
}

static gphi_capture *open_capture(gphi_model *model, uint64_t id, model_stream *origin,
                                  uint32_t thread)
{
    model_capture *capture = gphi_table_add(model, &model->own->captures);
    if (!capture)
        return NULL;
    gphi_capture *seen = &capture->seen;
    seen->id = id;
    seen->thread = thread;
    seen->origin = &origin->seen;
    gphi_vec_init(&seen->members, model->heap, sizeof(gphi_capture_member));
    gphi_vec_init(&seen->calls, model->heap, sizeof(gphi_call));
    gphi_vec_init(&seen->failures, model->heap, sizeof(gphi_call));
    gphi_vec_init(&seen->regions, model->heap, sizeof(gphi_region));
    gphi_vec_init(&capture->nodes, model->heap, sizeof(model_node));
    gphi_vec_init(&capture->deps, model->heap, sizeof(uint32_t));
    gphi_map_init(&capture->by_handle, model->heap);
    if (gphi_vec_push(&model->own->open, &capture) != GPH_OK)
        return NULL;
    if (gphi_table_name(&model->own->captures, id, capture) != GPH_OK) {
        model->own->open.count--;
        return NULL;
    }
    seen->is_open = true;
    return seen;
}

static void close_capture(gphi_model *model, gphi_capture *capture)
{
    gphi_capture_member *members = capture->members.items;
    for (size_t i = 0; i < capture->members.count; i++) {
        if (members[i].stream->capture != capture)
            continue;
        members[i].stream->capture = NULL;
        ((model_stream *)members[i].stream)->front.count = 0;
    }
    capture->is_open = false;
    gphi_thread *thread = gphi_thread_of(model, capture->thread);
    if (thread && thread->open_captures > 0)
        thread->open_captures--;
    gphi_vec *open = &model->own->open;
    for (size_t i = 0; i < open->count; i++)
        if (*(void **)gphi_vec_at(open, i) == (void *)capture)
            *(void **)gphi_vec_at(open, i) = gphi_vec_pointer(open, --open->count);
}

/* ---- nodes ---- */

static gph_status add_node(model_capture *capture, uint64_t handle,
                           const model_front *front, uint32_t *index)
{
    GPHI_TRY(gphi_vec_reserve(&capture->nodes, 1));
    GPHI_TRY(gphi_vec_reserve(&capture->deps, front->count + 1));
    *index = (uint32_t)capture->nodes.count;
    if (handle != 0)
        GPHI_TRY(gphi_map_set(&capture->by_handle, handle, *index));
    model_node *node = gphi_vec_add(&capture->nodes, 1);
    node->handle = handle;
    node->first_dep = (uint32_t)capture->deps.count;
    node->dep_count = (uint32_t)front->count;
    uint32_t *deps = front->count > 0 ? gphi_vec_add(&capture->deps, front->count) : NULL;
    for (size_t i = 0; i < front->count; i++)
        deps[i] = *(uint32_t *)gphi_vec_at(front, i);
    return GPH_OK;
}

static gph_status captured(gphi_seen *seen, model_stream *stream)
{
    gphi_capture *capture = stream->seen.capture;
    uint32_t index = 0;
    GPHI_TRY(add_node(own_of(capture), seen->call.node, &stream->front, &index));
    stream->front.count = 0;
    GPHI_TRY(gphi_front_add(&stream->front, index));
    GPHI_TRY(gphi_vec_push(&capture->calls, &seen->call));
    gphi_capture_member *member = member_of(capture, &stream->seen);
    if (member) {
        member->last_work = seen->call;
        member->last_index = index;
        member->node_count++;
    }
    return GPH_OK;
}

/* cuStreamUpdateCaptureDependencies: nodes that the graph API has added count as coming
 * after all that the stream has captured. */
static gph_status change_front(gphi_seen *seen, model_stream *stream)
{
    model_capture *capture = own_of(stream->seen.capture);
    const uint64_t count = gphi_event_word(seen->event, 3);
    const uint64_t *nodes =
        gphi_bytes_of(seen->event, GPHI_PART_ARRAY, 1, count < 65536 ? count * 8 : 0);
    if (!nodes || count >= 65536)
        return GPH_OK;
    model_front before = stream->front;
    gphi_vec_init(&stream->front, before.heap, sizeof(uint32_t));
    gph_status status = GPH_OK;
    if (gphi_event_word(seen->event, 4) != SET_DEPENDENCIES)
        status = front_join(&stream->front, &before);
    for (uint64_t i = 0; i < count && status == GPH_OK; i++) {
        const uint64_t *known = gphi_map_get(&capture->by_handle, nodes[i]);
        uint32_t index = known ? (uint32_t)*known : 0;
        if (!known)
            status = add_node(capture, nodes[i], &before, &index);
        GPHI_THEN(status, gphi_front_add(&stream->front, index));
    }
    gphi_vec_fini(&before);
    return status;
}

/* What goes on where a capture has ended, as libgph's does after a body, is in the regions that
 * were open there. */
static gph_status go_on_in_regions(const gphi_model *model, gphi_capture *capture)
{
    const gphi_graph_state *graph = gphi_model_graph(model, capture->graph);
    const gphi_capture *before = graph && graph->is_alive ? graph->capture : NULL;
    for (size_t i = 0; before && before != capture && i < before->regions.count; i++)
        GPHI_TRY(gphi_vec_push(&capture->regions, gphi_vec_at(&before->regions, i)));
    return GPH_OK;
}

/* ---- begin and end ---- */

static gph_status begin(gphi_model *model, gphi_seen *seen, model_stream *stream)
{
    const bool is_to_graph = gphi_seen_is(seen, GPHI_CALL_cuStreamBeginCaptureToGraph);
    const uint64_t id = seen->call.capture != 0 ? seen->call.capture
                                                : seen->call.number | UINT64_C(1) << 63;
    if (stream->seen.capture) /* its end was lost */
        close_capture(model, stream->seen.capture);
    gphi_capture *capture = open_capture(model, id, stream, seen->call.thread);
    if (!capture)
        return GPH_E_NO_MEMORY;
    gphi_thread *thread = gphi_thread_of(model, seen->call.thread);
    if (thread)
        thread->open_captures++;
    capture->begin = seen->call;
    capture->mode = (uint32_t)gphi_event_word(seen->event, is_to_graph ? 5 : 1);
    capture->is_to_graph = is_to_graph;
    capture->graph = is_to_graph ? gphi_event_word(seen->event, 1) : 0;
    if (is_to_graph)
        GPHI_TRY(go_on_in_regions(model, capture));
    return join(capture, stream, &seen->call);
}

/* Which nodes the origin's front follows, itself included; deps point backwards. */
static gph_status find_joined(gphi_model *model, gphi_capture *capture)
{
    model_capture *own = own_of(capture);
    const size_t count = own->nodes.count;
    const model_front *front = &((const model_stream *)capture->origin)->front;
    bool *reached = gphi_heap_alloc(model->heap, count + 1);
    if (!reached)
        return GPH_E_NO_MEMORY;
    for (size_t i = 0; i < front->count; i++)
        reached[*(uint32_t *)gphi_vec_at(front, i)] = true;
    for (size_t i = count; i-- > 0;) {
        const model_node *node = gphi_vec_at(&own->nodes, i);
        for (uint32_t d = 0; reached[i] && d < node->dep_count; d++)
            reached[*(uint32_t *)gphi_vec_at(&own->deps, node->first_dep + d)] = true;
    }
    gphi_capture_member *members = capture->members.items;
    for (size_t i = 0; i < capture->members.count; i++)
        members[i].is_joined =
            members[i].last_index >= count || reached[members[i].last_index];
    gphi_heap_free(model->heap, reached, count + 1);
    return GPH_OK;
}

static bool is_over(const gphi_seen *seen)
{
    switch (seen->call.result) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD: /* it is over all the same */
        return true;
    default: return false;
    }
}

static gph_status end(gphi_model *model, gphi_seen *seen, model_stream *stream)
{
    gphi_capture *capture = stream->seen.capture;
    if (!capture || capture->origin != &stream->seen || !is_over(seen))
        return GPH_OK;
    GPHI_TRY(find_joined(model, capture));
    capture->end = seen->call;
    if (seen->call.result == 0)
        capture->graph = gphi_event_word(seen->event, 1);
    close_capture(model, capture);
    return GPH_OK;
}

/* ---- events ---- */

static gph_status record_event(gphi_model *model, gphi_seen *seen, model_stream *stream,
                               model_event *event)
{
    const bool is_external = gphi_seen_is(seen, GPHI_CALL_cuEventRecordWithFlags) &&
                             (gphi_event_word(seen->event, 2) & EXTERNAL) != 0;
    event->seen.recorded = seen->call;
    event->seen.recorded_on = &stream->seen;
    event->seen.recorded_in = is_external ? NULL : stream->seen.capture;
    event->seen.after = model->work_count;
    event->seen.is_edge = false;
    event->front.count = 0;
    if (event->seen.recorded_in)
        return front_join(&event->front, &stream->front);
    if (stream->seen.capture) /* recorded when the graph runs */
        return GPH_OK;
    event->seen.after = gphi_lane_last(model, stream);
    return gphi_lane_now(model, stream, &event->clock);
}

static gph_status wait_event(gphi_model *model, gphi_seen *seen, model_stream *stream,
                             model_event *event)
{
    gphi_capture *of = event->seen.recorded_in;
    if ((gphi_event_word(seen->event, 2) & EXTERNAL) != 0)
        return GPH_OK;
    if (!of || !of->is_open) {
        if (stream->seen.capture)
            return GPH_OK;
        stream->seen.waited = seen->call;
        stream->seen.waited_for = event->seen.recorded;
        stream->seen.recorded_on = event->seen.recorded_on;
        return gphi_lane_wait(model, stream, event->clock);
    }
    event->seen.is_edge = true;
    if (stream->seen.capture != of)
        GPHI_TRY(join(of, stream, &seen->call));
    return front_join(&stream->front, &event->front);
}

static gph_status event_call(gphi_model *model, gphi_seen *seen, model_stream *stream)
{
    const model_signature *has = &model->own->calls[seen->call.call];
    if (has->event < 0)
        return GPH_OK;
    model_event *event = gphi_table_find(
        &model->own->events, gphi_event_word(seen->event, (uint32_t)has->event));
    if (!event)
        return GPH_OK;
    if (gphi_seen_is(seen, GPHI_CALL_cuEventRecord) ||
        gphi_seen_is(seen, GPHI_CALL_cuEventRecordWithFlags))
        return record_event(model, seen, stream, event);
    if (gphi_seen_is(seen, GPHI_CALL_cuStreamWaitEvent))
        return wait_event(model, seen, stream, event);
    return GPH_OK;
}

/* ---- regions ---- */

gph_status gphi_capture_region(gphi_model *model, const gphi_event *event)
{
    const gphi_stream *stream =
        gphi_model_stream(model, gphi_event_word(event, 0), event->thread, false);
    gphi_capture *capture = stream ? stream->capture : NULL;
    if (!capture)
        return GPH_OK;
    if (gphi_event_word(event, 1) != 0) {
        gphi_region begun = {.after = model->call_count};
        snprintf(begun.name, sizeof(begun.name), "%s", gphi_event_text(event, 0));
        return gphi_vec_push(&capture->regions, &begun);
    }
    for (size_t i = capture->regions.count; i-- > 0;) {
        gphi_region *open = gphi_vec_at(&capture->regions, i);
        if (open->until == 0) {
            open->until = model->call_count;
            break;
        }
    }
    return GPH_OK;
}

const char *gphi_snapshot_region(const gphi_snapshot *snapshot, uint32_t index)
{
    const gphi_capture *capture = snapshot ? snapshot->capture : NULL;
    const uint64_t number = gphi_snapshot_made(snapshot, index)->number;
    for (size_t i = capture && number != 0 ? capture->regions.count : 0; i-- > 0;) {
        const gphi_region *region = gphi_vec_at(&capture->regions, i);
        if (region->after < number && (region->until == 0 || number <= region->until))
            return region->name;
    }
    return NULL;
}

/* ---- failures ---- */

/* What fails without breaking the capture: work silently missing. */
static bool drops_silently(uint32_t call)
{
    return call == GPHI_CALL_cuMemcpyBatchAsync || call == GPHI_CALL_cuMemcpy3DBatchAsync;
}

bool gphi_capture_is_blocking(const gphi_capture *capture)
{
    const gphi_capture_member *members = capture->members.items;
    for (size_t i = 0; i < capture->members.count; i++)
        if (members[i].stream->is_blocking)
            return true;
    return false;
}

static bool concerns(const gphi_seen *seen, const gphi_capture *capture)
{
    enum { GLOBAL = 0, RELAXED = 2 };
    const uint32_t own_mode = (seen->call.flags >> GPHI_CALL_MODE_SHIFT) & 3;
    if (seen->capture)
        return seen->capture == capture;
    switch (seen->call.result) {
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: return gphi_capture_is_blocking(capture);
    /* an unsafe call, of the thread that captures or of another */
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        if (gphi_seen_is(seen, GPHI_CALL_cuCtxSynchronize))
            return true;
        if (own_mode == RELAXED || capture->mode == RELAXED)
            return false;
        return seen->call.thread == capture->thread ||
               (capture->mode == GLOBAL && own_mode == GLOBAL);
    default: return false;
    }
}

static gph_status note_failure(gphi_capture *capture, const gphi_seen *seen)
{
    GPHI_TRY(gphi_vec_push(&capture->failures, &seen->call));
    const bool is_broken = seen->call.status == INVALIDATED ||
                           (seen->call.status != ACTIVE &&
                            seen->call.result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
                            seen->call.result <= CUDA_ERROR_CAPTURED_EVENT &&
                            !drops_silently(seen->call.call) &&
                            !gphi_seen_is(seen, GPHI_CALL_cuStreamBeginCapture));
    if (is_broken && capture->invalidated.number == 0)
        capture->invalidated = seen->call;
    return GPH_OK;
}

static gph_status note_failures(gphi_model *model, const gphi_seen *seen)
{
    for (size_t i = 0; i < model->own->open.count; i++) {
        gphi_capture *capture = gphi_vec_pointer(&model->own->open, i);
        if (concerns(seen, capture) && capture->failures.count < 4096)
            GPHI_TRY(note_failure(capture, seen));
    }
    return GPH_OK;
}

/* ---- the call ---- */

/* Puts right what lost records have made wrong. */
static gph_status believe_driver(gphi_model *model, gphi_seen *seen, model_stream *stream)
{
    const gphi_call *call = &seen->call;
    if (call->status == NOT_ASKED)
        return GPH_OK;
    if (call->status == 0) {
        if (stream->seen.capture && stream->seen.capture->begin.number != 0)
            close_capture(model, stream->seen.capture);
        return GPH_OK;
    }
    if (call->capture == 0 ||
        (stream->seen.capture && stream->seen.capture->id == call->capture))
        return GPH_OK;
    gphi_capture *capture = gphi_model_capture(model, call->capture);
    if (!capture || !capture->is_open)
        capture = open_capture(model, call->capture, stream, call->thread);
    return capture ? join(capture, stream, call) : GPH_E_NO_MEMORY;
}

gph_status gphi_capture_call(gphi_model *model, gphi_seen *seen)
{
    model_stream *stream = (model_stream *)seen->stream;
    const bool is_begin = gphi_call_is_begin(seen->call.call);
    const bool is_end = gphi_seen_is(seen, GPHI_CALL_cuStreamEndCapture);
    const model_what what = (model_what)model->own->calls[seen->call.call].what;
    if (seen->call.result != 0)
        GPHI_TRY(note_failures(model, seen));
    if (!stream)
        return GPH_OK;
    if (is_end)
        return end(model, seen, stream);
    if (is_begin && seen->call.result == 0)
        return begin(model, seen, stream);
    if (seen->call.result == 0)
        GPHI_TRY(event_call(model, seen, stream));
    if (!is_begin)
        GPHI_TRY(believe_driver(model, seen, stream));
    if (!stream->seen.capture || seen->call.result != 0)
        return GPH_OK;
    if (gphi_seen_is(seen, GPHI_CALL_cuStreamUpdateCaptureDependencies))
        return change_front(seen, stream);
    if (what == WHAT_WORK || seen->call.node != 0)
        return captured(seen, stream);
    return GPH_OK;
}
