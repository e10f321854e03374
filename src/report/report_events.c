// SPDX-License-Identifier: Apache-2.0
/* What a program's own events say of the GPU: which work was done when a wait returned,
 * and how long the GPU took between two of them. */
#include "report/report.h"

#include <string.h>

enum { MARKS_MAX = 400000 };

static uint64_t *recorded(const gph_report *report, uint64_t event)
{
    return gphi_map_get(&report->event_map, gphi_report_key(report, event));
}

/* An event was waited for, or asked and found done: what its stream had before its record
 * is done. */
static gph_status take_wait(gph_report *report, const gphi_event *event, uint64_t number)
{
    const uint64_t *mark = recorded(report, gphi_event_word(event, 0));
    if (!mark || *mark == 0 || report->waits.count >= MARKS_MAX)
        return GPH_OK;
    const report_event_wait wait = {.wait = number, .record = *mark};
    return gphi_vec_push(&report->waits, &wait);
}

static gph_status take_elapsed(gph_report *report, const gphi_event *event,
                               uint64_t number)
{
    const uint64_t *begin = recorded(report, gphi_event_word(event, 1));
    const uint64_t *end = recorded(report, gphi_event_word(event, 2));
    const uint32_t bits = (uint32_t)gphi_event_word(event, 0);
    float ms = 0;
    memcpy(&ms, &bits, sizeof(ms));
    if (!begin || *begin == 0 || !end || *end == 0 || !(ms >= 0) || ms > 1e9F ||
        report->elapsed.count >= MARKS_MAX)
        return GPH_OK;
    const report_elapsed elapsed = {.begin = *begin,
                                    .end = *end,
                                    .asked = number,
                                    .ns = (uint64_t)((double)ms * 1e6 + 0.5)};
    return gphi_vec_push(&report->elapsed, &elapsed);
}

/* Pairs a wait with the record that it waited for, and an elapsed time with its two. */
gph_status gphi_report_event_call(gph_report *report, const gphi_event *event,
                                  const report_call *call)
{
    if (event->u.call.result != 0)
        return GPH_OK;
    switch (event->u.call.call) {
    case GPHI_CALL_cuEventRecord:
    case GPHI_CALL_cuEventRecordWithFlags:
        /* One that a capture took says nothing of the host's time. */
        return gphi_map_set(&report->event_map,
                            gphi_report_key(report, gphi_event_word(event, 0)),
                            event->u.call.capture != 0 ? 0 : call->number);
    case GPHI_CALL_cuEventSynchronize:
    case GPHI_CALL_cuEventQuery: return take_wait(report, event, call->number);
    case GPHI_CALL_cuEventElapsedTime: return take_elapsed(report, event, call->number);
    default: return GPH_OK;
    }
}
