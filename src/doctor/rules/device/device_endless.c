// SPDX-License-Identifier: Apache-2.0
/* Graphs that do not end: device.endless-loop where gph doctor --watch saw a launch hang,
 * and device.branch-beside-launch.
 *
 * A GPU's driver does not say how often a loop has run, nor which node of a launch runs. But
 * the calls say which executables have WHILE nodes, and who was given their handles; so a
 * launch that does not end and has such a node is reported with it. Softcuda says more, by
 * itself (device_condition_said). */
#include "base/clock.h"
#include "doctor/rules/device/rules_device.h"
#include <gph/sentinel.h>

#include <inttypes.h>
#include <string.h>

enum { LOOPS_MAX = 4 };

/* ---- a branch beside a kernel that launches ---- */

/* Whether something is added to a graph by the call, or is going to be. */
static bool is_addition(const gphi_seen *seen)
{
    return strncmp(gphi_call_name(seen->call.call), "cuGraphAdd", 10) == 0 ||
           seen->call.call == GPHI_CALL_cuStreamBeginCaptureToGraph || seen->capture;
}

static void note_addition(const device_state *state, uint64_t graph)
{
    for (size_t i = 0; i < state->bodies.count; i++) {
        const device_body *body = gphi_vec_at(&state->bodies, i);
        device_condition *one =
            body->body == graph
                ? device_condition_of(state, device_root(state, body->graph),
                                      body->handle)
                : NULL;
        if (one)
            one->has_work = true;
    }
}

/* One that launches nothing has the same end on a GPU, but does not differ from others in any call. */
static void check_beside(const gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const device_use *use = device_use_of(state, seen->exec);
    for (size_t i = 0; use && i < state->conditions.count; i++) {
        const device_condition *one = gphi_vec_at(&state->conditions, i);
        if (one->exec != seen->exec || !one->has_node || !one->has_work)
            continue;
        gphi_draft *draft = device_begin(run, DEVICE_BRANCH_BESIDE, &one->node, 0);
        gphi_cause(
            draft,
            "%s has a conditional node (%s) with work in its body, and a kernel that "
            "launches graphs: on an H100 its launch does not end once the body runs",
            gphi_say_exec(run->model, seen->exec), device_say_type(one->type));
        device_put_node(run, draft, &one->node);
        gphi_evidence_call(draft, &use->call, "the kernel was given an executable by");
        gphi_evidence_call(draft, &seen->call, "launched by");
        return;
    }
}

void device_endless_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    if (seen->call.result != 0 || state->conditions.count == 0)
        return;
    if (state->bodies.count > 0 && is_addition(seen))
        note_addition(state, seen->capture ? seen->capture->graph
                                           : gphi_event_word(seen->event, 1));
    if (seen->exec && gphi_is_launch(seen))
        check_beside(run, seen);
}

/* ---- a launch that hangs ---- */

/* Where it is known how far the launch was, the node must have begun and not ended. */
static bool may_run(const device_condition *one)
{
    const gphi_exec_state *exec = one->exec;
    const gphi_snapshot *source = exec->source;
    const uint8_t *states = exec->standing.items;
    for (uint32_t i = 0; source && i < source->node_count && i < exec->standing.count;
         i++)
        if (gphi_snapshot_made(source, i)->number == one->node.number)
            return states[i] == GPH_NODE_RUNNING || states[i] == GPH_NODE_UNKNOWN;
    return true;
}

static bool is_loop_of(const device_condition *one, const gphi_exec_state *exec)
{
    return one->exec == exec && one->has_node && one->type == CU_GRAPH_COND_TYPE_WHILE &&
           one->launched != 0 && may_run(one);
}

static void put_handle(const gphi_rule_run *run, gphi_draft *draft,
                       const device_condition *one)
{
    device_put_node(run, draft, &one->node);
    gphi_evidence_call(draft, &one->created, "the handle was made by");
    if (one->given.number != 0)
        gphi_evidence_call(draft, &one->given, "a kernel was given it by");
    else if (!one->is_in_memory)
        gphi_evidence(draft, "no kernel is given the handle as an argument");
}

static void tell_hung(const gphi_rule_run *run, const gphi_exec_state *exec,
                      const gphi_launch *launch)
{
    const device_state *state = run->state;
    gphi_draft *draft = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < state->conditions.count && count < LOOPS_MAX; i++) {
        const device_condition *one = gphi_vec_at(&state->conditions, i);
        if (!is_loop_of(one, exec))
            continue;
        if (count++ > 0) {
            gphi_evidence_call(draft, &one->node,
                               "it has another WHILE node, of handle 0x%" PRIx64
                               ", which may be the one; added by",
                               one->handle);
            continue;
        }
        bool is_new = false;
        draft = device_begin_any(run, DEVICE_ENDLESS, &one->node, 0, &is_new);
        if (is_new)
            gphi_cause(draft,
                       "launch %" PRIu64 " of %s has not ended after %.1f s: its WHILE "
                       "node runs its body as long as handle 0x%" PRIx64 " is not 0",
                       exec->launch_count, gphi_say_exec(run->model, exec),
                       (double)gphi_span_ns(launch->call.time_ns, run->model->hung_ns) /
                           1e9,
                       one->handle);
        else
            gphi_evidence(
                draft,
                "launch %" PRIu64 " has not ended after %.1f s; the node's handle "
                "is 0x%" PRIx64,
                exec->launch_count,
                (double)gphi_span_ns(launch->call.time_ns, run->model->hung_ns) / 1e9,
                one->handle);
        if (!is_new)
            continue;
        gphi_evidence_call(draft, &launch->call, "launched by");
        put_handle(run, draft, one);
    }
}

void device_endless_end(gphi_rule_run *run)
{
    if (run->model->hung == 0)
        return;
    for (size_t i = 0; i < run->model->execs.count; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&run->model->execs, i);
        const gphi_launch *pending = gphi_exec_pending(run->model, exec);
        if (pending)
            tell_hung(run, exec, pending);
    }
}
