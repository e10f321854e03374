// SPDX-License-Identifier: Apache-2.0
/* What the files of the rules launch.* share, below all of them. */
#include "doctor/rules/launch/rules_launch.h"

void gphi_launch_node(gphi_draft *draft, const gphi_snapshot *snapshot, uint32_t index,
                      const char *what)
{
    if (snapshot->made != NULL && index < snapshot->node_count &&
        snapshot->made[index].number != 0)
        gphi_evidence_call(draft, &snapshot->made[index], "%s: %s, made by", what,
                           gphi_say_node(snapshot, index));
    else
        gphi_evidence(draft, "%s: %s", what, gphi_say_node(snapshot, index));
}

uint32_t gphi_launch_find(const gphi_snapshot *snapshot, gph_node_kind kind,
                          uint64_t address)
{
    const gph_graph *graph = snapshot != NULL ? snapshot->data : NULL;
    for (uint32_t i = 0; graph != NULL && i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == kind && node->u.memory.address == address)
            return i;
    }
    return GPH_NODE_NONE;
}

bool gphi_launch_is_good(const gphi_seen *seen)
{
    return seen->call.call == GPHI_CALL_cuGraphLaunch && seen->call.result == 0 &&
           seen->exec != NULL && seen->capture == NULL;
}
