// SPDX-License-Identifier: Apache-2.0
/* Rule launch.unordered-nodes: two nodes of one graph have an address in common, one of them
 * writes there, and no path leads from one to the other. What writes is known of copies and
 * fills; of a kernel by its code, or it is concluded where it is given no other address.
 *
 * Two launches of one kernel are left alone, if each has that address only: they may count
 * atomically, or each do a part of it. SOFTCUDA_CHECK=race sees every access. */
#include "doctor/history/history.h"
#include "doctor/rules/launch/rules_launch.h"

enum { TOUCHES_MAX = 2048, PAIRS_MAX = 64, CUTS_MAX = 64, GRAPHS_MAX = 64 };

/* A kernel that is given one address only. */
static bool is_alone(const gphi_exec_history *exec, const gphi_touch *of)
{
    GPHI_EACH (const gphi_touch, other, &exec->touches)
        if (other->node == of->node && other->address != of->address)
            return false;
    return of->function != 0;
}

static bool is_meeting(const gphi_touch *a, const gphi_touch *b)
{
    return gphi_ranges_meet(a->address, a->bytes != 0 ? a->bytes : 1, b->address,
                            b->bytes != 0 ? b->bytes : 1);
}

/* The living graph whose newest snapshot has the node, or NULL. */
static const gphi_graph_state *graph_with(const gphi_model *model, uint64_t node)
{
    for (size_t i = model->graphs.count, n = 0; i-- > 0 && n < GRAPHS_MAX;) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        n += graph->is_alive;
        if (graph->is_alive && gphi_snapshot_index(graph->last, node) != GPH_NODE_NONE)
            return graph;
    }
    return NULL;
}

/* Before the model forgets the node: the newest snapshot is older than the call. */
static void note_cut(gphi_rule_run *run, const gphi_seen *seen)
{
    const uint64_t first = gphi_event_word(seen->event, 0);
    const bool is_node = seen->call.call == GPHI_CALL_cuGraphDestroyNode;
    const gphi_graph_state *graph =
        is_node ? graph_with(run->model, first) : gphi_model_graph(run->model, first);
    const gphi_launch_cut new = {.graph = graph ? graph->handle : 0,
                                 .made = graph ? graph->created.number : 0,
                                 .call = seen->call};
    gphi_vec *cuts = run->state;
    if (graph && cuts->count < CUTS_MAX && gphi_vec_push(cuts, &new) != GPH_OK)
        gphi_short(run);
}

/* The last cut of the executable's graph after both nodes had been made, or NULL. */
static const gphi_launch_cut *cut_of(const gphi_vec *cuts, const gphi_exec_history *exec,
                                     uint64_t after)
{
    const gphi_launch_cut *found = NULL;
    GPHI_EACH (const gphi_launch_cut, cut, cuts)
        if (cut->graph == exec->exec->graph && cut->made == exec->exec->graph_made &&
            cut->call.number > after && cut->call.number < exec->exec->created.number)
            found = cut;
    return found;
}

static void report_nodes(gphi_rule_run *run, const gphi_exec_history *exec,
                         const gphi_touch *writer, const gphi_touch *other)
{
    /* the one that came last is where the edge is missing */
    const gphi_call *made = gphi_snapshot_made(exec->source, other->node);
    const gphi_call *first = gphi_snapshot_made(exec->source, writer->node);
    if (first->number > made->number)
        made = first;
    const gphi_launch_cut *cut = cut_of(run->state, exec, made->number);
    gphi_draft *draft = gphi_finding_begin(run,
                                           cut                 ? &cut->call
                                           : made->number != 0 ? made
                                                               : &exec->exec->created,
                                           exec->created);
    gphi_cause(draft,
               "%s writes %s, an address that %s has as well, and no path leads from one "
               "to the other: they run in any order, or at the same time",
               gphi_say_node(exec->source, writer->node),
               gphi_say_memory(run->model, writer->address), gphi_say_touch(exec, other));
    gphi_evidence_call(draft, first, "the one that writes was made by");
    gphi_evidence_call(draft, gphi_snapshot_made(exec->source, other->node),
                       "the other one by");
    if (!writer->writes)
        gphi_evidence(draft, "that the kernel writes there is concluded: its code stores "
                             "there, or it is given no other address");
    if (cut)
        gphi_evidence_call(draft, &cut->call,
                           "what may have ordered them was taken out of the graph by");
    gphi_evidence_call(draft, &exec->first_launch, "first launched by");
}

/* Its capture came into a graph that had its recording: that is reported. */
static bool is_appended(const gphi_rule_run *run, const gphi_exec_history *exec,
                        const gphi_touch *touch)
{
    const gphi_call *made = gphi_snapshot_made(exec->source, touch->node);
    const gphi_capture *capture =
        made->capture != 0 ? gphi_model_capture(run->model, made->capture) : NULL;
    return capture && gphi_is_told(run, &capture->begin);
}

static bool is_race(const gphi_rule_run *run, const gphi_exec_history *exec,
                    const gphi_touch *writer, const gphi_touch *other)
{
    const gph_graph *graph = gphi_snapshot_graph(exec->source);
    const bool are_alike =
        (writer->function != 0 && writer->function == other->function &&
         (is_alone(exec, other) || writer->arg == other->arg)) ||
        (writer->is_atomic && other->is_atomic);
    return !are_alike && !is_appended(run, exec, writer) &&
           !is_appended(run, exec, other) &&
           !gphi_touch_is_off(run->history, exec, other) &&
           !gphi_node_leads_to(run->model, graph, writer->node, other->node) &&
           !gphi_node_leads_to(run->model, graph, other->node, writer->node);
}

/* Once an executable, before what it computes is used. */
void gphi_launch_nodes(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_exec_history *exec = run->history->launched;
    uint32_t pairs = 0;
    if ((seen->call.call == GPHI_CALL_cuGraphDestroyNode ||
         seen->call.call == GPHI_CALL_cuGraphRemoveDependencies) &&
        seen->call.result == 0)
        note_cut(run, seen);
    if (!exec || exec->launches != 1 || exec->touches.count > TOUCHES_MAX ||
        !gphi_snapshot_graph(exec->source))
        return;
    GPHI_EACH (const gphi_touch, writer, &exec->touches) {
        if ((!gphi_touch_is_writer(writer) &&
             (!is_alone(exec, writer) || writer->is_kept)) ||
            gphi_touch_is_off(run->history, exec, writer))
            continue;
        GPHI_EACH (const gphi_touch, other, &exec->touches) {
            if (other->node == writer->node || !is_meeting(writer, other) ||
                pairs++ >= PAIRS_MAX || !is_race(run, exec, writer, other))
                continue;
            report_nodes(run, exec, writer, other);
            return;
        }
    }
}
