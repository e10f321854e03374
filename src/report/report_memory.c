// SPDX-License-Identifier: Apache-2.0
/* Lifetimes of memory: from the call that gave an address to the one that took it back.
 */
#include "base/fail.h"
#include "base/heap.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

enum { LIFETIMES_MAX = 40000 };

/* Where an allocation's values are among a call's words. -1: it has none. */
typedef struct memory_call {
    uint16_t call;
    int8_t address, bytes, pool;
    uint8_t kind; /* gphi_memory_kind; 0: it frees */
} memory_call;

static const memory_call memory_calls[] = {
    {GPHI_CALL_cuMemAlloc, 0, 1, -1, GPHI_MEM_DEVICE},
    {GPHI_CALL_cuMemAllocPitch, 0, -2, -1, GPHI_MEM_DEVICE},
    {GPHI_CALL_cuMemAllocAsync, 0, 1, -1, GPHI_MEM_ASYNC},
    {GPHI_CALL_cuMemAllocFromPoolAsync, 0, 1, 2, GPHI_MEM_ASYNC},
    {GPHI_CALL_cuMemAllocManaged, 0, 1, -1, GPHI_MEM_MANAGED},
    {GPHI_CALL_cuMemAllocHost, 0, 1, -1, GPHI_MEM_PINNED},
    {GPHI_CALL_cuMemHostAlloc, 0, 1, -1, GPHI_MEM_PINNED},
    {GPHI_CALL_cuMemHostRegister, 0, 1, -1, GPHI_MEM_REGISTERED},
    {GPHI_CALL_cuMemMap, 0, 1, -1, GPHI_MEM_VMM},
    {GPHI_CALL_cuMemFree, 0, -1, -1, 0},
    {GPHI_CALL_cuMemFreeAsync, 0, -1, -1, 0},
    {GPHI_CALL_cuMemFreeHost, 0, -1, -1, 0},
    {GPHI_CALL_cuMemHostUnregister, 0, -1, -1, 0},
    {GPHI_CALL_cuMemUnmap, 0, 1, -1, 0},
};

static const memory_call *find(uint32_t call)
{
    for (size_t i = 0; i < sizeof(memory_calls) / sizeof(memory_calls[0]); i++)
        if (memory_calls[i].call == call)
            return &memory_calls[i];
    return NULL;
}

static void end_life(gph_report *report, uint64_t address, uint64_t now, uint64_t bytes)
{
    /* An unmap may end several maps that lie side by side. */
    for (uint64_t at = address;;) {
        const uint64_t key = gphi_report_key(report, at);
        const uint64_t *known = gphi_map_get(&report->live, key);
        if (!known)
            return;
        report_lifetime *life = gphi_vec_at(&report->lifetimes, *known - 1);
        life->to_ns =
            now > life->from_ns ? now : life->from_ns + 1; /* a clock went back */
        gphi_map_remove(&report->live, key);
        at += life->bytes;
        if (life->bytes == 0 || at - address >= bytes)
            return;
    }
}

/* A node of a graph that allocates: nothing frees it but the end of its graph, as far as
 * the host sees. */
static gph_status begin_life(gph_report *report, const report_lifetime *life,
                             report_call *call)
{
    report->lifetime_count++;
    if (report->lifetimes.count >= LIFETIMES_MAX)
        return GPH_OK;
    GPHI_TRY(gphi_vec_push(&report->lifetimes, life));
    call->object = (uint32_t)report->lifetimes.count;
    return life->is_captured
               ? GPH_OK
               : gphi_map_set(&report->live, gphi_report_key(report, life->address),
                              report->lifetimes.count);
}

/* Looks a call up among those that give or take memory; a call that failed gave
 * nothing, and one that a capture took gives it at each launch, which the page marks.
 * */
gph_status gphi_report_memory_call(gph_report *report, const gphi_event *event,
                                   report_call *call)
{
    if (event->u.call.result != 0)
        return GPH_OK;
    const memory_call *what = find(event->u.call.call);
    if (!what)
        return GPH_OK;
    const uint64_t address = gphi_event_word(event, (uint32_t)what->address);
    const uint64_t end = event->time_ns + event->u.call.duration_ns;
    if (address == 0)
        return GPH_OK;
    if (what->kind == 0) {
        if (!call->is_captured)
            end_life(report, address, end,
                     what->bytes < 0 ? 1 : gphi_event_word(event, (uint32_t)what->bytes));
        return GPH_OK;
    }
    report_lifetime life = {.address = address,
                            .from_ns = end,
                            .made = call->number,
                            .stack = event->stack,
                            .kind = call->is_captured ? GPHI_MEM_GRAPH
                                                      : (gphi_memory_kind)what->kind,
                            .is_captured = call->is_captured};
    life.bytes = what->bytes == -2 /* rows of a pitch */
                     ? gphi_event_word(event, 1) * gphi_event_word(event, 3)
                     : gphi_event_word(event, (uint32_t)what->bytes);
    if (what->pool >= 0)
        life.pool = gphi_event_word(event, (uint32_t)what->pool);
    if (!call->is_captured)
        end_life(report, address, end, 1); /* its end was not seen */
    return begin_life(report, &life, call);
}

/* What dies at a time dies before what is born: a reuse of the same bytes is not a peak. */
static int by_time(const void *a, const void *b)
{
    const report_turn *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return y->is_end - x->is_end;
}

report_turn *gphi_report_turns(const gph_report *report, size_t *count)
{
    const size_t room = 2 * report->lifetimes.count;
    report_turn *turns =
        room == 0 ? NULL : gphi_heap_array(report->heap, room, sizeof(*turns));
    *count = 0;
    if (!turns)
        return NULL;
    GPHI_EACH (const report_lifetime, life, &report->lifetimes) {
        turns[(*count)++] = (report_turn){life->from_ns, life->bytes, life->kind, false};
        if (life->to_ns != 0)
            turns[(*count)++] = (report_turn){life->to_ns, life->bytes, life->kind, true};
    }
    qsort(turns, *count, sizeof(*turns), by_time);
    return turns;
}
