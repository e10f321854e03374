// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*, the lowest file: watches of captures and the incidents that broke
 * them, as all the others use them. */
#include "doctor/rules/capture/rules_capture.h"

#include "base/fail.h"
#include "base/heap.h"
#include "doctor/rules/rules.h"
#include <string.h>

enum { KEEP_EARLY = 32 };

gphi_watch *gphi_watch_at(const gphi_capture_state *state, size_t index)
{
    return gphi_vec_pointer(&state->watches, index);
}

gphi_watch *gphi_watch_of(const gphi_capture_state *state, const gphi_capture *capture)
{
    for (size_t i = state->watches.count; capture && i-- > 0;)
        if (gphi_watch_at(state, i)->capture == capture &&
            gphi_watch_at(state, i)->begun == capture->begin.number)
            return gphi_watch_at(state, i);
    return NULL;
}

/* ---- telling ---- */

/* Only the first row of the table has functions, so that `run` is of that row, and the
 * others of these rules stand after it. */
static const gphi_rule *rule_of(const gphi_rule_run *run, gphi_capture_rule rule)
{
    if (rule < GPHI_RULE_CAPTURE_COUNT)
        return run->rule + rule;
    const bool is_nccl = rule == GPHI_RULE_WATCHDOG;
    const char *id = is_nccl ? "nccl.watchdog-query" : "instantiate.during-capture";
    const gphi_rule *other = is_nccl ? gphi_rules_nccl : gphi_rules_instantiate;
    while (other->id && strcmp(other->id, id) != 0)
        other++;
    return other->id ? other : run->rule;
}

gphi_draft *gphi_capture_find(gphi_rule_run *run, gphi_capture_rule rule,
                              const gphi_call *at, uint64_t key)
{
    gphi_rule_run as = *run;
    as.rule = rule_of(run, rule);
    return gphi_finding_begin(&as, at, key);
}

static gphi_incident *same_incident(const gphi_capture_state *state,
                                    gphi_capture_rule rule, const gphi_call *root)
{
    for (size_t i = 0; i < state->incidents.count; i++) {
        gphi_incident *in = gphi_vec_pointer(&state->incidents, i);
        if (in->rule == rule && in->root.stack == root->stack &&
            in->root.call == root->call)
            return in;
    }
    return NULL;
}

gphi_incident *gphi_capture_tell(gphi_rule_run *run, gphi_capture_rule rule,
                                 const gphi_call *root, gphi_watch *watch)
{
    gphi_capture_state *state = run->state;
    gphi_incident *incident = same_incident(state, rule, root);
    gphi_rule_run as = *run;
    bool is_new = false;
    as.rule = rule_of(run, rule);
    gphi_draft *draft = gphi_finding_begin_any(&as, root, root->call, &is_new);
    if (!incident) {
        incident = gphi_heap_alloc(run->model->heap, sizeof(*incident));
        if (!incident || gphi_vec_push(&state->incidents, &incident) != GPH_OK) {
            gphi_heap_free(run->model->heap, incident, sizeof(*incident));
            gphi_short(run);
            return NULL;
        }
        incident->rule = rule;
        incident->root = *root;
        incident->site = gphi_call_site(run, root);
    }
    incident->draft = draft;
    incident->fresh = is_new ? draft : NULL;
    if (watch) {
        incident->captures++;
        watch->incident = incident;
    }
    return incident;
}

gphi_draft *gphi_first_cause(gphi_rule_run *run, gphi_capture_rule rule,
                             const gphi_seen *seen, gphi_watch *watch)
{
    if (watch && watch->incident) {
        gphi_watch_noticed(watch, &seen->call);
        return NULL;
    }
    gphi_incident *incident = gphi_capture_tell(run, rule, &seen->call, watch);
    if (incident && watch)
        gphi_watch_settle(watch);
    return incident ? incident->fresh : NULL;
}

/* ---- consequences ---- */

void gphi_incident_noticed(gphi_incident *incident, const gphi_call *call)
{
    const uint32_t room = sizeof(incident->later) / sizeof(incident->later[0]);
    if (!incident->is_seen && call->result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
        incident->is_seen = true;
        gphi_evidence_call(incident->draft, call,
                           call->thread != incident->root.thread
                               ? "the capturing thread got no error until"
                               : "the program went on after the error, until");
    }
    if (incident->noticed < room)
        incident->later[incident->noticed] = *call;
    incident->noticed++;
    gphi_consequence(incident->draft, call);
}

void gphi_watch_settle(gphi_watch *watch)
{
    const gphi_call *early = watch->early.items;
    for (size_t i = 0; i < watch->early.count && watch->incident; i++)
        gphi_incident_noticed(watch->incident, &early[i]);
    watch->early.count = 0;
}

void gphi_watch_noticed(gphi_watch *watch, const gphi_call *call)
{
    if (watch->incident) {
        gphi_incident_noticed(watch->incident, call);
        return;
    }
    if (watch->early.count < KEEP_EARLY)
        gphi_ignore(gphi_vec_push(&watch->early, call), "one consequence less is shown");
}
