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
