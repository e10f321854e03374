// SPDX-License-Identifier: Apache-2.0
/* Snapshots that the attached library does not write again: of a graph that nothing has
 * changed since it was captured. What was kept of the first is fed again.
 *
 *   GRAPH 7, NODE.., EDGES..      kept under number 7 and its graph
 *   GRAPH 9, repeats 7            NODE.. and EDGES.. of 7 are fed as those of 9
 *
 * The library forgets a snapshot where it may have been changed; here the bound is bytes,
 * and a repeat of what is forgotten is a snapshot that is never whole. */
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/examination.h"

#include <string.h>

enum { KEPT_BYTES = 32 << 20 };

typedef struct kept {
    uint64_t graph, number, node_count, edge_count;
    gphi_vec records; /* bytes */
} kept;

void gphi_repeats_init(gphi_repeats *repeats, gph_allocator heap)
{
    gphi_vec_init(&repeats->list, heap, sizeof(kept *));
    gphi_map_init(&repeats->by_number, heap);
    gphi_map_init(&repeats->by_graph, heap);
    repeats->bytes = 0;
}

static void forget(gphi_repeats *repeats, kept *item)
{
    const gph_allocator heap = repeats->list.heap;
    gphi_map_remove(&repeats->by_number, item->number);
    gphi_map_remove(&repeats->by_graph, item->graph);
    repeats->bytes -= item->records.count;
    gphi_vec_fini(&item->records);
    gphi_heap_free(heap, item, sizeof(*item));
}

void gphi_repeats_fini(gphi_repeats *repeats)
{
    for (size_t i = 0; i < repeats->list.count; i++)
        forget(repeats, gphi_vec_pointer(&repeats->list, i));
    gphi_vec_fini(&repeats->list);
    gphi_map_fini(&repeats->by_number);
    gphi_map_fini(&repeats->by_graph);
}

static kept *find(const gphi_repeats *repeats, uint64_t number)
{
    return gphi_map_pointer(&repeats->by_number, number);
}

/* It is gone, or was written again: only its last snapshot is ever repeated. */
static void forget_graph(gphi_repeats *repeats, uint64_t graph)
{
    kept *item = gphi_map_pointer(&repeats->by_graph, graph);
    kept **items = repeats->list.items;
    for (size_t i = repeats->list.count; item && i-- > 0;)
        if (items[i] == item) {
            gphi_vec_remove(&repeats->list, i);
            forget(repeats, item);
            return;
        }
}

/* Only whole graphs of their own are repeated: no child, no repeat of a repeat. */
static gph_status begin(gphi_repeats *repeats, const gphi_event *event)
{
    const uint64_t number = gphi_event_word(event, 0);
    if (find(repeats, number))
        return GPH_OK;
    forget_graph(repeats, event->id);
    GPHI_TRY(gphi_vec_reserve(&repeats->list, 1));
    GPHI_TRY(gphi_map_reserve(&repeats->by_graph, 1));
    GPHI_TRY(gphi_map_reserve(&repeats->by_number, 1));
    kept *item = gphi_heap_alloc(repeats->list.heap, sizeof(*item));
    if (!item)
        return GPH_E_NO_MEMORY;
    item->graph = event->id;
    item->number = number;
    item->node_count = gphi_event_word(event, 1);
    item->edge_count = gphi_event_word(event, 2);
    gphi_vec_init(&item->records, repeats->list.heap, 1);
    const uint64_t value = (uint64_t)(uintptr_t)item;
    gph_status status = gphi_map_set(&repeats->by_number, number, value);
    GPHI_THEN(status, gphi_map_set(&repeats->by_graph, event->id, value));
    if (status != GPH_OK) { /* there was room */
        gphi_map_remove(&repeats->by_number, number);
        gphi_heap_free(repeats->list.heap, item, sizeof(*item));
        return status;
    }
    *(kept **)gphi_vec_add(&repeats->list, 1) = item;
    return GPH_OK;
}

/* The oldest go first; of what comes in now something stays. */
static void make_room(gphi_repeats *repeats)
{
    size_t gone = 0;
    while (repeats->bytes > KEPT_BYTES && gone + 1 < repeats->list.count)
        forget(repeats, gphi_vec_pointer(&repeats->list, gone++));
    if (gone == 0)
        return;
    kept **items = repeats->list.items;
    memmove(items, items + gone, (repeats->list.count - gone) * sizeof(*items));
    repeats->list.count -= gone;
}

/* Records of a snapshot come in pieces, between those of other threads: the number says
 * whose they are. */
gph_status gphi_repeats_note(gphi_repeats *repeats, const gphi_event *event)
{
    const uint64_t number =
        event->kind == GPHI_EVENT_EDGES ? event->id : gphi_event_word(event, 0);
    if (event->kind == GPHI_EVENT_GRAPH)
        return gphi_event_word(event, 5) == 0 && gphi_event_word(event, 8) == 0
                   ? begin(repeats, event)
                   : GPH_OK;
    if (event->kind == GPHI_EVENT_CALL && event->u.call.result == 0 &&
        event->u.call.call == GPHI_CALL_cuGraphDestroy)
        forget_graph(repeats, number);
    kept *item = event->kind == GPHI_EVENT_NODE || event->kind == GPHI_EVENT_EDGES
                     ? find(repeats, number)
                     : NULL;
    if (!item)
        return GPH_OK;
    GPHI_TRY(gphi_event_keep(&item->records, event));
    repeats->bytes += (size_t)event->units * sizeof(*event);
    make_room(repeats);
    return GPH_OK;
}

const gphi_event *gphi_repeats_graph(const gphi_repeats *repeats, const gphi_event *graph,
                                     gphi_graph_event *room)
{
    const kept *item = find(repeats, gphi_event_word(graph, 8));
    if (graph->kind != GPHI_EVENT_GRAPH || gphi_event_word(graph, 8) == 0)
        return graph;
    room->head = *graph;
    room->head.units = sizeof(*room) / sizeof(*graph);
    room->head.word_count = 8;
    room->head.part_count = 0;
    memcpy(room->words, graph + 1, sizeof(room->words));
    room->words[1] = item ? item->node_count : UINT64_MAX; /* never whole */
    room->words[2] = item ? item->edge_count : 0;
    return &room->head;
}

/* The kept record itself, with the number of the repeat in it: it is fed before the next
 * one asks for it. */
const gphi_event *gphi_repeats_next(gphi_repeats *repeats, const gphi_event *graph,
                                    size_t *at)
{
    kept *item = find(repeats, gphi_event_word(graph, 8));
    if (!item || *at >= item->records.count)
        return NULL;
    gphi_event *event = (gphi_event *)gphi_vec_at(&item->records, *at);
    const uint64_t number = gphi_event_word(graph, 0);
    event->thread = graph->thread;
    event->time_ns = graph->time_ns;
    if (event->kind == GPHI_EVENT_EDGES)
        event->id = number;
    else if (event->word_count > 0)
        memcpy(event + 1, &number, sizeof(number));
    *at += (size_t)event->units * sizeof(*event);
    return event;
}
