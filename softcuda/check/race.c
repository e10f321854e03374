// SPDX-License-Identifier: Apache-2.0
/* The life of a graph's race check, and its reports. */
#include "softcuda/check/race.h"

#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/check/touched.h"

static bool make_traces(soft_race *race, const soft_race_options *o)
{
    const gph_allocator heap = race->heap;
    const size_t room = o->node_count + 1ull;
    race->traces = gphi_heap_array(heap, room, sizeof(soft_trace *));
    uint8_t *total = gphi_heap_alloc(heap, room);
    bool made = race->traces && total && soft_order_find_total(&race->order, heap, total);
    for (uint32_t i = 0; made && i < o->node_count; i++) {
        if (o->touches[i] == 0 || (total[i] && o->window_count == 0 && !o->keeps_all))
            continue;
        soft_trace **place = &race->traces[i];
        for (uint32_t k = 0; made && k <= (race->depth ? race->depth[i] : 0); k++) {
            *place = soft_trace_create(race);
            made = *place != NULL;
            if (made) {
                (*place)->node = i;
                (*place)->is_ordered = total[i] != 0;
            }
            place = made ? &(*place)->outer : place;
        }
    }
    gphi_heap_free(heap, total, room);
    return made;
}

gph_status soft_race_create(const soft_race_options *options, soft_race **out,
                            gph_error *error)
{
    const gph_allocator heap = gphi_heap(options->allocator);
    soft_race *race = gphi_heap_alloc(heap, sizeof(*race));
    GPHI_TRY(gphi_made(error, race, "a race check"));
    race->heap = heap;
    pthread_mutex_init(&race->mutex, NULL);
    pthread_mutex_init(&race->reporting, NULL);
    gphi_map_init(&race->known, heap);
    atomic_init(&race->incomplete, false);
    gph_status status = soft_order_init(&race->order, options, heap, error);
    GPHI_THEN(status, soft_race_set_windows(race, options, error));
    GPHI_THEN(status, soft_race_set_loops(race, options, error));
    if (status == GPH_OK && !make_traces(race, options))
        status = gphi_fail(error, GPH_E_NO_MEMORY, "a race check of %u nodes",
                           options->node_count);
    if (status != GPH_OK) {
        soft_race_destroy(race);
        return status;
    }
    *out = race;
    return GPH_OK;
}

void soft_race_destroy(soft_race *race)
{
    if (!race)
        return;
    const gph_allocator heap = race->heap;
    const uint32_t count = race->order.node_count;
    for (uint32_t i = 0; race->traces && i < count; i++)
        for (soft_trace *trace = race->traces[i], *next; trace; trace = next) {
            next = trace->outer;
            soft_trace_destroy(trace);
        }
    gphi_heap_free(heap, race->loop_of, (count + 1ull) * sizeof(uint32_t));
    gphi_heap_free(heap, race->depth, (count + 1ull) * sizeof(uint32_t));
    gphi_heap_free(heap, race->traces, (count + 1ull) * sizeof(soft_trace *));
    gphi_heap_free(heap, race->windows, race->window_count * sizeof(*race->windows));
    while (race->slabs) {
        struct slab *next = race->slabs->next;
        gphi_heap_free(heap, race->slabs, sizeof(*race->slabs));
        race->slabs = next;
    }
    soft_order_fini(&race->order, heap);
    gphi_map_fini(&race->known);
    pthread_mutex_destroy(&race->mutex);
    pthread_mutex_destroy(&race->reporting);
    gphi_heap_free(heap, race, sizeof(*race));
}

soft_trace *soft_race_trace(soft_race *race, uint32_t node)
{
    return race->traces[node];
}

uint32_t soft_trace_node(const soft_trace *trace)
{
    return trace->node;
}

/* Entries are used again; a launch that touched little keeps little. */
void soft_race_forget(soft_race *race)
{
    for (uint32_t i = 0; i < race->order.node_count; i++)
        for (soft_trace *trace = race->traces[i]; trace; trace = trace->outer)
            soft_trace_forget(trace);
    pthread_mutex_lock(&race->mutex);
    struct slab *spare = race->filling ? race->filling->next : race->slabs;
    if (race->filling)
        race->filling->next = NULL;
    else
        race->slabs = NULL; /* a launch that touched nothing */
    race->filling = NULL;
    race->filled = 0;
    race->touched_count = 0;
    race->spare = NULL;
    atomic_store_explicit(&race->incomplete, false, memory_order_relaxed);
    pthread_mutex_unlock(&race->mutex);
    while (spare) {
        struct slab *next = spare->next;
        gphi_heap_free(race->heap, spare, sizeof(*spare));
        spare = next;
    }
}

void soft_race_tell(struct soft_race *race, uint32_t loop, const soft_race_report *report)
{
    struct findings findings = {NULL, 0, 0};
    if (!soft_race_compare(race, loop, &findings) && report->incomplete)
        report->incomplete(report->user, "no memory to compare what the nodes touched");
    if (atomic_exchange_explicit(&race->incomplete, false, memory_order_relaxed) &&
        report->incomplete)
        report->incomplete(report->user, "no memory to note all that the nodes touched");
    for (uint32_t i = 0; i < findings.count; i++) {
        const soft_finding *f = &findings.list[i];
        const uint32_t a = f->first.node, b = f->second.node;
        /* Without memory for it, it will be said again. */
        (void)gphi_map_set(&race->known,
                           a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a, 1);
        if (report->found)
            report->found(report->user, f);
    }
    gphi_heap_free(race->heap, findings.list, findings.capacity * sizeof(*findings.list));
}

void soft_race_finish(soft_race *race, const soft_race_report *report)
{
    soft_race_tell(race, 0, report);
    soft_race_forget(race);
}
