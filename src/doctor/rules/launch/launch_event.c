// SPDX-License-Identifier: Apache-2.0
/* Rule launch.unrecorded-event. A wait for an event that nothing has recorded yet waits for
 * nothing; what is recorded later comes too late:
 *
 *   consumer:  wait E, read x                    E was never recorded: no wait
 *   producer:                  write x, record E
 *
 * Rings of buffers begin so on purpose, with a wait for what nobody has used yet. So it is
 * reported at the end only: if the event was never waited for after a record, and what
 * came before the record wrote for certain what comes after the wait.
 *
 * The host waits for nothing, launch after launch, if nothing ever records the event. */
#include "doctor/findings/finding.h"
#include "doctor/rules/launch/rules_launch.h"

#include <string.h>

enum { EVENTS_MAX = 256, WORKS_MAX = 64, AFTER_MAX = 16, TIMES_MIN = 2 };

static gphi_launch_awaited *awaited_of(gphi_rule_run *run, uint64_t event)
{
    const gphi_cuda_event *known = gphi_model_event(run->model, event);
    gphi_launch_awaited *one =
        gphi_vec_keyed(run->state, &event, sizeof(event), EVENTS_MAX);
    if (one && known && one->made != known->created.number) {
        /* another event has the handle now; what is to be reported stays with it */
        if (one->writer.number != 0 && !one->is_kept)
            return NULL;
        *one = (gphi_launch_awaited){.event = event, .made = known->created.number};
    }
    return one;
}

static void note_wait(gphi_rule_run *run, const gphi_seen *seen, uint64_t event,
                      uint64_t after)
{
    const gphi_cuda_event *known = gphi_model_event(run->model, event);
    gphi_launch_awaited *one =
        known && known->created.number != 0 ? awaited_of(run, event) : NULL;
    if (!one)
        return;
    one->is_kept = one->is_kept || one->is_recorded;
    if (one->is_recorded || one->wait.number != 0)
        return;
    one->wait = seen->call;
    one->after = after;
    one->stream = seen->stream;
}

/* By the host, after a launch that it has not asked about so far. */
static void note_asked(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t handle = gphi_event_word(seen->event, 0);
    const gphi_cuda_event *known = gphi_model_event(run->model, handle);
    const gphi_exec_history *last = run->history->recent[0];
    const bool is_of_here = known && (known->created.call == GPHI_CALL_cuEventCreate) &&
                            known->recorded.number == 0;
    gphi_launch_awaited *one = is_of_here && last ? awaited_of(run, handle) : NULL;
    if (!one || one->launch.number == last->last_launch.number)
        return;
    if (one->times++ == 0)
        one->asked = seen->call;
    one->launch = last->last_launch;
}

/* Whether work of the stream that records, since the wait, writes what the work after the
 * wait uses. */
static void look_at_record(gphi_rule_run *run, const gphi_seen *seen,
                           gphi_launch_awaited *one)
{
    const gphi_work *later[AFTER_MAX], *work;
    uint32_t count = 0;
    uint64_t at = one->after;
    while (count < AFTER_MAX && (work = gphi_model_work_next(run->model, at)) &&
           work->number <= one->after + WORKS_MAX) {
        at = work->number;
        if (!work->is_captured && work->stream == one->stream)
            later[count++] = work;
    }
    at = one->after;
    for (uint32_t n = 0; n < WORKS_MAX && (work = gphi_model_work_next(run->model, at));
         n++) {
        at = work->number;
        if (work->is_captured || work->stream != seen->stream)
            continue;
        for (uint32_t i = 0; i < count && one->address == 0; i++)
            if (later[i]->exec != work->exec || !work->exec)
                one->address = gphi_history_meets(run->history, work, later[i]);
        if (one->address != 0 && one->writer.number == 0)
            one->writer = work->call;
    }
}

static void note_record(gphi_rule_run *run, const gphi_seen *seen, uint64_t event)
{
    gphi_launch_awaited *one = awaited_of(run, event);
    if (!one)
        return;
    if (!one->is_recorded && one->wait.number != 0 && seen->stream != one->stream) {
        one->record = seen->call;
        look_at_record(run, seen, one);
    }
    one->is_recorded = true;
}

static void note_nodes(gphi_rule_run *run, const gphi_seen *seen, gph_node_kind kind)
{
    const gphi_snapshot *source = seen->exec->source;
    const gph_graph *graph =
        source && source->has_events ? gphi_snapshot_graph(source) : NULL;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != kind)
            continue;
        if (kind == GPH_NODE_EVENT_WAIT)
            note_wait(run, seen, node->u.event.event, seen->work->number - 1);
        else
            note_record(run, seen, node->u.event.event);
    }
}

void gphi_launch_event(gphi_rule_run *run, const gphi_seen *seen)
{
    if (seen->call.result != 0 || seen->capture)
        return;
    if (gphi_is_launch(seen) && seen->work && seen->exec) {
        note_nodes(run, seen, GPH_NODE_EVENT_WAIT);
        note_nodes(run, seen, GPH_NODE_EVENT_RECORD);
    } else if (seen->call.call == GPHI_CALL_cuStreamWaitEvent)
        note_wait(run, seen, gphi_event_word(seen->event, 1), run->model->work_count);
    else if (seen->call.call == GPHI_CALL_cuEventSynchronize)
        note_asked(run, seen);
    else if (seen->call.call == GPHI_CALL_cuEventRecord ||
             seen->call.call == GPHI_CALL_cuEventRecordWithFlags)
        note_record(run, seen, gphi_event_word(seen->event, 0));
}

static void tell_never(gphi_rule_run *run, const gphi_launch_awaited *one)
{
    gphi_draft *draft = gphi_finding_begin(run, &one->asked, one->event);
    gphi_cause(draft,
               "the host waited %s for %s after launches of graphs, and nothing ever "
               "recorded that event: each wait ended at once, whatever was under way",
               gphi_say_count(one->times, "time"),
               gphi_say_event(run->model, one->event));
    gphi_evidence_call(draft, &one->launch, "the last of these launches is");
}

/* That what wrote too late was in no order with the reader follows from it. */
static void fold(gphi_rule_run *run, const gphi_launch_awaited *one)
{
    for (size_t i = 0; i < run->findings->drafts.count; i++) {
        gphi_draft *draft = gphi_vec_pointer(&run->findings->drafts, i);
        if (one->writer.stack != 0 && draft->at.stack == one->writer.stack &&
            strcmp(draft->rule->id, "memory.input-race") == 0)
            gphi_withdraw(draft);
    }
}

void gphi_launch_event_end(gphi_rule_run *run)
{
    const gphi_vec *events = run->state;
    GPHI_EACH (const gphi_launch_awaited, one, events) {
        const gphi_cuda_event *known = gphi_model_event(run->model, one->event);
        if (one->times >= TIMES_MIN && !one->is_recorded && run->model->lost == 0 &&
            known && known->created.number == one->made && known->recorded.number == 0)
            tell_never(run, one);
        if (one->writer.number == 0 || one->is_kept)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->wait, one->event);
        fold(run, one);
        gphi_cause(draft,
                   "%s waited for %s, which nothing had recorded yet: it waited for "
                   "nothing; what wrote %s, and recorded the event, was launched later",
                   gphi_say_call(&one->wait), gphi_say_event(run->model, one->event),
                   gphi_say_memory(run->model, one->address));
        gphi_evidence_call(draft, &one->writer, "written by");
        gphi_evidence_call(draft, &one->record, "the event was recorded first by");
        gphi_evidence(draft, "it was never waited for afterwards");
    }
}
