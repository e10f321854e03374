// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: a capture is broken, or records something else than was meant. */
#include "doctor/rules.h"

static bool is_call(const gphi_seen *seen, gphi_call_id call)
{
    return seen->call.call == (uint32_t)call;
}

/* Later calls on the capture's streams fail because of it; none follow an end. */
static void unjoined_fork(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_capture *capture = seen->capture;
    if (!is_call(seen, GPHI_CALL_cuStreamEndCapture) || seen->call.result != 904 ||
        capture == NULL)
        return;
    gphi_draft *draft = gphi_find(run, &seen->call, 0);
    if (draft == NULL)
        return;
    const gphi_capture_member *members = capture->members.items;
    size_t unjoined = 0;
    for (size_t i = 0; i < capture->members.count; i++) {
        const gphi_capture_member *member = &members[i];
        if (member->is_joined || member->is_origin)
            continue;
        unjoined++;
        gphi_evidence_call(draft, &member->joined, "%s came into the capture here",
                           gphi_say_stream(run->model, member->stream));
        gphi_evidence_call(draft, &member->last_work,
                           "its last work, for which nothing waits (of %llu)",
                           (unsigned long long)member->node_count);
    }
    gphi_evidence_call(draft, &capture->begin, "the capture began on %s",
                       gphi_say_stream(run->model, capture->origin));
    gphi_cause(draft,
               "%s gave %s: of %zu streams in the capture %zu had work that %s did not "
               "wait for.",
               gphi_say_call(&seen->call), gphi_say_result(seen->call.result),
               capture->members.count, unjoined,
               gphi_say_stream(run->model, capture->origin));
}

/* The last entry is no rule. */
const gphi_rule gphi_rules_capture[] = {
    {.id = "capture.unjoined-fork",
     .severity = GPH_SEVERITY_ERROR,
     .call = unjoined_fork},
    {.id = NULL},
};
const size_t gphi_rules_capture_count =
    sizeof(gphi_rules_capture) / sizeof(gphi_rules_capture[0]) - 1;
