// SPDX-License-Identifier: Apache-2.0
/* What a call puts on its stream, and what the host waits for. */
#include "base/fail.h"
#include "base/text.h"
#include "doctor/model/call_kinds.h"
#include "doctor/model/model_state.h"

#include <string.h>

/* ---- what it reads and writes ---- */

/* From the first byte of a side to after its last; 0 where nothing is copied. */
static uint64_t span_of(const CUDA_MEMCPY2D *copy, size_t pitch)
{
    return copy->Height > 0 ? (copy->Height - 1) * pitch + copy->WidthInBytes : 0;
}

static void read_copy_2d(const CUDA_MEMCPY2D *copy, gphi_work *out)
{
    if (copy->srcMemoryType == CU_MEMORYTYPE_HOST)
        out->host = (uint64_t)(uintptr_t)copy->srcHost;
    else if (copy->srcMemoryType != CU_MEMORYTYPE_ARRAY) {
        out->read = copy->srcDevice + copy->srcY * copy->srcPitch + copy->srcXInBytes;
        out->read_bytes = span_of(copy, copy->srcPitch);
    }
    if (copy->dstMemoryType == CU_MEMORYTYPE_HOST)
        out->host = (uint64_t)(uintptr_t)copy->dstHost;
    else if (copy->dstMemoryType != CU_MEMORYTYPE_ARRAY) {
        out->write = copy->dstDevice + copy->dstY * copy->dstPitch + copy->dstXInBytes;
        out->write_bytes = span_of(copy, copy->dstPitch);
    }
}

static void read_copy(const char *name, const gphi_event *event, gphi_work *out)
{
    const uint64_t to = gphi_event_word(event, 0), from = gphi_event_word(event, 1);
    const uint64_t bytes = gphi_event_word(event, 2);
    if (gphi_text_begins(name, "cuMemcpy2D")) {
        const CUDA_MEMCPY2D *copy =
            gphi_bytes_of(event, GPHI_PART_STRUCT, 0, sizeof(*copy));
        if (copy)
            read_copy_2d(copy, out);
        return;
    }
    if (gphi_text_begins(name, "cuMemcpy3D") || gphi_text_begins(name, "cuMemcpyBatch") ||
        strpbrk(name + strlen("cuMemcpy"), "A") == name + strlen("cuMemcpy"))
        if (!gphi_text_begins(name, "cuMemcpyAsync"))
            return;
    const bool from_host = gphi_text_begins(name, "cuMemcpyHto"),
               to_host = strstr(name, "toH");
    const bool is_peer = gphi_text_begins(name, "cuMemcpyPeer");
    if (to_host || from_host)
        out->host = to_host ? to : from;
    if (!to_host && !strstr(name, "toA")) {
        out->write = to;
        out->write_bytes = is_peer ? gphi_event_word(event, 4) : bytes;
    }
    if (!from_host) {
        out->read = is_peer ? bytes : from;
        out->read_bytes = is_peer ? gphi_event_word(event, 4) : bytes;
    }
}

static void read_fill(const char *name, const gphi_event *event, gphi_work *out)
{
    const bool is_2d = gphi_text_begins(name, "cuMemsetD2D");
    const char *digits = name + strlen(is_2d ? "cuMemsetD2D" : "cuMemsetD");
    const uint64_t size = digits[0] == '8' ? 1 : digits[0] == '1' ? 2 : 4;
    out->write = gphi_event_word(event, 0);
    if (!is_2d) {
        out->write_bytes = gphi_event_word(event, 2) * size;
        return;
    }
    const uint64_t rows = gphi_event_word(event, 4);
    if (rows > 0)
        out->write_bytes =
            (rows - 1) * gphi_event_word(event, 1) + gphi_event_word(event, 3) * size;
}

bool gphi_work_ranges(const gphi_event *event, gphi_work *out)
{
    const char *name = gphi_call_name(event->u.call.call);
    const bool is_copy = gphi_text_begins(name, "cuMemcpy");
    const bool is_fill = gphi_text_begins(name, "cuMemset");
    if (is_copy)
        read_copy(name, event, out);
    if (is_fill)
        read_fill(name, event, out);
    return is_copy || is_fill;
}

/* ---- graphs on a stream ---- */

/* Events that the graph waits for, before; that it records, after. */
static gph_status graph_events(gphi_model *model, const gphi_seen *seen, bool is_after)
{
    const gphi_exec_state *exec = seen->exec;
    model_stream *stream = (model_stream *)seen->stream;
    if (!exec->source || !exec->source->has_events)
        return GPH_OK;
    const gph_graph *graph = exec->source->data;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != (is_after ? GPH_NODE_EVENT_RECORD : GPH_NODE_EVENT_WAIT))
            continue;
        model_event *event = gphi_table_find(&model->own->events, node->u.event.event);
        if (!event)
            continue;
        if (!is_after) {
            GPHI_TRY(gphi_lane_wait(model, stream, event->clock));
            continue;
        }
        event->seen.recorded = seen->call;
        event->seen.recorded_on = seen->stream;
        event->seen.recorded_in = NULL;
        event->seen.after = seen->work->number;
        GPHI_TRY(gphi_lane_now(model, stream, &event->clock));
    }
    return GPH_OK;
}

/* The last launch of the executable, where only the executable orders the two. */
static uint64_t other_launch(gphi_model *model, model_stream *stream,
                             const gphi_exec_state *exec)
{
    if (exec->launches.count == 0)
        return 0;
    const gphi_launch *last = gphi_vec_at(&exec->launches, exec->launches.count - 1);
    return gphi_lane_has(model, stream, last->work) ? 0 : last->work;
}

gph_status gphi_submit(gphi_model *model, gphi_seen *seen)
{
    const model_what what = (model_what)model->own->calls[seen->call.call].what;
    model_stream *stream = (model_stream *)seen->stream;
    if (!stream || seen->call.result != 0 ||
        (what != WHAT_WORK && what != WHAT_SYNC_WORK))
        return GPH_OK;
    gphi_work work = {.call = seen->call, .is_captured = seen->capture};
    (void)gphi_work_ranges(seen->event, &work);
    if (gphi_call_is_kernel(seen->call.call))
        work.function = gphi_launched_kernel(model, seen->event);
    model_exec *exec = NULL;
    if (seen->call.call == GPHI_CALL_cuGraphLaunch && !work.is_captured)
        exec = gphi_table_find(&model->own->execs, gphi_event_word(seen->event, 0));
    if (exec) {
        work.exec = &exec->seen;
        seen->exec = &exec->seen;
        work.waits_for = other_launch(model, stream, &exec->seen);
        GPHI_TRY(gphi_lane_wait(model, stream, exec->clock));
        GPHI_TRY(graph_events(model, seen, false));
    }
    GPHI_TRY(gphi_work_add(model, stream, &work, &seen->work));
    if (work.is_captured)
        return GPH_OK;
    stream->seen.last_work = seen->call;
    stream->seen.work_count++;
    if (!exec)
        return GPH_OK;
    GPHI_TRY(gphi_lane_now(model, stream, &exec->clock));
    return graph_events(model, seen, true);
}

/* ---- waits of the host ---- */

/* Copies to host memory that the driver does not know as pinned return when done. */
static bool ends_at_host(const gphi_model *model, const gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    const gphi_work *work = seen->work;
    if (!gphi_text_begins(name, "cuMemcpy") || !work)
        return false;
    const uint64_t to = strstr(name, "toH")                       ? work->host
                        : gphi_text_begins(name, "cuMemcpyAsync") ? work->write
                                                                  : 0;
    return to != 0 && !gphi_model_memory(model, to, false);
}

static bool is_device_only(const char *name)
{
    return gphi_text_begins(name, "cuMemset") || gphi_text_begins(name, "cuMemcpyDtoD") ||
           gphi_text_begins(name, "cuMemcpyPeer");
}

gph_status gphi_synchronize(gphi_model *model, const gphi_seen *seen)
{
    model_stream *stream = (model_stream *)seen->stream;
    const model_signature *has = &model->own->calls[seen->call.call];
    if (seen->call.result != 0 || seen->capture)
        return GPH_OK;
    switch ((model_what)has->what) {
    case WHAT_CONTEXT_SYNC: return gphi_host_wait_all(model);
    case WHAT_STREAM_SYNC: return stream ? gphi_host_wait_stream(model, stream) : GPH_OK;
    case WHAT_EVENT_SYNC:
        for (uint32_t i = 0; i < seen->event->word_count; i++) {
            const model_event *event =
                gphi_table_find(&model->own->events, gphi_event_word(seen->event, i));
            if (event)
                GPHI_TRY(gphi_host_wait_clock(model, event->clock));
        }
        return GPH_OK;
    case WHAT_SYNC_WORK:
        if (!stream || is_device_only(gphi_call_name(seen->call.call)))
            return GPH_OK;
        return gphi_host_wait_stream(model, stream);
    case WHAT_WORK:
        return stream && ends_at_host(model, seen) ? gphi_host_wait_stream(model, stream)
                                                   : GPH_OK;
    default: return GPH_OK;
    }
}
