// SPDX-License-Identifier: Apache-2.0
/* Conditional handles: device.handle-never-set, foreign-handle, handle-unordered,
 * endless-loop.
 *
 *   no kernel is given the handle     without a default      what runs is left to chance
 *                                     WHILE, default not 0   it never ends
 *                                     else                   it chooses alike each time
 *   the loop has run very often       softcuda says it: which loop, how many rounds
 *
 * softcuda numbers the handles of each graph from 1 on, so a handle is looked for by its
 * graph, and a kernel's argument of 8 bytes that only looks like one counts as one. */
#include "base/hash.h"
#include "doctor/rules/device/rules_device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 4096 }; /* of a copy that may hold a handle among others */

const char *device_say_type(uint32_t type)
{
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF: return "IF";
    case CU_GRAPH_COND_TYPE_WHILE: return "WHILE";
    default: return "SWITCH";
    }
}

device_condition *device_condition_of(const device_state *state, uint64_t graph,
                                      uint64_t handle)
{
    for (size_t i = state->conditions.count; i-- > 0;) {
        device_condition *one = gphi_vec_at(&state->conditions, i);
        if (one->handle == handle && (graph == 0 || one->graph == graph))
            return one;
    }
    return NULL;
}

/* ---- nodes ---- */

static const CUDA_CONDITIONAL_NODE_PARAMS *params_of(const gphi_seen *seen)
{
    const CUgraphNodeParams *any =
        seen->call.call == GPHI_CALL_cuGraphAddNode
            ? gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 5, sizeof(*any))
            : NULL;
    return any && any->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? &any->conditional : NULL;
}

static void on_node(gphi_rule_run *run, const gphi_seen *seen,
                    const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    device_state *state = run->state;
    const uint64_t graph = device_root(state, gphi_event_word(seen->event, 1));
    device_condition *one = device_condition_of(state, graph, params->handle);
    const gphi_part *bodies = gphi_event_arg(seen->event, GPHI_PART_ARRAY, 5);
    for (size_t i = 0; bodies && i < bodies->bytes / sizeof(uint64_t); i++) {
        device_body *body = device_add(run, &state->bodies);
        if (!body)
            break;
        body->graph = graph;
        body->handle = params->handle;
        memcpy(&body->body, (const uint64_t *)gphi_part_bytes(bodies) + i,
               sizeof(body->body));
    }
    if (!one)
        return;
    one->has_node = true;
    one->type = (uint32_t)params->type;
    one->node = seen->call;
}

static void on_refused(const gphi_rule_run *run, const gphi_seen *seen,
                       const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    const device_state *state = run->state;
    const uint64_t graph = device_root(state, gphi_event_word(seen->event, 1));
    const device_condition *own = device_condition_of(state, graph, params->handle);
    const device_condition *other =
        own ? NULL : device_condition_of(state, 0, params->handle);
    const bool is_twice = own && own->has_node;
    if (!is_twice && !other)
        return;
    gphi_draft *draft = device_begin(run, DEVICE_FOREIGN_HANDLE, &seen->call, 0);
    if (is_twice)
        gphi_cause(draft,
                   "the handle of this %s node has a node already: a conditional handle "
                   "belongs to one",
                   device_say_type((uint32_t)params->type));
    else
        gphi_cause(draft,
                   "the handle of this %s node was made for %s, and the node is added to "
                   "another graph",
                   device_say_type((uint32_t)params->type),
                   other->graph != 0 ? gphi_say_graph(run->model, other->graph)
                                     : "a graph that is gone");
    gphi_evidence_call(draft, &(is_twice ? own : other)->created,
                       "the handle was made by");
    if (is_twice)
        device_put_node(run, draft, &own->node);
}

/* ---- who sets it ---- */

/* Twice the same word of one kernel is one. */
static void note_setter(device_condition *one, const gphi_seen *seen)
{
    one->setters += one->given.number != seen->call.number;
    one->given = seen->call;
    one->given_graph = device_graph_of(seen);
}

/* A captured kernel is in a graph that has no name yet: one that was not instantiated. */
void device_condition_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word)
{
    device_state *state = run->state;
    const bool is_eager = gphi_call_is_kernel(seen->call.call) && !seen->capture;
    const uint64_t graph =
        seen->exec || is_eager ? 0 : device_root(state, device_graph_of(seen));
    for (size_t i = 0; !is_eager && i < state->conditions.count; i++) {
        device_condition *one = gphi_vec_at(&state->conditions, i);
        const bool is_its = seen->exec   ? one->exec == seen->exec
                            : graph != 0 ? one->graph == graph
                                         : !one->exec;
        if (one->handle == word && is_its)
            note_setter(one, seen);
    }
}

/* A copy to the device that is the handle, or a table in which it may stand. */
static void on_copy(device_state *state, const gphi_seen *seen)
{
    const uint64_t bytes = gphi_event_word(seen->event, 2);
    const uint64_t *hash = gphi_bytes_of(seen->event, GPHI_PART_HASH, 1, sizeof(*hash));
    if (bytes < sizeof(uint64_t) || bytes > TABLE_BYTES_MAX)
        return;
    for (size_t i = 0; i < state->conditions.count; i++) {
        device_condition *one = gphi_vec_at(&state->conditions, i);
        if (bytes > sizeof(uint64_t) || !hash ||
            *hash == gphi_host_hash(sizeof(uint64_t), &one->handle, sizeof(uint64_t)))
            one->is_in_memory = true;
    }
}

/* ---- launches ---- */

static void tell_never_set(const gphi_rule_run *run, const gphi_seen *seen,
                           const device_condition *one)
{
    gphi_draft *draft = device_begin(run, DEVICE_NEVER_SET, &one->created, 0);
    if (!one->assigns)
        gphi_cause(draft,
                   "no kernel of %s is given the handle of its %s node, and it was made "
                   "without a default: what the node chooses is left to chance",
                   gphi_say_exec(run->model, seen->exec), device_say_type(one->type));
    else
        gphi_cause(draft,
                   "no kernel of %s is given the handle of its %s node: it has its "
                   "default, %u, in each launch, and the node chooses the same each time",
                   gphi_say_exec(run->model, seen->exec), device_say_type(one->type),
                   (unsigned)one->initial);
    if (draft && one->assigns) /* what it does, it does each time */
        gphi_soften(draft);
    device_put_node(run, draft, &one->node);
    gphi_evidence_call(draft, &seen->call, "launched by");
}

/* A loop whose own handle no kernel is given, and a kernel in its body another one: whose
 * that is; NULL: no such. */
static const device_condition *given_instead(const device_state *state,
                                             const device_condition *loop)
{
    for (size_t i = 0; loop->given.number == 0 && i < state->conditions.count; i++) {
        const device_condition *one = gphi_vec_at(&state->conditions, i);
        if (one == loop || one->graph != loop->graph || one->given.number == 0)
            continue;
        GPHI_EACH (const device_body, body, &state->bodies)
            if (body->body == one->given_graph && body->handle == loop->handle)
                return one;
    }
    return NULL;
}

/* The finding's place is then the call that gave it. */
static gphi_draft *begin_endless(const gphi_rule_run *run, const device_condition *one,
                                 bool *is_new)
{
    const device_condition *other = given_instead(run->state, one);
    return device_begin_any(run, DEVICE_ENDLESS, other ? &other->given : &one->node, 0,
                            is_new);
}

static void put_other(const gphi_rule_run *run, gphi_draft *draft,
                      const device_condition *one)
{
    const device_condition *other = given_instead(run->state, one);
    if (!other)
        return;
    gphi_evidence(draft,
                  "a kernel in its body is given another handle, 0x%" PRIx64
                  ", and no kernel is given the loop's",
                  other->handle);
    gphi_evidence_call(draft, &other->created, "that handle was made by");
    gphi_evidence_call(draft, &one->node, "the loop was added by");
}

static void tell_endless(const gphi_rule_run *run, const gphi_seen *seen,
                         const device_condition *one)
{
    bool is_new = false;
    gphi_draft *draft = begin_endless(run, one, &is_new);
    if (!is_new)
        return;
    gphi_cause(
        draft,
        "no kernel of %s is given the handle of its WHILE node, and its default is "
        "%u: nothing ends the loop",
        gphi_say_exec(run->model, seen->exec), (unsigned)one->initial);
    device_put_node(run, draft, &one->node);
    gphi_evidence_call(draft, &one->created, "the handle was made by");
    put_other(run, draft, one);
    gphi_evidence_call(draft, &seen->call, "launched by");
}

static gphi_draft *begin_unordered(const gphi_rule_run *run, const device_condition *one,
                                   bool *is_new)
{
    gphi_draft *draft = device_begin_any(run, DEVICE_UNORDERED, &one->node, 0, is_new);
    if (draft && *is_new) {
        gphi_cause(
            draft,
            "the %s node of %s reads a handle that a kernel of the same graph sets, "
            "and no path leads from one to the other: it may decide before the "
            "kernel has run",
            device_say_type(one->type), gphi_say_exec(run->model, one->exec));
        gphi_evidence_call(draft, &one->given, "the kernel was given the handle by");
        gphi_evidence_call(draft, &one->created, "the handle was made by");
        device_put_node(run, draft, &one->node);
    }
    return draft;
}

/* Of several kernels that have the handle one may do no more than ask. A kernel after the
 * node sets it for the next launch. */
static void check_order(const gphi_rule_run *run, const device_condition *one)
{
    const gphi_exec_history *exec = gphi_history_exec(run->history, one->exec);
    const gphi_snapshot *snapshot = exec ? exec->source : NULL;
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    if (!graph || one->setters != 1)
        return;
    const uint32_t node = device_made_by(snapshot, &one->node);
    const uint32_t setter = device_made_by(snapshot, &one->given);
    bool is_new;
    if (node != GPH_NODE_NONE && setter != GPH_NODE_NONE &&
        !gphi_node_leads_to(run->model, graph, setter, node) &&
        !gphi_node_leads_to(run->model, graph, node, setter))
        (void)begin_unordered(run, one, &is_new);
}

/* Whether the kernel that sets it is in a body of its own node: it runs, if at all,
 * after the node has decided for the first time. */
static bool is_set_inside(const device_state *state, const device_condition *one)
{
    for (size_t i = 0; one->setters == 1 && i < state->bodies.count; i++) {
        const device_body *body = gphi_vec_at(&state->bodies, i);
        if (body->body == one->given_graph && body->handle == one->handle &&
            body->graph == one->graph)
            return true;
    }
    return false;
}

static void tell_set_inside(const gphi_rule_run *run, const gphi_seen *seen,
                            const device_condition *one)
{
    gphi_draft *draft = device_begin(run, DEVICE_NEVER_SET, &one->created, 0);
    if (one->initial != 0)
        gphi_cause(draft,
                   "the handle of the %s node of %s was made with the default %u and "
                   "without CU_GRAPH_COND_ASSIGN_DEFAULT, so it does not get it; the "
                   "kernel that sets it is in the node's own body, and cannot have run "
                   "when the node decides first",
                   device_say_type(one->type), gphi_say_exec(run->model, seen->exec),
                   (unsigned)one->initial);
    else
        gphi_cause(draft,
                   "the handle of the %s node of %s was made without a default, and the "
                   "kernel that sets it is in the node's own body: when the node decides "
                   "first nobody has set it",
                   device_say_type(one->type), gphi_say_exec(run->model, seen->exec));
    gphi_fix(draft,
             "Here: make the handle with CU_GRAPH_COND_ASSIGN_DEFAULT, and the value "
             "of the first decision as its default.");
    gphi_evidence_call(draft, &one->given, "the kernel was given the handle by");
    device_put_node(run, draft, &one->node);
    gphi_evidence_call(draft, &seen->call, "launched by");
}

static void on_launch(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    for (size_t i = 0; i < state->conditions.count; i++) {
        device_condition *one = gphi_vec_at(&state->conditions, i);
        if (one->exec != seen->exec || !one->has_node)
            continue;
        if (one->launched == 0 && one->given.number != 0)
            check_order(run, one);
        one->launched = seen->call.number;
        if (!one->is_told && !one->is_in_memory && !one->assigns &&
            is_set_inside(state, one)) {
            one->is_told = true;
            tell_set_inside(run, seen, one);
        }
        if (one->given.number != 0 || one->is_in_memory || one->is_told)
            continue;
        one->is_told = true;
        if (one->type == CU_GRAPH_COND_TYPE_WHILE && one->assigns && one->initial != 0)
            tell_endless(run, seen, one);
        else
            tell_never_set(run, seen, one);
    }
}

/* ---- calls ---- */

static void on_created(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    device_condition *one = device_add(run, &state->conditions);
    if (one)
        *one = (device_condition){.handle = gphi_event_word(seen->event, 0),
                                  .graph =
                                      device_root(state, gphi_event_word(seen->event, 1)),
                                  .initial = (uint32_t)gphi_event_word(seen->event, 3),
                                  .assigns = (gphi_event_word(seen->event, 4) & 1) != 0,
                                  .created = seen->call};
}

static void on_made(const device_state *state, const gphi_seen *seen)
{
    for (size_t i = 0; i < state->conditions.count; i++) {
        device_condition *one = gphi_vec_at(&state->conditions, i);
        if (one->graph == gphi_event_word(seen->event, 1))
            one->exec = seen->exec;
    }
}

/* Handles end with their graph, but what was made of it still has them. */
static void on_gone(device_state *state, const gphi_exec_state *exec, uint64_t graph)
{
    for (size_t i = state->conditions.count; i-- > 0;) {
        device_condition *one = gphi_vec_at(&state->conditions, i);
        if (graph != 0 && one->graph == graph)
            one->graph = 0;
        if (exec && one->exec == exec)
            one->exec = NULL;
        if (one->graph == 0 && !one->exec)
            gphi_vec_remove(&state->conditions, i);
    }
    for (size_t i = state->bodies.count; graph != 0 && i-- > 0;) {
        const device_body *body = gphi_vec_at(&state->bodies, i);
        if (body->graph == graph)
            gphi_vec_remove(&state->bodies, i);
    }
}

void device_condition_call(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    const CUDA_CONDITIONAL_NODE_PARAMS *params = params_of(seen);
    if (params && seen->call.result != 0)
        on_refused(run, seen, params);
    if (seen->call.result == CUDA_ERROR_LAUNCH_TIMEOUT)
        gphi_consequence(state->endless, &seen->call);
    if (seen->call.result != 0)
        return;
    if (params)
        on_node(run, seen, params);
    else if (seen->call.call == GPHI_CALL_cuGraphConditionalHandleCreate)
        on_created(run, seen);
    if (state->conditions.count == 0)
        return;
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphInstantiateWithFlags:
    case GPHI_CALL_cuGraphInstantiateWithParams: on_made(state, seen); break;
    case GPHI_CALL_cuMemcpyHtoD:
    case GPHI_CALL_cuMemcpyHtoDAsync:
    case GPHI_CALL_cuMemcpy:
    case GPHI_CALL_cuMemcpyAsync: on_copy(state, seen); break;
    case GPHI_CALL_cuGraphDestroy:
        on_gone(state, NULL, gphi_event_word(seen->event, 0));
        break;
    case GPHI_CALL_cuGraphExecDestroy: on_gone(state, seen->exec, 0); break;
    default:
        if (gphi_is_launch(seen))
            on_launch(run, seen);
    }
}

/* ---- sentences of softcuda ---- */

/* The node of that handle that was launched last; of loops alone. */
static const device_condition *said_of(const device_state *state, uint64_t handle,
                                       bool is_loop)
{
    const device_condition *best = NULL;
    for (size_t i = 0; i < state->conditions.count; i++) {
        const device_condition *one = gphi_vec_at(&state->conditions, i);
        if (one->handle == handle && one->has_node &&
            (!is_loop || one->type == CU_GRAPH_COND_TYPE_WHILE) && one->launched != 0 &&
            (!best || one->launched > best->launched))
            best = one;
    }
    return best;
}

/* "handle race: kernel set (node 54) sets conditional handle 1 and conditional node (node 68)
 * reads it; no path of dependencies orders them", or two kernels that set it. */
static void on_race(gphi_rule_run *run, const char *text)
{
    static const char handle_is[] = " conditional handle ";
    const char *handle = strstr(text, handle_is);
    const device_condition *one =
        handle
            ? said_of(run->state, strtoull(handle + strlen(handle_is), NULL, 10), false)
            : NULL;
    bool is_new = false;
    gphi_draft *draft = one ? begin_unordered(run, one, &is_new) : NULL;
    gphi_evidence_said(draft, text);
}

/* "loop without a decision: the WHILE node (node 7) of conditional handle 1 has run 1000 rounds,
 * and no kernel has set its handle"; or at a limit "the WHILE node .. has run 4,000 rounds in
 * 2000 ms, and its condition is not 0". */
void device_condition_said(gphi_rule_run *run, const char *text)
{
    static const char rounds_are[] = " has run ", handle_is[] = "of conditional handle ";
    static const char undecided[] = "loop without a decision: ";
    const char *loop = strncmp(text, undecided, strlen(undecided)) == 0
                           ? text + strlen(undecided)
                           : text;
    if (strncmp(text, "handle race: ", 13) == 0)
        on_race(run, text);
    if (strncmp(loop, "the WHILE node", 14) != 0) /* or what repeats it later */
        return;
    const char *rounds = strstr(loop, rounds_are);
    const char *handle = strstr(loop, handle_is);
    if (!rounds || !handle)
        return;
    device_state *state = run->state;
    const device_condition *one =
        said_of(state, strtoull(handle + strlen(handle_is), NULL, 10), true);
    if (!one)
        return;
    bool is_new = false;
    gphi_draft *draft = begin_endless(run, one, &is_new);
    if (draft && is_new) {
        gphi_cause(draft, "a WHILE node of %s has run %" PRIu64 " rounds and goes on: %s",
                   gphi_say_exec(run->model, one->exec),
                   (uint64_t)strtoull(rounds + strlen(rounds_are), NULL, 10),
                   strstr(text, "no kernel has set its handle")
                       ? "no kernel has set its handle"
                       : "no round has set its handle to 0");
        device_put_node(run, draft, &one->node);
        gphi_evidence_call(draft, &one->created, "the handle was made by");
        gphi_evidence_call(draft, &one->given, "a kernel was given it by");
        put_other(run, draft, one);
    }
    gphi_evidence_said(draft, text);
    state->endless = draft;
}
