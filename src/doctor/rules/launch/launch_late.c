// SPDX-License-Identifier: Apache-2.0
/* Rule launch.event-before-launch. The host waits for an event in order to read what a graph
 * has copied to it, but the event was recorded before the launch:
 *
 *   record E, launch G (copies to the host), wait E      G may not have begun
 *
 * A pipeline may wait so for the launch before, with another graph or another place for the
 * result. So it counts if it is one graph, if at least once nothing came before the record in
 * its stream, so that the wait was for nothing, and if the event is never waited for after a
 * record that follows the launch. */
#include "doctor/rules/launch/rules_launch.h"

#include <inttypes.h>
#include <string.h>

enum { EVENTS_MAX = 128, LATE_MIN = 2 };

static bool copies_to_host(const gphi_exec_state *exec)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_MEMCPY && node->u.memcpy.dst.memory == GPH_MEMORY_HOST)
            return true;
    }
    return false;
}

/* Whether nothing of the stream was still to be done. */
static bool is_idle(const gphi_model *model, const gphi_stream *stream)
{
    const gphi_work *work = NULL, *last = NULL;
    for (uint64_t at = model->work_count > 64 ? model->work_count - 64 : 0;
         (work = gphi_model_work_next(model, at)); at = work->number)
        if (work->stream == stream && !work->is_captured)
            last = work;
    return !last || gphi_model_ordered(model, last->number, GPHI_WORK_NOW);
}

static void note_record(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t event = gphi_event_word(seen->event, 0);
    const gphi_cuda_event *known = gphi_model_event(run->model, event);
    gphi_launch_late *one = gphi_vec_keyed(run->state, &event, sizeof(event), EVENTS_MAX);
    if (!one)
        return;
    if (known && one->made != known->created.number && one->late < LATE_MIN)
        *one = (gphi_launch_late){.event = event, .made = known->created.number};
    one->record = seen->call;
    one->launch.number = 0;
    one->stream = seen->stream;
    one->is_idle = is_idle(run->model, seen->stream);
}

static void note_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    GPHI_EACH (gphi_launch_late, one, (gphi_vec *)run->state) {
        if (one->stream != seen->stream || one->record.number == 0)
            continue;
        if (one->exec && one->exec != seen->exec)
            one->kept++; /* graphs that take turns */
        one->exec = seen->exec;
        one->launch = seen->call;
    }
}

static void note_wait(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t event = gphi_event_word(seen->event, 0);
    GPHI_EACH (gphi_launch_late, one, (gphi_vec *)run->state) {
        if (one->event != event || one->record.number == 0)
            continue;
        const gphi_launch *pending =
            one->exec ? gphi_exec_pending(run->model, one->exec) : NULL;
        if (one->launch.number == 0 || !pending) {
            one->kept++;
            continue;
        }
        one->wait = seen->call;
        one->late++;
        one->idle += one->is_idle;
    }
}

void gphi_launch_late_call(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_vec *all = run->state;
    if (seen->call.result != 0 || seen->capture)
        return;
    switch (seen->call.call) {
    case GPHI_CALL_cuEventRecord:
    case GPHI_CALL_cuEventRecordWithFlags:
        if (seen->stream)
            note_record(run, seen);
        return;
    case GPHI_CALL_cuEventSynchronize: note_wait(run, seen); return;
    case GPHI_CALL_cuEventElapsedTime:
        GPHI_EACH (gphi_launch_late, one, all)
            one->is_timing = one->is_timing ||
                             one->event == gphi_event_word(seen->event, 1) ||
                             one->event == gphi_event_word(seen->event, 2);
        return;
    default:
        if (gphi_is_launch(seen) && seen->exec && all->count > 0 &&
            copies_to_host(seen->exec))
            note_launch(run, seen);
    }
}

void gphi_launch_late_end(gphi_rule_run *run)
{
    GPHI_EACH (const gphi_launch_late, one, (const gphi_vec *)run->state) {
        if (one->late < LATE_MIN || one->idle == 0 || one->kept > 0 || one->is_timing)
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &one->record, one->event);
        gphi_cause(
            draft,
            "%s is recorded before %s is launched in the same stream, and the host "
            "waits for it to read what that graph copies (times: %" PRIu64
            "): it does not wait for the graph",
            gphi_say_event(run->model, one->event), gphi_say_exec(run->model, one->exec),
            one->late);
        gphi_evidence_call(draft, &one->launch, "launched by");
        gphi_evidence_call(draft, &one->wait, "waited for by");
    }
}
