// SPDX-License-Identifier: Apache-2.0
/* Rule update.edit-without-effect, of executables: one node is set as often as the graph has
 * nodes of its kernel, at one place, before each launch, and the others are never set:
 *
 *   for each layer: set node 0        the last one counts, and the other layers keep theirs
 *
 * A setter is seen as a call; edits of libgph's of one node are one call, so a note says how
 * many there were. */
#include "doctor/history/history.h"
#include "doctor/rules/update/update_edit.h"

#include <string.h>

enum { ITEMS_MAX = 512, TIMES_MIN = 2, ROUNDS_MIN = 3 };

static gphi_over *over_of(gphi_rule_run *run, gphi_vec *all, const gphi_exec_state *exec,
                          uint64_t node)
{
    const uint64_t key[] = {exec->created.number, node};
    gphi_over *one = gphi_vec_keyed(all, key, sizeof(key), ITEMS_MAX);
    if (one)
        one->exec = gphi_history_exec(run->history, exec);
    return one;
}

static void count(gphi_over *one, const gphi_call *at, uint64_t times)
{
    if (one->first.number == 0)
        one->first = *at;
    one->is_elsewhere = one->is_elsewhere || at->stack != one->first.stack;
    one->times += times;
}

void gphi_over_event(gphi_rule_run *run, gphi_vec *all, const gphi_event *event)
{
    const bool is_found = event->id == GPHI_NOTE_NODE_FOUND;
    const gphi_exec_state *exec =
        event->kind == GPHI_EVENT_NOTE && (is_found || event->id == GPHI_NOTE_EDITED)
            ? gphi_model_exec(run->model, gphi_event_word(event, 0))
            : NULL;
    const uint64_t times = gphi_event_word(event, 2);
    gphi_over *one =
        exec ? over_of(run, all, exec, gphi_exec_node(exec, gphi_event_word(event, 1)))
             : NULL;
    if (one && is_found) {
        one->finds = event->stack == one->found.stack ? one->finds + 1 : 1;
        one->found = (gphi_call){.number = run->model->call_count,
                                 .time_ns = event->time_ns,
                                 .call = GPHI_CALL_COUNT,
                                 .thread = event->thread,
                                 .stack = event->stack};
    } else if (one && times > 0) /* the setter itself comes as well */
        one->times += times - 1;
}

static void note_launch(gphi_vec *all, const gphi_seen *seen)
{
    GPHI_EACH (gphi_over, one, all) {
        if (one->made != seen->exec->created.number)
            continue;
        if (one->times < TIMES_MIN || (one->rounds > 0 && one->times != one->each))
            one->is_elsewhere = true;
        one->each = one->times;
        one->rounds++;
        one->times = 0;
        one->launch = seen->call;
    }
}

void gphi_over_call(gphi_rule_run *run, gphi_vec *all, const gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    if (!seen->exec || seen->call.result != 0)
        return;
    if (gphi_is_launch(seen)) {
        note_launch(all, seen);
        return;
    }
    const bool is_setter =
        strncmp(name, "cuGraphExec", 11) == 0 && strstr(name, "SetParams");
    gphi_over *one =
        is_setter ? over_of(run, all, seen->exec,
                            gphi_exec_node(seen->exec, gphi_event_word(seen->event, 1)))
                  : NULL;
    if (one)
        count(one, &seen->call, 1);
}

static bool is_set(const gphi_vec *all, const gphi_over *of, uint64_t node)
{
    GPHI_EACH (const gphi_over, one, all)
        if (one->made == of->made && one->node == node && one->first.number != 0)
            return true;
    return false;
}

/* The nodes of its kernel, if none but itself was ever set; else 0. */
static uint64_t alike_of(const gphi_vec *all, const gphi_over *of)
{
    const gphi_snapshot *source = of->exec ? of->exec->source : NULL;
    const gph_graph *graph =
        source && source->handles ? gphi_snapshot_graph(source) : NULL;
    const gph_node *own = gph_graph_node(graph, gphi_snapshot_index(source, of->node));
    uint64_t nodes = 0;
    for (uint32_t i = 0; own && own->kind == GPH_NODE_KERNEL && i < source->node_count;
         i++) {
        const gph_node *other = gph_graph_node(graph, i);
        if (!other || other->kind != GPH_NODE_KERNEL ||
            other->u.kernel.handle != own->u.kernel.handle)
            continue;
        if (other != own && is_set(all, of, source->handles[i]))
            return 0;
        nodes++;
    }
    return nodes;
}

void gphi_over_end(gphi_rule_run *run, const gphi_vec *all)
{
    GPHI_EACH (const gphi_over, one, all) {
        if (one->is_elsewhere || one->rounds < ROUNDS_MIN ||
            one->each != alike_of(all, one))
            continue;
        const gphi_snapshot *source = one->exec->source;
        const uint32_t index = gphi_snapshot_index(source, one->node);
        const bool is_same = one->finds >= TIMES_MIN; /* where it was looked for it is
                                                         the same each time */
        gphi_draft *draft =
            gphi_finding_begin(run, is_same ? &one->found : &one->first, one->made);
        gphi_cause(
            draft,
            "%s was set %s before each launch, and the last time counts; the graph "
            "has as many nodes of that kernel, and the others were never set",
            gphi_say_node(source, index), gphi_say_count(one->each, "time"));
        gphi_evidence_call(draft, gphi_snapshot_made(source, index), "it was made by");
        if (is_same)
            gphi_evidence_call(draft, &one->first, "it is set by");
        gphi_evidence_call(draft, &one->launch, "last launched by");
        gphi_fix(draft, "Here: set each node by its own handle; of nodes of one kernel "
                        "gph_exec_node_find() gives the n-th.");
    }
}
