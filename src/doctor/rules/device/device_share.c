// SPDX-License-Identifier: Apache-2.0
/* What the files of device.* share: findings of its rows, lists, outermost graphs. A run is
 * of the first row, so a row is its rule and so many more. */
#include "doctor/rules/device/rules_device.h"

gphi_draft *device_begin(const gphi_rule_run *run, uint32_t rule, const gphi_call *at,
                         uint64_t key)
{
    gphi_rule_run as = *run;
    as.rule += rule;
    return gphi_finding_begin(&as, at, key);
}

gphi_draft *device_begin_any(const gphi_rule_run *run, uint32_t rule, const gphi_call *at,
                             uint64_t key, bool *is_new)
{
    gphi_rule_run as = *run;
    as.rule += rule;
    return gphi_finding_begin_any(&as, at, key, is_new);
}

void *device_add(gphi_rule_run *run, gphi_vec *list)
{
    if (list->count >= DEVICE_ITEMS_MAX)
        return NULL;
    void *item = gphi_vec_add(list, 1);
    if (!item)
        gphi_short(run);
    return item;
}

uint64_t device_root(const device_state *state, uint64_t graph)
{
    for (size_t i = state->bodies.count; i-- > 0;) { /* the outer one comes first */
        const device_body *body = gphi_vec_at(&state->bodies, i);
        if (body->body == graph)
            graph = body->graph;
    }
    return graph;
}

uint64_t device_graph_of(const gphi_seen *seen)
{
    if (seen->capture)
        return seen->capture->graph;
    return gphi_call_is_kernel(seen->call.call) ? 0 : gphi_event_word(seen->event, 1);
}

/* ---- nodes ---- */

uint32_t device_made_by(const gphi_snapshot *snapshot, const gphi_call *call)
{
    for (uint32_t i = 0; snapshot && i < snapshot->node_count; i++)
        if (gphi_snapshot_made(snapshot, i)->number == call->number)
            return i;
    return GPH_NODE_NONE;
}

void device_put_node(const gphi_rule_run *run, gphi_draft *draft, const gphi_call *added)
{
    enum { EXECS_MAX = 64 };
    const gphi_vec *execs = &run->model->execs;
    for (size_t i = execs->count, n = 0; added->number != 0 && i-- > 0 && n < EXECS_MAX;
         n++) {
        const gphi_exec_state *exec = gphi_vec_pointer(execs, i);
        const uint32_t index = device_made_by(exec->source, added);
        if (index == GPH_NODE_NONE)
            continue;
        gphi_evidence_node(draft, exec->source, index, "the node");
        return;
    }
    gphi_evidence_call(draft, added, "its node was added by");
}
