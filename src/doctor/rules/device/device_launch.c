// SPDX-License-Identifier: Apache-2.0
/* Graphs that kernels launch: device.not-uploaded, stale-upload, still-running,
 * too-many-launches, self-launch, launch-outside.
 *
 *   a kernel is given executable E      a use of E, by the graph that the kernel is in
 *   that graph is instantiated          the use is the executable's, too
 *   the host launches that              is E uploaded, as it is now, and not running?
 *
 * What softcuda's check mode says of refused launches has both executables' handles. */
#include "doctor/findings/said.h"
#include "doctor/rules/device/rules_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE_LAUNCH = 4, UPLOAD = 2, FORGETS_MAX = 120 };

/* cudaStreamGraphFireAndForget, as a kernel passes it. */
static const uint64_t forget_stream = UINT64_C(0x0200000000000000);

static device_exec *exec_of(const device_state *state, uint64_t handle)
{
    for (size_t i = state->execs.count; i-- > 0;) {
        device_exec *one = gphi_vec_at(&state->execs, i);
        if (one->exec->handle == handle && one->exec->is_alive)
            return one;
    }
    return NULL;
}

/* The work number of its last launch; 0: none is known. */
static uint64_t last_work(const gphi_exec_state *exec)
{
    const size_t count = exec->launches.count;
    const gphi_launch *last = count > 0 ? gphi_vec_at(&exec->launches, count - 1) : NULL;
    return last ? last->work : 0;
}

/* ---- who is given whom ---- */

/* One that lives and was not instantiated for launches by kernels; NULL: none. */
static const gphi_exec_state *host_only(const gphi_model *model, uint64_t handle)
{
    const gphi_exec_state *exec = handle != 0 ? gphi_model_exec(model, handle) : NULL;
    return exec && exec->is_alive && exec->handle == handle &&
                   (exec->flags & DEVICE_LAUNCH) == 0
               ? exec
               : NULL;
}

void device_launch_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word,
                        uint64_t next)
{
    device_state *state = run->state;
    const bool is_eager = gphi_call_is_kernel(seen->call.call) && !seen->capture;
    if (is_eager || (!exec_of(state, word) && !host_only(run->model, word)))
        return;
    device_use *use = device_add(run, &state->uses);
    if (!use)
        return;
    const bool is_setter = seen->exec != NULL;
    *use =
        (device_use){.call = seen->call,
                     .capture = seen->capture ? seen->capture->id : 0,
                     .graph = is_setter ? 0 : device_root(state, device_graph_of(seen)),
                     .from = is_setter ? seen->exec : NULL,
                     .target = word,
                     .is_forgotten = next == forget_stream};
}

/* What stands in a graph stands in what is made of it, or updated by it. */
static void hand_on(gphi_rule_run *run, const gphi_exec_state *exec, uint64_t graph)
{
    device_state *state = run->state;
    const gphi_graph_state *of = gphi_model_graph(run->model, graph);
    const uint64_t capture = of && of->capture ? of->capture->id : 0;
    const size_t count = state->uses.count;
    for (size_t i = 0; i < count; i++) {
        const device_use use = *(device_use *)gphi_vec_at(&state->uses, i);
        if (use.from || (use.graph != graph && (capture == 0 || use.capture != capture)))
            continue;
        device_use *copy = device_add(run, &state->uses);
        if (!copy)
            return;
        *copy = use;
        copy->from = exec;
        copy->graph = copy->capture = 0;
    }
}

static void forget_uses(device_state *state, const gphi_exec_state *exec, uint64_t graph)
{
    for (size_t i = state->uses.count; i-- > 0;) {
        const device_use *use = gphi_vec_at(&state->uses, i);
        if ((exec && use->from == exec) || (graph != 0 && use->graph == graph))
            gphi_vec_remove(&state->uses, i);
    }
}

/* A child is a copy; its kernels launch as those of the parent do. */
static void hand_to_parent(gphi_rule_run *run, uint64_t child, uint64_t parent)
{
    device_state *state = run->state;
    const size_t count = state->uses.count;
    for (size_t i = 0; i < count; i++) {
        const device_use use = *(device_use *)gphi_vec_at(&state->uses, i);
        device_use *copy =
            use.graph == child && !use.from ? device_add(run, &state->uses) : NULL;
        if (!copy)
            continue;
        *copy = use;
        copy->graph = parent;
    }
}

/* ---- what is said ---- */

static const device_use *use_by(const device_state *state, const gphi_exec_state *from,
                                uint64_t target)
{
    for (size_t i = 0; i < state->uses.count; i++) {
        const device_use *use = gphi_vec_at(&state->uses, i);
        if (use->from == from && use->target == target)
            return use;
    }
    return NULL;
}

const device_use *device_use_of(const device_state *state, const gphi_exec_state *from)
{
    for (size_t i = 0; i < state->uses.count; i++) {
        const device_use *use = gphi_vec_at(&state->uses, i);
        if (use->from == from)
            return use;
    }
    return NULL;
}

static void tell_use(gphi_draft *draft, const device_use *use)
{
    if (draft && use)
        gphi_evidence_call(draft, &use->call,
                           "a kernel that is given its handle was "
                           "recorded by");
}

/* Certain once softcuda says so; `text`: that, or "". */
static void tell_not_uploaded(const gphi_rule_run *run, const gphi_exec_state *target,
                              const gphi_exec_state *from, const device_use *use,
                              const char *text)
{
    bool is_new = false;
    gphi_draft *draft =
        device_begin_any(run, DEVICE_NOT_UPLOADED, &target->created, 0, &is_new);
    if (draft && text[0] != '\0') {
        gphi_harden(draft);
        gphi_evidence_said(draft, text);
    }
    if (!draft || !is_new)
        return;
    gphi_cause(draft,
               "%s was not uploaded when %s was launched, whose kernel launches it: "
               "cudaGraphLaunch() returns 1 in the kernel, and nothing runs",
               gphi_say_exec(run->model, target), gphi_say_exec(run->model, from));
    tell_use(draft, use);
    gphi_evidence_call(draft, gphi_last_launch(from), "launched by");
}

/* The handle that a kernel needs comes of the flag alone. */
static void tell_host_only(const gphi_rule_run *run, const gphi_seen *seen,
                           const gphi_exec_state *target, const device_use *use)
{
    bool is_new = false;
    gphi_draft *draft =
        device_begin_any(run, DEVICE_NOT_UPLOADED, &target->created, 1, &is_new);
    if (!draft || !is_new)
        return;
    gphi_harden(draft);
    gphi_cause(
        draft,
        "%s was instantiated without CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH, and a "
        "kernel of %s is given it to launch: the device does not know it as a graph",
        gphi_say_exec(run->model, target), gphi_say_exec(run->model, seen->exec));
    gphi_fix(draft,
             "Here: instantiate it with CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH, "
             "and upload it.");
    tell_use(draft, use);
    gphi_evidence_call(draft, &seen->call, "launched by");
}

static gphi_draft *tell_running(const gphi_rule_run *run, const gphi_exec_state *target,
                                const gphi_exec_state *from, const device_use *use)
{
    const gphi_call *at = use ? &use->call : &target->created;
    gphi_draft *draft = device_begin(run, DEVICE_STILL_RUNNING, at, 0);
    gphi_cause(draft,
               "a kernel of %s launches %s while an earlier launch of it has not ended: "
               "cudaGraphLaunch() returns 1 in the kernel, and the second launch does "
               "not happen",
               gphi_say_exec(run->model, from),
               from == target ? "itself" : gphi_say_exec(run->model, target));
    gphi_evidence_call(draft, &target->created, "the executable was made by");
    return draft;
}

/* By the host and by a kernel at a time: nothing says which comes first, or that either does. */
static void tell_beside(const gphi_rule_run *run, const gphi_seen *seen,
                        const gphi_exec_state *target, const gphi_exec_state *from,
                        const device_use *use)
{
    device_state *state = run->state;
    gphi_draft *draft = device_begin(run, DEVICE_STILL_RUNNING, &seen->call, 0);
    gphi_cause(draft,
               "%s may be launched by the host and by a kernel of %s at the same time: "
               "nothing orders the two launches",
               gphi_say_exec(run->model, target), gphi_say_exec(run->model, from));
    tell_use(draft, use);
    gphi_evidence_call(draft, gphi_last_launch(seen->exec == target ? from : target),
                       "the other launch");
    if (!draft)
        return;
    state->beside = draft;
    state->beside_of = target;
}

static gphi_draft *tell_many(const gphi_rule_run *run, const gphi_exec_state *from)
{
    return device_begin(run, DEVICE_TOO_MANY, &from->created, 0);
}

/* ---- launches by the host ---- */

static void check_use(const gphi_rule_run *run, const gphi_seen *seen,
                      const device_use *use)
{
    const device_exec *target = exec_of(run->state, use->target);
    const uint64_t now = seen->work ? seen->work->number : 0;
    const gphi_exec_state *other_kind = host_only(run->model, use->target);
    if (!target && other_kind && other_kind != seen->exec)
        tell_host_only(run, seen, other_kind, use);
    if (!target || target->exec == seen->exec)
        return;
    if (!target->is_uploaded)
        tell_not_uploaded(run, target->exec, seen->exec, use, "");
    else if (target->edited.number != 0) {
        gphi_draft *draft = device_begin(run, DEVICE_STALE_UPLOAD, &target->edited, 0);
        gphi_cause(draft,
                   "%s was changed by the host and not uploaded again: kernels of %s go "
                   "on launching it as it was",
                   gphi_say_exec(run->model, target->exec),
                   gphi_say_exec(run->model, seen->exec));
        gphi_evidence_call(draft, &seen->call, "launched after the change by");
        tell_use(draft, use);
    }
    const uint64_t other = last_work(target->exec);
    if (now != 0 && other != 0 && !gphi_model_ordered(run->model, other, now))
        tell_beside(run, seen, target->exec, seen->exec, use);
}

/* Of a device graph itself: of those that launch it some may still run. */
static void check_beside(const gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const uint64_t now = seen->work ? seen->work->number : 0;
    for (size_t i = 0; now != 0 && i < state->uses.count; i++) {
        const device_use *use = gphi_vec_at(&state->uses, i);
        if (use->target != seen->exec->handle || !use->from || use->from == seen->exec)
            continue;
        const uint64_t other = last_work(use->from);
        if (other != 0 && !gphi_model_ordered(run->model, other, now))
            tell_beside(run, seen, seen->exec, use->from, use);
    }
}

static void check_count(const gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const device_use *last = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < state->uses.count; i++) {
        const device_use *use = gphi_vec_at(&state->uses, i);
        if (use->from != seen->exec || !use->is_forgotten)
            continue;
        count++;
        last = use;
    }
    if (count <= FORGETS_MAX)
        return;
    gphi_draft *draft = tell_many(run, seen->exec);
    gphi_cause(draft,
               "a run of %s fires and forgets %u graphs: from the 121st on "
               "cudaGraphLaunch() returns 1",
               gphi_say_exec(run->model, seen->exec), (unsigned)count);
    tell_use(draft, last);
}

static void on_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    device_exec *own = exec_of(state, seen->exec->handle);
    for (size_t i = 0; i < state->uses.count; i++) {
        const device_use *use = gphi_vec_at(&state->uses, i);
        if (use->from == seen->exec)
            check_use(run, seen, use);
    }
    check_count(run, seen);
    if (!own)
        return;
    check_beside(run, seen);
    own->is_uploaded = true;
    own->edited.number = 0;
}

/* ---- calls ---- */

static void on_made(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    if (!seen->exec)
        return;
    hand_on(run, seen->exec, gphi_event_word(seen->event, 1));
    device_exec *one =
        (seen->exec->flags & DEVICE_LAUNCH) != 0 ? device_add(run, &state->execs) : NULL;
    if (one)
        *one = (device_exec){.exec = seen->exec,
                             .is_uploaded = (seen->exec->flags & UPLOAD) != 0};
}

/* A kernel that launches graphs, without a graph around it: an H100 refuses its launch. */
static void on_refused(const gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const char *said = gphi_said_of(run->said, &seen->call);
    const bool is_named = gphi_said_has(said, "cudaGraphLaunch");
    if (seen->call.result != CUDA_ERROR_NOT_SUPPORTED || seen->capture ||
        !gphi_call_is_kernel(seen->call.call) ||
        !(is_named || (said[0] == '\0' && state->execs.count > 0 &&
                       seen->call.call == GPHI_CALL_cuLaunchKernel)))
        return;
    gphi_draft *draft = device_begin(run, DEVICE_OUTSIDE, &seen->call, 0);
    const char *name =
        gphi_function_name(run->model, gphi_launched_kernel(run->model, seen->event));
    gphi_cause(
        draft,
        "%s launches graphs, and was launched into a stream instead of being in a graph",
        name[0] != '?' ? gphi_say("kernel %s", name) : "a kernel");
    gphi_evidence_said(draft, said);
}

static void on_gone(device_state *state, const gphi_exec_state *exec)
{
    forget_uses(state, exec, 0);
    for (size_t i = state->execs.count; i-- > 0;) {
        const device_exec *one = gphi_vec_at(&state->execs, i);
        if (one->exec == exec)
            gphi_vec_remove(&state->execs, i);
    }
}

static void on_edit(gphi_rule_run *run, const gphi_seen *seen)
{
    device_exec *own = exec_of(run->state, seen->exec->handle);
    if (own && own->is_uploaded && own->edited.number == 0)
        own->edited = seen->call;
    if (seen->call.call != GPHI_CALL_cuGraphExecUpdate)
        return;
    forget_uses(run->state, seen->exec, 0);
    hand_on(run, seen->exec, gphi_event_word(seen->event, 1));
}

static bool is_edit(const gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    return seen->call.call == GPHI_CALL_cuGraphExecUpdate ||
           seen->call.call == GPHI_CALL_cuGraphNodeSetEnabled ||
           (strncmp(name, "cuGraphExec", 11) == 0 && strstr(name, "Set"));
}

void device_launch_call(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    if (seen->call.result != 0) {
        on_refused(run, seen);
        return;
    }
    if (gphi_call_is_instantiation(seen->call.call))
        on_made(run, seen);
    else if (seen->call.call == GPHI_CALL_cuGraphAddChildGraphNode)
        hand_to_parent(run, gphi_event_word(seen->event, 4),
                       gphi_event_word(seen->event, 1));
    else if (seen->call.call == GPHI_CALL_cuGraphDestroy)
        forget_uses(state, NULL, gphi_event_word(seen->event, 0));
    if (!seen->exec)
        return;
    if (gphi_is_launch(seen))
        on_launch(run, seen);
    else if (seen->call.call == GPHI_CALL_cuGraphUpload) {
        device_exec *own = exec_of(state, seen->exec->handle);
        if (own) {
            own->is_uploaded = true;
            own->edited.number = 0;
        }
    } else if (seen->call.call == GPHI_CALL_cuGraphExecDestroy)
        on_gone(state, seen->exec);
    else if (is_edit(seen))
        on_edit(run, seen);
}

/* ---- sentences of softcuda's check mode ---- */

static uint64_t number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    return at ? strtoull(at + strlen(words), NULL, 16) : 0;
}

static gphi_draft *tell_self(const gphi_rule_run *run, const gphi_exec_state *from)
{
    gphi_draft *draft = device_begin(run, DEVICE_SELF_LAUNCH, &from->created, 0);
    gphi_cause(
        draft,
        "a kernel of %s launches the graph that it is in, but cudaGetCurrentGraphExec() "
        "is 0 there: %s",
        gphi_say_exec(run->model, from),
        (from->flags & DEVICE_LAUNCH) != 0
            ? "it passes 0"
            : "it was not instantiated with CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH");
    return draft;
}

/* "device launch refused: a kernel of executable 0x.. launches executable 0x.. and gets 1:
 * REASON" */
void device_launch_said(gphi_rule_run *run, const char *text)
{
    const device_state *state = run->state;
    if (strncmp(text, "device launch refused: ", 23) != 0)
        return;
    const gphi_exec_state *from =
        gphi_model_exec(run->model, number_behind(text, "a kernel of executable "));
    const gphi_exec_state *target =
        gphi_model_exec(run->model, number_behind(text, "launches executable "));
    if (!from)
        return;
    const device_use *use = target ? use_by(state, from, target->handle) : NULL;
    gphi_draft *draft = NULL;
    if (strstr(text, "it was not uploaded") && target)
        tell_not_uploaded(run, target, from, use, text);
    else if (strstr(text, "has not ended") && target)
        draft = target == state->beside_of ? state->beside
                                           : tell_running(run, target, from, use);
    else if (strstr(text, "there is none"))
        draft = tell_self(run, from);
    else if (strstr(text, " at most")) {
        draft = tell_many(run, from);
        gphi_cause(draft,
                   "kernels of %s launch more graphs in a run than one can have: %s",
                   gphi_say_exec(run->model, from),
                   strstr(text, "tail") ? "255 into its tail" : "120 to fire and forget");
    } else if (strstr(text, "none of the three")) {
        draft = device_begin(run, DEVICE_OUTSIDE, &from->created, 0);
        gphi_cause(draft,
                   "a kernel of %s launches a graph into a stream that is not one of the "
                   "three that kernels can launch into",
                   gphi_say_exec(run->model, from));
    }
    gphi_evidence_said(draft, text);
}
