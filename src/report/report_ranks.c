// SPDX-License-Identifier: Apache-2.0
/* What ranks called together, by communicator. A record says when a collective was called; it
 * lasts, as far as the host sees, until its thread has launched a kernel for it (within a
 * group: for all of the group), or until it returned, where that was recorded. */
#include "base/fail.h"
#include "report/report.h"

enum { COLLECTIVES_MAX = 100000 };

static report_collective *linked(const gph_report *report, uint32_t link)
{
    return gphi_vec_at(&report->collectives, link - 1);
}

/* Takes the one that `link` leads to off its thread's open ones. */
static report_collective *end_open(gph_report *report, uint32_t *link, uint64_t ns)
{
    report_collective *at = linked(report, *link);
    *link = at->below;
    at->is_open = false;
    at->to_ns = ns;
    return at;
}

static uint32_t *newest_open(gph_report *report, uint32_t thread)
{
    return &((report_thread *)gphi_vec_at(&report->threads, thread))->open;
}

static uint32_t comm_of(gph_report *report, uint64_t handle)
{
    if (handle == 0)
        return 0;
    uint32_t index = UINT32_MAX;
    report_comm *comm = gphi_report_item(&report->comms, &report->comm_map,
                                         gphi_report_key(report, handle), &index);
    if (!comm)
        return 0;
    comm->handle = handle;
    comm->process = (uint32_t)report->process;
    return index + 1;
}

static void returned(gph_report *report, const gphi_event *event, uint32_t thread)
{
    const uint32_t id = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_ID);
    uint32_t *link = newest_open(report, thread);
    while (*link != 0 && linked(report, *link)->call != id)
        link = &linked(report, *link)->below;
    if (*link == 0)
        return;
    report_collective *at = end_open(report, link, event->time_ns);
    at->result = (int32_t)gphi_event_word(event, GPHI_COLLECTIVE_RESULT);
    const uint32_t comm = comm_of(report, event->id);
    if (comm != 0 && gphi_collective_sort_of(id) == GPHI_COLLECTIVE_MAKE) {
        report_comm *made = gphi_vec_at(&report->comms, comm - 1);
        made->rank = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_RANK);
        made->ranks = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_RANKS);
        at->comm = comm;
    }
    /* A handle may be given to another communicator later. */
    if (gphi_collective_sort_of(id) == GPHI_COLLECTIVE_END && at->result == 0)
        gphi_map_remove(&report->comm_map, gphi_report_key(report, event->id));
}

gph_status gphi_report_collective(gph_report *report, const gphi_event *event)
{
    const uint32_t id = (uint32_t)gphi_event_word(event, GPHI_COLLECTIVE_ID);
    const uint32_t thread = gphi_report_thread(report, event->thread);
    if (id >= GPHI_COLLECTIVE_COUNT || thread >= UINT16_MAX)
        return GPH_OK;
    if (gphi_event_word(event, GPHI_COLLECTIVE_PHASE) == GPHI_COLLECTIVE_RETURNED) {
        returned(report, event, thread);
        return GPH_OK;
    }
    if (gphi_collective_sort_of(id) == GPHI_COLLECTIVE_GROUP ||
        report->collectives.count >= COLLECTIVES_MAX)
        return GPH_OK;
    const report_collective at = {.from_ns = event->time_ns,
                                  .to_ns = event->time_ns,
                                  .elements =
                                      gphi_event_word(event, GPHI_COLLECTIVE_ELEMENTS),
                                  .dtype = gphi_event_word(event, GPHI_COLLECTIVE_DTYPE),
                                  .call = id,
                                  .comm = comm_of(report, event->id),
                                  .stack = event->stack,
                                  .thread = thread,
                                  .below = *newest_open(report, thread),
                                  .is_open = true};
    if (report->first_ns == 0 || event->time_ns < report->first_ns)
        report->first_ns = event->time_ns;
    GPHI_TRY(gphi_vec_push(&report->collectives, &at));
    *newest_open(report, thread) = (uint32_t)report->collectives.count;
    return GPH_OK;
}

/* NCCL launches from within the call, or from within the end of its group. */
void gphi_report_collective_launch(gph_report *report, const gphi_event *event,
                                   uint32_t thread)
{
    uint32_t *link = newest_open(report, thread);
    /* What makes or ends a communicator returns for itself. */
    while (*link != 0 &&
           gphi_collective_sort_of(linked(report, *link)->call) <= GPHI_COLLECTIVE_PAIR)
        end_open(report, link, event->time_ns + event->u.call.duration_ns);
}
