// SPDX-License-Identifier: Apache-2.0
/* The way of a record through the model. */
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "doctor/model/model_state.h"

#include <stdio.h>
#include <string.h>

enum { NON_BLOCKING = 1 };

static uint32_t word32(const gphi_event *event, uint32_t index)
{
    return (uint32_t)gphi_event_word(event, index);
}

/* ---- streams and events ---- */

static gph_status stream_made(gphi_model *model, const gphi_seen *seen, uint32_t flags,
                              int32_t priority)
{
    const uint64_t handle = gphi_event_word(seen->event, 0);
    if (handle <= 2)
        return GPH_OK;
    model_stream *old = gphi_table_find(&model->own->streams, handle);
    if (old && old->seen.is_alive) /* its end was lost */
        old->seen.is_alive = false;
    gphi_map_remove(&model->own->streams.by_handle, handle);
    model_stream *stream = gphi_stream_of(model, handle, 0, false);
    if (!stream)
        return GPH_E_NO_MEMORY;
    stream->seen.created = seen->call;
    stream->seen.context = seen->call.context;
    stream->seen.is_blocking = (flags & NON_BLOCKING) == 0;
    stream->seen.priority = priority;
    return GPH_OK;
}

static gph_status event_made(gphi_model *model, const gphi_seen *seen)
{
    const uint64_t handle = gphi_event_word(seen->event, 0);
    model_event *old = gphi_table_find(&model->own->events, handle);
    if (old)
        old->seen.is_alive = false;
    model_event *event = gphi_table_add(model, &model->own->events);
    if (!event)
        return GPH_E_NO_MEMORY;
    gphi_vec_init(&event->front, model->heap, sizeof(uint32_t));
    event->seen.handle = handle;
    event->seen.is_alive = true;
    event->seen.created = seen->call;
    return gphi_table_name(&model->own->events, handle, event);
}

static gph_status life_call(gphi_model *model, const gphi_seen *seen)
{
    const gphi_event *event = seen->event;
    if (seen->call.result != 0)
        return GPH_OK;
    switch (seen->call.call) {
    case GPHI_CALL_cuStreamCreate: return stream_made(model, seen, word32(event, 1), 0);
    case GPHI_CALL_cuStreamCreateWithPriority:
        return stream_made(model, seen, word32(event, 1), (int32_t)word32(event, 2));
    case GPHI_CALL_cuGreenCtxStreamCreate:
        return stream_made(model, seen, word32(event, 2), (int32_t)word32(event, 3));
    case GPHI_CALL_cuStreamDestroy:
        if (seen->stream) {
            seen->stream->is_alive = false;
            seen->stream->destroyed = seen->call;
        }
        return GPH_OK;
    case GPHI_CALL_cuModuleGetFunction:
    case GPHI_CALL_cuLibraryGetKernel:
    case GPHI_CALL_cuLibraryGetModule:
    case GPHI_CALL_cuKernelGetFunction:
        return gphi_map_set(&model->own->code, gphi_event_word(event, 0),
                            gphi_event_word(event, 1));
    case GPHI_CALL_cuEventCreate: return event_made(model, seen);
    case GPHI_CALL_cuEventDestroy: {
        model_event *of = gphi_table_find(&model->own->events, gphi_event_word(event, 0));
        if (of)
            of->seen.is_alive = false;
        return GPH_OK;
    }
    default: return GPH_OK;
    }
}

/* ---- calls ---- */

static gph_status find_stream(gphi_model *model, gphi_seen *seen)
{
    const gphi_event *event = seen->event;
    const model_signature *has = &model->own->calls[seen->call.call];
    const bool per_thread = (seen->call.flags & GPHI_CALL_PER_THREAD) != 0;
    uint64_t handle = 0;
    if (has->stream >= 0) {
        handle = gphi_event_word(event, (uint32_t)has->stream);
    } else if (seen->call.call == GPHI_CALL_cuLaunchKernelEx) {
        const CUlaunchConfig *config =
            gphi_bytes_of(event, GPHI_PART_STRUCT, 0, sizeof(*config));
        if (!config)
            return GPH_OK;
        handle = (uint64_t)(uintptr_t)config->hStream;
    } else if (has->what != WHAT_SYNC_WORK) {
        return GPH_OK;
    }
    seen->stream = gphi_model_stream(model, handle, seen->call.thread, per_thread);
    if (seen->stream || (seen->call.result != 0 && handle > 2))
        return GPH_OK;
    model_stream *stream = gphi_stream_of(model, handle, seen->call.thread, per_thread);
    seen->stream = stream ? &stream->seen : NULL;
    return stream ? GPH_OK : GPH_E_NO_MEMORY;
}

static void begin_seen(gphi_model *model, const gphi_event *event, gphi_seen *seen)
{
    seen->event = event;
    seen->call = (gphi_call){.number = ++model->call_count,
                             .time_ns = event->time_ns,
                             .node = event->id,
                             .capture = event->u.call.capture,
                             .call = event->u.call.call,
                             .thread = event->thread,
                             .stack = event->stack,
                             .result = event->u.call.result,
                             .duration_ns = event->u.call.duration_ns,
                             .flags = event->u.call.flags,
                             .status = event->u.call.status};
    seen->host_node = (event->u.call.flags & GPHI_CALL_HOST_NODE) != 0;
}

/* Of a call that never returned nobody knows what it did: nothing changes. */
static void feed_unreturned(gphi_model *model, const gphi_event *event, gphi_seen *seen)
{
    begin_seen(model, event, seen);
    const model_signature *has = &model->own->calls[seen->call.call];
    if (has->stream >= 0)
        seen->stream = gphi_model_stream(
            model, gphi_event_word(event, (uint32_t)has->stream), seen->call.thread,
            (seen->call.flags & GPHI_CALL_PER_THREAD) != 0);
    seen->capture = seen->stream ? seen->stream->capture : NULL;
    if (has->exec >= 0)
        seen->exec = gphi_model_exec(model, gphi_event_word(event, (uint32_t)has->exec));
}

static gph_status feed_call(gphi_model *model, const gphi_event *event, gphi_seen *seen)
{
    if (event->u.call.call >= GPHI_CALL_COUNT)
        return GPH_OK;
    if ((event->u.call.flags & GPHI_CALL_UNRETURNED) != 0) {
        feed_unreturned(model, event, seen);
        return GPH_OK;
    }
    begin_seen(model, event, seen);
    GPHI_TRY(find_stream(model, seen));
    seen->capture = seen->stream ? seen->stream->capture : NULL;
    GPHI_TRY(gphi_context_call(model, seen));
    GPHI_TRY(life_call(model, seen));
    GPHI_TRY(gphi_snapshot_done(model, event->thread));
    GPHI_TRY(gphi_submit(model, seen));
    GPHI_TRY(gphi_capture_call(model, seen));
    GPHI_TRY(gphi_graph_call(model, seen));
    GPHI_TRY(gphi_memory_call(model, seen));
    GPHI_TRY(gphi_synchronize(model, seen));
    return gphi_snapshot_name(model);
}

/* ---- other records ---- */

static bool same_function(const gphi_function *known, const gphi_event *event)
{
    if (!known || strcmp(known->name, gphi_event_text(event, 0)) != 0 ||
        known->arg_count != event->word_count / 2U)
        return false;
    for (uint32_t i = 0; i < known->arg_count; i++)
        if (known->args[i].offset != word32(event, 2 * i) ||
            known->args[i].bytes != word32(event, 2 * i + 1))
            return false;
    return true;
}

/* Of name and arguments. */
static uint64_t alike_hash(const gphi_function *function)
{
    uint64_t hash = gphi_hash_text(GPHI_HASH_START, function->name);
    for (uint32_t i = 0; i < function->arg_count; i++) {
        hash = gphi_hash_word(hash, function->args[i].offset);
        hash = gphi_hash_word(hash, function->args[i].bytes);
    }
    return hash;
}

/* The number of the functions that are alike, else a new one: the handle, which is reported
 * in drawings and differences, or where another kernel had it before, none that is a
 * handle. Drivers before 12.3 give no name. */
static gph_status number_function(gphi_model *model, gphi_function *made)
{
    struct gphi_model_private *own = model->own;
    const uint64_t hash = alike_hash(made);
    const uint64_t *known =
        made->name[0] != '\0' ? gphi_map_get(&own->alike, hash) : NULL;
    const gphi_function *first = known ? gphi_model_kernel_function(model, *known) : NULL;
    if (first && strcmp(first->name, made->name) == 0) {
        made->kernel = *known;
        return GPH_OK;
    }
    made->kernel = made->handle;
    if (gphi_map_get(&own->kernels, made->kernel))
        made->kernel = UINT64_C(1) << 63 | own->function_list.count;
    GPHI_TRY(gphi_map_set(&own->kernels, made->kernel, (uint64_t)(uintptr_t)made));
    return gphi_map_set(&own->alike, hash, made->kernel);
}

static gph_status feed_function(gphi_model *model, const gphi_event *event)
{
    if (same_function(gphi_model_function(model, event->id), event))
        return GPH_OK;
    const uint32_t count = event->word_count / 2U;
    GPHI_TRY(gphi_vec_reserve(&model->own->function_list, 1));
    gphi_function *made = gphi_heap_alloc(model->heap, sizeof(*made));
    if (!made)
        return GPH_E_NO_MEMORY;
    *(void **)gphi_vec_add(&model->own->function_list, 1) = made;
    made->handle = event->id;
    made->name = gphi_heap_text(model->heap, gphi_event_text(event, 0));
    if (!made->name)
        return GPH_E_NO_MEMORY;
    if (count > 0) {
        gph_kernel_arg *args = gphi_heap_array(model->heap, count, sizeof(*args));
        if (!args)
            return GPH_E_NO_MEMORY;
        for (uint32_t i = 0; i < count; i++)
            args[i] = (gph_kernel_arg){word32(event, 2 * i), word32(event, 2 * i + 1)};
        made->args = args;
        made->arg_count = count;
    }
    GPHI_TRY(number_function(model, made));
    return gphi_map_set(&model->own->functions, event->id, (uint64_t)(uintptr_t)made);
}

static gph_status feed_thread(gphi_model *model, const gphi_event *event)
{
    gphi_thread *thread = gphi_thread_of(model, event->thread);
    if (!thread)
        return GPH_E_NO_MEMORY;
    snprintf(thread->name, sizeof(thread->name), "%.15s", gphi_event_text(event, 0));
    for (char *at = thread->name; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?'; /* a terminal would obey it */
    return GPH_OK;
}

/* Of a record that is of no call. */
static gphi_call place_of(const gphi_model *model, const gphi_event *event)
{
    return (gphi_call){.number = model->call_count + 1,
                       .time_ns = event->time_ns,
                       .call = GPHI_CALL_COUNT,
                       .thread = event->thread,
                       .stack = event->stack};
}

gph_status gphi_model_feed(gphi_model *model, const gphi_event *event, gphi_seen *seen)
{
    *seen = (gphi_seen){.event = NULL};
    if (model->first_ns == 0)
        model->first_ns = event->time_ns;
    if (event->time_ns > model->last_ns)
        model->last_ns = event->time_ns;
    switch ((gphi_event_kind)event->kind) {
    case GPHI_EVENT_CALL: return feed_call(model, event, seen);
    case GPHI_EVENT_THREAD: return feed_thread(model, event);
    case GPHI_EVENT_FUNCTION: return feed_function(model, event);
    case GPHI_EVENT_ACCESS: return gphi_access_feed(model, event);
    case GPHI_EVENT_GRAPH: return gphi_snapshot_begin(model, event);
    case GPHI_EVENT_NODE:
    case GPHI_EVENT_EDGES: return gphi_snapshot_more(model, event);
    case GPHI_EVENT_PROCESS:
        model->process = event->id;
        model->driver_version = word32(event, 0);
        model->rank_count = word32(event, 3);
        model->rank = word32(event, 4);
        return GPH_OK;
    case GPHI_EVENT_EXIT:
        if (event->id == 2)
            model->signal = word32(event, 0);
        if (event->id == 3) {
            model->hung = word32(event, 0);
            model->hung_ns = event->time_ns;
            model->hung_asks = word32(event, 2) == GPHI_HANG_ASKS;
            model->hung_ranks = word32(event, 2) == GPHI_HANG_RANKS;
        }
        return GPH_OK;
    case GPHI_EVENT_FORKED:
        model->parent = event->id;
        model->forked = place_of(model, event);
        return GPH_OK;
    case GPHI_EVENT_NOTE:
        return event->id == GPHI_NOTE_REGION ? gphi_capture_region(model, event) : GPH_OK;
    case GPHI_EVENT_CRASHED:
        model->crashed_by = (uint32_t)event->id;
        model->crash_address = gphi_event_word(event, 0);
        model->crashed_at = gphi_event_word(event, 1);
        model->crashed = place_of(model, event);
        return GPH_OK;
    case GPHI_EVENT_STANDING: return gphi_exec_stands(model, event);
    case GPHI_EVENT_LOST: model->lost += event->id; return GPH_OK;
    default: return GPH_OK;
    }
}
