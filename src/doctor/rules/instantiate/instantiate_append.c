// SPDX-License-Identifier: Apache-2.0
/* Rule instantiate.appended-capture: cuStreamBeginCaptureToGraph adds to what its graph
 * has. A program that records a step again into the graph of the last recording, without
 * dependencies, gets both, side by side:
 *
 *   into(G) K  end  instantiate   into(G) K  end  instantiate     the second runs K twice
 *                                 ^ reported when the second executable has it twice */
#include "doctor/model/call_kinds.h"
#include "doctor/rules/instantiate/rules_instantiate.h"

enum { GRAPHS_MAX = 256 };

static void on_begin(gphi_vec *items, const gphi_seen *seen)
{
    const uint64_t graph = gphi_event_word(seen->event, 1);
    if (gphi_event_word(seen->event, 4) != 0)
        return; /* after other nodes, which it knows */
    gphi_recorded_into *one = gphi_vec_keyed(items, &graph, sizeof(graph), GRAPHS_MAX);
    if (!one)
        return;
    if (one->begin.number == 0)
        one->begin = seen->call;
    else if (one->executables > 0)
        one->again = seen->call;
}

/* A kernel that depends on nothing, recorded at or after the second begin, of which there
 * is one of the first recording: its index; UINT32_MAX: none. */
static uint32_t twice_in(const gphi_snapshot *snapshot, const gphi_recorded_into *of)
{
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    const uint32_t count = gph_graph_node_count(graph);
    for (uint32_t i = 0; i < count; i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind != GPH_NODE_KERNEL || node->u.kernel.handle == 0 ||
            gphi_snapshot_made(snapshot, i)->number < of->again.number)
            continue;
        for (uint32_t k = 0; k < count; k++) {
            const gph_node *other = gph_graph_node(graph, k);
            const uint64_t made = gphi_snapshot_made(snapshot, k)->number;
            if (other->kind == GPH_NODE_KERNEL && made > of->begin.number &&
                made < of->again.number &&
                other->u.kernel.handle == node->u.kernel.handle)
                return i;
        }
    }
    return UINT32_MAX;
}

static void on_instantiation(gphi_rule_run *run, gphi_vec *items, const gphi_seen *seen)
{
    const uint64_t graph = seen->exec ? seen->exec->graph : 0;
    gphi_recorded_into *one = NULL;
    GPHI_EACH (gphi_recorded_into, item, items)
        if (graph != 0 && item->graph == graph)
            one = item;
    if (!one)
        return;
    one->executables++;
    const uint32_t node = one->again.number ? twice_in(seen->snapshot, one) : UINT32_MAX;
    if (node == UINT32_MAX)
        return;
    gphi_draft *draft = gphi_finding_begin(run, &one->again, 0);
    gphi_cause(draft,
               "%s records into a graph that has a recording already, depending on none "
               "of its nodes: the executable made of it then has both, side by side",
               gphi_say_call(&one->again));
    gphi_evidence_call(draft, &one->begin, "the first recording began");
    if (draft)
        gphi_evidence_node(draft, seen->snapshot, node, "recorded once more");
    gphi_evidence_call(draft, &seen->call, "the executable is made by");
}

static void forget(gphi_vec *items, uint64_t graph)
{
    for (size_t i = items->count; i-- > 0;)
        if (graph == 0 || ((gphi_recorded_into *)gphi_vec_at(items, i))->graph == graph)
            gphi_vec_remove(items, i);
}

void gphi_rule_appended_capture(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_vec *items = run->state;
    if (seen->call.result != 0)
        return;
    if (seen->call.call == GPHI_CALL_cuStreamBeginCaptureToGraph)
        on_begin(items, seen);
    else if (items->count == 0)
        return;
    else if (gphi_call_is_instantiation(seen->call.call))
        on_instantiation(run, items, seen);
    else if (seen->call.call == GPHI_CALL_cuGraphDestroy)
        forget(items, gphi_event_word(seen->event, 0));
    else if (seen->call.call == GPHI_CALL_cuGraphDestroyNode)
        forget(items, 0); /* of which graph is not said: it may be emptied */
}
