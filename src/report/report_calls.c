// SPDX-License-Identifier: Apache-2.0
/* Driver calls as a report keeps them: one small item each, whatever they were given. */
#include "base/fail.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* Kinds follow from words of the names, so that calls of a later CUDA fall into one, too: how a
 * name begins or, after a star, what is in it. The first row that fits counts. */
static const struct {
    report_kind kind;
    const char *words[11];
} kinds[] = {
    {REPORT_KERNEL, {"cuLaunch"}},
    {REPORT_GRAPH, {"cuGraphLaunch"}},
    {REPORT_WAIT, {"*Synchronize"}},
    {REPORT_BUILD,
     {"*Capture", "*GraphInstantiate", "cuGraphExec", "cuGraphAdd", "cuGraphUpload",
      "cuGraphCreate", "cuGraphDestroy", "cuGraphClone"}},
    {REPORT_COPY, {"cuMemcpy", "cuMemset"}},
    {REPORT_MEMORY,
     {"cuMemAlloc", "cuMemFree", "cuMemHost", "cuMemMap", "cuMemUnmap", "cuMemCreate",
      "cuMemRelease", "cuMemAddress", "cuMemPool", "cuMemSetAccess"}},
    {REPORT_EVENT, {"cuEvent", "cuStreamWaitEvent"}}};

report_kind gphi_report_kind(uint32_t call)
{
    const char *name = gphi_call_name(call);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        for (const char *const *word = kinds[i].words; *word; word++)
            if (**word == '*' ? strstr(name, *word + 1) != NULL
                              : strncmp(name, *word, strlen(*word)) == 0)
                return kinds[i].kind;
    return REPORT_OTHER;
}

/* The handle of a launched kernel, 0 for other calls. */
static uint64_t function_of(const gphi_event *event)
{
    switch (event->u.call.call) {
    case GPHI_CALL_cuLaunchKernel:
    case GPHI_CALL_cuLaunchCooperativeKernel: return gphi_event_word(event, 0);
    case GPHI_CALL_cuLaunchKernelEx: return gphi_event_word(event, 1);
    default: return 0;
    }
}

/* The tables count all calls, whether they are kept or not. A call that the process
 * ended in has not failed: it never said. */
static void count(gph_report *report, const gphi_event *event)
{
    report_count *counts = &report->counts[event->u.call.call];
    counts->count++;
    counts->ns += event->u.call.duration_ns;
    counts->failed +=
        event->u.call.result != 0 && (event->u.call.flags & GPHI_CALL_UNRETURNED) == 0;
    if (event->u.call.duration_ns > counts->longest_ns)
        counts->longest_ns = event->u.call.duration_ns;
    report->call_count++;
    const uint64_t end = event->time_ns + event->u.call.duration_ns;
    if (report->first_ns == 0 || event->time_ns < report->first_ns)
        report->first_ns = event->time_ns;
    if (end > report->last_ns)
        report->last_ns = end;
}

/* Failures, and what made or took something: of long runs these are kept. */
static bool matters(const report_call *call)
{
    const report_kind kind = gphi_report_kind(call->call);
    return call->result != 0 || kind == REPORT_BUILD || kind == REPORT_MEMORY;
}

/* Keeps calls_max / 4 from the start, those that matter, and the last. */
static void thin(gph_report *report)
{
    const size_t quarter = report->calls_max / 4, total = report->calls.count;
    size_t to = quarter, special = 0;
    for (size_t from = quarter; from < total; from++) {
        const report_call *call = gphi_report_call_at(report, from);
        /* The first quarter, the last quarter, and up to a quarter of what matters. */
        if (from >= total - quarter || (special < quarter && matters(call))) {
            special += from < total - quarter;
            *gphi_report_call_at(report, to++) = *call;
        }
    }
    report->calls.count = to;
}

/* Graphs, memory and events look at the call before it is kept, since they say what its
 * object is. */
gph_status gphi_report_call(gph_report *report, const gphi_event *event,
                            const gphi_seen *seen)
{
    if (event->u.call.call >= GPHI_CALL_COUNT)
        return GPH_OK;
    count(report, event);
    const report_kind kind = gphi_report_kind(event->u.call.call);
    report_call call = {.number = report->call_count,
                        .start_ns = event->time_ns,
                        .duration_ns = event->u.call.duration_ns,
                        .stack = event->stack,
                        .result = (event->u.call.flags & GPHI_CALL_UNRETURNED) != 0
                                      ? REPORT_UNRETURNED
                                      : event->u.call.result,
                        .call = event->u.call.call,
                        .is_captured = event->id != 0};
    const uint32_t thread = gphi_report_thread(report, event->thread);
    if (thread >= UINT16_MAX)
        return GPH_E_NO_MEMORY;
    call.thread = (uint16_t)thread;
    if (kind == REPORT_KERNEL)
        gphi_report_collective_launch(report, event, thread);
    if (seen && seen->stream) {
        const uint32_t stream = gphi_report_stream(report, seen->stream, 0);
        call.stream = stream >= UINT16_MAX ? 0 : (uint16_t)(stream + 1);
        if (stream < report->streams.count && kind <= REPORT_COPY &&
            kind >= REPORT_KERNEL)
            ((report_stream *)gphi_vec_at(&report->streams, stream))->work_count++;
    }
    const uint64_t function = function_of(event);
    if (function != 0)
        call.object = gphi_report_function(report, function) + 1;
    GPHI_TRY(gphi_report_graph_call(report, event, seen, &call));
    GPHI_TRY(gphi_report_memory_call(report, event, &call));
    GPHI_TRY(gphi_report_event_call(report, event, &call));
    if (report->calls.count >= report->calls_max)
        thin(report);
    return gphi_vec_push(&report->calls, &call);
}

/* Calls of several threads come in the order of their ends; the page draws by
 * beginnings. */
static int by_time(const void *a, const void *b)
{
    const report_call *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void gphi_report_settle(gph_report *report)
{
    if (report->is_settled)
        return;
    report->is_settled = true;
    gph_doctor_event_count(report->doctor, &report->lost);
    if (report->calls.count > 1)
        qsort(report->calls.items, report->calls.count, sizeof(report_call), by_time);
    if (report->gpu.count > 1)
        qsort(report->gpu.items, report->gpu.count, sizeof(report_gpu), gphi_by_first);
    GPHI_EACH (const report_gpu, gpu, &report->gpu)
        if (gpu->end_ns > report->last_ns)
            report->last_ns = gpu->end_ns;
    if (report->spans.count > 1)
        qsort(report->spans.items, report->spans.count, sizeof(report_span),
              gphi_by_first);
    GPHI_EACH (const report_span, span, &report->spans)
        if (span->to_ns > report->last_ns)
            report->last_ns = span->to_ns;
    if (report->collectives.count > 1)
        qsort(report->collectives.items, report->collectives.count,
              sizeof(report_collective), gphi_by_first);
    GPHI_EACH (const report_collective, at, &report->collectives)
        if (at->to_ns > report->last_ns)
            report->last_ns = at->to_ns;
    /* From now on this map leads from the number of a call to 1 + its index. */
    gphi_map_fini(&report->nodes);
    gphi_map_init(&report->nodes, report->heap);
    if (gphi_map_reserve(&report->nodes, report->calls.count) != GPH_OK)
        return; /* nothing leads to calls; the rest is as it is */
    for (size_t i = 0; i < report->calls.count; i++)
        gphi_ignore(
            gphi_map_set(&report->nodes, gphi_report_call_at(report, i)->number, i + 1),
            "there is room");
}

uint32_t gphi_report_find(const gph_report *report, uint64_t number)
{
    const uint64_t *at = number == 0 ? NULL : gphi_map_get(&report->nodes, number);
    return !at ? UINT32_MAX : (uint32_t)(*at - 1);
}

uint64_t gphi_report_time(const gph_report *report, uint64_t ns)
{
    return ns > report->first_ns ? ns - report->first_ns : 0;
}
