// SPDX-License-Identifier: Apache-2.0
/* Communicators of a process, and the calls that all of their ranks make, in order. Of
 * those that are many the last are kept. */
#include "doctor/history/collectives.h"
#include "base/hash.h"
#include "base/heap.h"
#include "doctor/findings/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMMS_MAX = 1024, THREADS_MAX = 1024 };

/* From here on numbers are of collectives, not of driver calls. */
#define NUMBERS (UINT64_C(1) << 62)

void gphi_collectives_init(gphi_collectives *of, gphi_model *model)
{
    *of = (gphi_collectives){.model = model};
    gphi_vec_init(&of->comms, model->heap, sizeof(gphi_comm *));
    gphi_map_init(&of->by_handle, model->heap);
    gphi_vec_init(&of->inside, model->heap, sizeof(gphi_comm_inside));
}

void gphi_collectives_fini(gphi_collectives *of)
{
    for (size_t i = 0; i < of->comms.count; i++) {
        gphi_comm *comm = gphi_vec_pointer(&of->comms, i);
        gphi_vec_fini(&comm->list);
        gphi_vec_fini(&comm->launches);
        gphi_map_fini(&comm->captures);
        gphi_heap_free(of->model->heap, comm, sizeof(*comm));
    }
    gphi_vec_fini(&of->comms);
    gphi_map_fini(&of->by_handle);
    gphi_vec_fini(&of->inside);
}

/* ---- communicators ---- */

static gphi_comm *new_comm(gphi_collectives *of, const gphi_collective *at)
{
    const gph_allocator heap = of->model->heap;
    gphi_comm *comm = NULL;
    if (of->comms.count >= COMMS_MAX)
        return NULL;
    if (gphi_vec_reserve(&of->comms, 1) == GPH_OK)
        comm = gphi_heap_alloc(heap, sizeof(*comm));
    of->is_short |= !comm;
    if (!comm)
        return NULL;
    *(gphi_comm **)gphi_vec_add(&of->comms, 1) = comm;
    gphi_vec_init(&comm->list, heap, sizeof(gphi_collective));
    gphi_vec_init(&comm->launches, heap, sizeof(gphi_comm_launch));
    gphi_map_init(&comm->captures, heap);
    comm->is_gph = gphi_collective_is_gph(at->id);
    return comm;
}

static void set_handle(gphi_collectives *of, gphi_comm *comm, uint64_t handle)
{
    comm->handle = handle;
    of->is_short |=
        gphi_map_set(&of->by_handle, handle, (uint64_t)(uintptr_t)comm) != GPH_OK;
}

/* One that the log does not say the making of, as NCCL's that another library made. */
static gphi_comm *comm_of(gphi_collectives *of, uint64_t handle,
                          const gphi_collective *at)
{
    gphi_comm *comm = gphi_map_pointer(&of->by_handle, handle);
    if (comm || handle == 0)
        return comm;
    comm = new_comm(of, at);
    if (comm) {
        comm->is_made = true;
        set_handle(of, comm, handle);
    }
    return comm;
}

/* Parts of one communicator: its ranks split it in the same order. */
static uint64_t same_part(gphi_comm *whole, const gphi_collective *at)
{
    if (!whole || whole->same == 0)
        return 0;
    const uint64_t hash = gphi_hash_word(whole->same, at->op + 1);
    return gphi_hash_word(hash, ++whole->parts) | 1;
}

static gphi_comm *begin_comm(gphi_collectives *of, const gphi_event *event,
                             const gphi_collective *at)
{
    gphi_comm *whole = gphi_map_pointer(&of->by_handle, event->id);
    gphi_comm *comm = new_comm(of, at);
    if (!comm)
        return NULL;
    comm->made = at->call;
    comm->rank = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_RANK);
    comm->ranks = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_RANKS);
    comm->same = gphi_event_word(event, GPHI_COLLECTIVE_SAME);
    if (at->id == GPHI_COLLECTIVE_ncclCommSplit) {
        comm->same = same_part(whole, at);
        comm->rank = whole ? whole->rank : 0;
    }
    snprintf(comm->name, sizeof(comm->name), "%.63s", gphi_event_text(event, 0));
    return comm;
}

static void take_made(gphi_collectives *of, const gphi_event *event,
                      gphi_comm_inside *inside)
{
    const bool has_failed =
        of->now.result != 0 && of->now.result != 7; /* ncclInProgress */
    gphi_comm *comm = inside->comm;
    if (!comm || comm->is_made) /* the next of ncclCommInitAll() */
        comm = begin_comm(of, event, &inside->at);
    of->comm = comm;
    if (!comm)
        return;
    comm->rank = inside->at.id == GPHI_COLLECTIVE_ncclCommSplit
                     ? comm->rank
                     : (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_RANK);
    if (inside->at.id == GPHI_COLLECTIVE_ncclCommInitAll)
        comm->same = gphi_event_word(event, GPHI_COLLECTIVE_SAME);
    comm->is_made = true;
    if (has_failed)
        comm->same = 0; /* nothing is expected of it */
    else if (event->id != 0)
        set_handle(of, comm, event->id);
    inside->comm = comm;
}

/* ---- calls ---- */

static void keep(gphi_collectives *of, gphi_comm *comm, const gphi_collective *at)
{
    if (comm->list.count >= 2 * (size_t)GPHI_COLLECTIVES_KEPT) {
        gphi_collective *list = comm->list.items;
        memmove(list, list + GPHI_COLLECTIVES_KEPT,
                GPHI_COLLECTIVES_KEPT * sizeof(*list));
        comm->list.count = GPHI_COLLECTIVES_KEPT;
        comm->first += GPHI_COLLECTIVES_KEPT;
    }
    of->is_short |= gphi_vec_push(&comm->list, at) != GPH_OK;
}

static void take_work(gphi_collectives *of, gphi_comm *comm, const gphi_collective *at)
{
    if (gphi_collective_sort_of(at->id) == GPHI_COLLECTIVE_ALL)
        keep(of, comm, at);
    if (at->capture != 0)
        of->is_short |= gphi_map_count(&comm->captures, at->capture) == 0;
    else
        comm->warm |= UINT64_C(1) << at->id;
}

static gphi_collective read_call(gphi_collectives *of, const gphi_event *event)
{
    gphi_collective out = {
        .call = {.number = NUMBERS + ++of->number,
                 .time_ns = event->time_ns,
                 .call = GPHI_COLLECTIVE_CALL +
                         (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_ID),
                 .thread = event->thread,
                 .stack = event->stack},
        .id = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_ID),
        .stream = gphi_event_word(event, GPHI_COLLECTIVE_STREAM),
        .count = gphi_event_word(event, GPHI_COLLECTIVE_ELEMENTS),
        .dtype = gphi_event_word(event, GPHI_COLLECTIVE_DTYPE),
        .op = gphi_event_word(event, GPHI_COLLECTIVE_OP)};
    const gphi_stream *stream =
        gphi_model_stream(of->model, out.stream, event->thread, false);
    out.capture = stream && stream->capture ? stream->capture->id : 0;
    out.call.capture = out.capture;
    return out;
}

static void take_called(gphi_collectives *of, const gphi_event *event,
                        gphi_comm_inside *inside)
{
    const gphi_collective at = read_call(of, event);
    const gphi_collective_sort sort = gphi_collective_sort_of(at.id);
    gphi_comm *comm = sort == GPHI_COLLECTIVE_MAKE ? begin_comm(of, event, &at)
                                                   : comm_of(of, event->id, &at);
    inside->is_open = true;
    inside->at = of->now = at;
    inside->comm = of->comm = comm;
    if (comm && (sort == GPHI_COLLECTIVE_ALL || sort == GPHI_COLLECTIVE_PAIR))
        take_work(of, comm, &at);
}

static void take_returned(gphi_collectives *of, const gphi_event *event,
                          gphi_comm_inside *inside)
{
    const gphi_collective_sort sort = gphi_collective_sort_of(inside->at.id);
    inside->at.result = (int32_t)gphi_event_word(event, GPHI_COLLECTIVE_RESULT);
    inside->is_open = false;
    of->now = inside->at;
    of->comm = inside->comm;
    if (sort == GPHI_COLLECTIVE_MAKE)
        take_made(of, event, inside);
    if (sort == GPHI_COLLECTIVE_END && of->comm)
        of->comm->has_returned = true;
}

static void take_collective(gphi_collectives *of, const gphi_event *event)
{
    gphi_comm_inside *inside =
        gphi_vec_keyed(&of->inside, &event->thread, sizeof(event->thread), THREADS_MAX);
    of->comm = NULL;
    of->now = (gphi_collective){.id = GPHI_COLLECTIVE_COUNT};
    if (!inside || gphi_event_word(event, GPHI_COLLECTIVE_ID) >= GPHI_COLLECTIVE_COUNT)
        return;
    of->has_returned =
        gphi_event_word(event, GPHI_COLLECTIVE_PHASE) == GPHI_COLLECTIVE_RETURNED;
    if (of->has_returned)
        take_returned(of, event, inside);
    else
        take_called(of, event, inside);
}

void gphi_collectives_note(gphi_collectives *of, const gphi_event *event,
                           const gphi_seen *seen)
{
    if (event->kind == GPHI_EVENT_COLLECTIVE)
        take_collective(of, event);
    if (event->kind == GPHI_EVENT_EXIT && event->id < 2) {
        of->has_code = true;
        of->code = (uint32_t)gphi_event_word(event, 0);
    }
    if (!seen)
        return;
    if ((seen->call.flags & GPHI_CALL_UNRETURNED) == 0)
        of->last = seen->call;
    else if (of->unreturned.number == 0)
        of->unreturned = seen->call;
}

/* ---- questions ---- */

const gphi_collective *gphi_comm_at(const gphi_comm *comm, uint64_t number)
{
    if (number < comm->first || number >= gphi_comm_count(comm))
        return NULL;
    return gphi_vec_at(&comm->list, (size_t)(number - comm->first));
}

bool gphi_comm_is_in(const gphi_comm *comm, const gphi_snapshot *source)
{
    return source && source->capture && source->capture->id != 0 &&
           gphi_map_get(&comm->captures, source->capture->id);
}

bool gphi_comm_is_in_graph(const gphi_comm *comm, const gphi_graph_state *graph)
{
    return graph->capture && graph->capture->id != 0 &&
           gphi_map_get(&comm->captures, graph->capture->id);
}

const char *gphi_say_collective(const gphi_collective *of)
{
    const char *dtype = gphi_collective_dtype(of->id, of->dtype);
    if (gphi_collective_sort_of(of->id) > GPHI_COLLECTIVE_PAIR)
        return gphi_collective_name(of->id);
    if (!dtype)
        return gphi_say("%s of %" PRIu64 " elements of type %" PRIu64,
                        gphi_collective_name(of->id), of->count, of->dtype);
    return gphi_say("%s of %" PRIu64 " %.10s", gphi_collective_name(of->id), of->count,
                    dtype);
}
