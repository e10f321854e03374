// SPDX-License-Identifier: Apache-2.0
/* Kernel nodes that kernels change: device.second-executable, update-overwritten.
 *
 *   node becomes one        by its attribute, or by that of a captured launch: a device node
 *   a kernel is given that  and launched: the node has what the kernel has set
 *   the host sets the node  what the kernel has set is gone */
#include "doctor/findings/said.h"
#include "doctor/rules/device/rules_device.h"

static void add(gphi_rule_run *run, const gphi_seen *seen,
                const CUlaunchAttributeValue *value, uint64_t node)
{
    device_state *state = run->state;
    if (!value->deviceUpdatableKernelNode.deviceUpdatable)
        return;
    device_node *one = device_add(run, &state->nodes);
    if (one)
        *one = (device_node){
            .handle = (uint64_t)(uintptr_t)value->deviceUpdatableKernelNode.devNode,
            .node = node,
            .made = seen->call};
}

static void on_attribute(gphi_rule_run *run, const gphi_seen *seen)
{
    const CUlaunchAttributeValue *value =
        gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 2, sizeof(*value));
    if (value && gphi_event_word(seen->event, 1) ==
                     CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        add(run, seen, value, gphi_event_word(seen->event, 0));
}

static void on_captured(gphi_rule_run *run, const gphi_seen *seen)
{
    const gphi_part *part = gphi_event_arg(seen->event, GPHI_PART_ARRAY, 0);
    const CUlaunchAttribute *list = part ? gphi_part_bytes(part) : NULL;
    for (size_t i = 0; list && i < part->bytes / sizeof(*list); i++)
        if (list[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            add(run, seen, &list[i].value, seen->call.node);
}

/* ---- who changes it ---- */

void device_node_word(gphi_rule_run *run, const gphi_seen *seen, uint64_t word)
{
    device_state *state = run->state;
    const bool is_eager = gphi_call_is_kernel(seen->call.call) && !seen->capture;
    for (size_t i = 0; i < state->nodes.count; i++) {
        device_node *one = gphi_vec_at(&state->nodes, i);
        if (one->handle != word)
            continue;
        one->given = seen->call;
        one->given_capture = seen->capture ? seen->capture->id : 0;
        one->given_graph =
            is_eager || seen->exec ? 0 : device_root(state, device_graph_of(seen));
        one->changer = seen->exec;
        if (is_eager)
            one->changed = seen->call;
    }
}

static void on_launch(const device_state *state, const gphi_seen *seen)
{
    for (size_t i = 0; i < state->nodes.count; i++) {
        device_node *one = gphi_vec_at(&state->nodes, i);
        if (one->changer == seen->exec)
            one->changed = seen->call;
    }
}

/* ---- executables ---- */

static void on_made(const gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const uint64_t graph = gphi_event_word(seen->event, 1);
    const gphi_graph_state *of = gphi_model_graph(run->model, graph);
    const uint64_t capture = of && of->capture ? of->capture->id : 0;
    for (size_t i = 0; i < state->nodes.count; i++) {
        device_node *one = gphi_vec_at(&state->nodes, i);
        if (gphi_snapshot_index(seen->snapshot, one->node) != GPH_NODE_NONE) {
            one->exec = seen->exec;
            one->graph = graph;
        }
        if (one->given.number != 0 && (one->given_graph == graph ||
                                       (capture != 0 && one->given_capture == capture)))
            one->changer = seen->exec;
    }
}

/* An executable of the graph that is still there, or any at all: the first one counts. */
static void on_refused(const gphi_rule_run *run, const gphi_seen *seen)
{
    const device_state *state = run->state;
    const uint64_t graph = gphi_event_word(seen->event, 1);
    for (size_t i = 0; i < state->nodes.count; i++) {
        const device_node *one = gphi_vec_at(&state->nodes, i);
        if (one->graph != graph || !one->exec || gphi_is_told(run, &seen->call))
            continue;
        gphi_draft *draft = device_begin(run, DEVICE_SECOND, &seen->call, 0);
        gphi_cause(
            draft,
            "%s has a node that kernels change, and was instantiated before: such a "
            "graph has one executable",
            gphi_say_graph(run->model, graph));
        gphi_evidence_call(draft, &one->exec->created, "that executable was made by");
        gphi_evidence_call(draft, &one->made, "the node was made changeable by");
        gphi_evidence_said(draft, gphi_said_of(run->said, &seen->call));
        return;
    }
}

static void on_set(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    for (size_t i = 0; i < state->nodes.count; i++) {
        device_node *one = gphi_vec_at(&state->nodes, i);
        if (one->exec != seen->exec || one->node != gphi_event_word(seen->event, 1) ||
            one->changed.number == 0)
            continue;
        const uint32_t index = gphi_snapshot_index(seen->exec->source, one->node);
        gphi_draft *draft = device_begin(run, DEVICE_OVERWRITTEN, &seen->call, 0);
        gphi_cause(draft,
                   "%s of %s is set by the host after a kernel has changed it: from the "
                   "next launch or upload on, what the kernel set is gone",
                   index != GPH_NODE_NONE ? gphi_say_node(seen->exec->source, index)
                                          : "a node",
                   gphi_say_exec(run->model, seen->exec));
        gphi_evidence_call(draft, &one->changed,
                           "the kernel that changes it was launched by");
        gphi_evidence_call(draft, &one->given, "it was given the node by");
        one->changed.number = 0;
    }
}

/* Nodes of a graph that is gone may stand in its executable, and the reverse. */
static void on_gone(device_state *state, const gphi_exec_state *exec)
{
    for (size_t i = state->nodes.count; i-- > 0;) {
        device_node *one = gphi_vec_at(&state->nodes, i);
        if (one->changer == exec)
            one->changer = NULL;
        if (one->exec == exec)
            gphi_vec_remove(&state->nodes, i);
    }
}

void device_node_call(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    if (seen->call.result != 0) {
        if (seen->call.result == CUDA_ERROR_NOT_SUPPORTED &&
            gphi_call_is_instantiation(seen->call.call))
            on_refused(run, seen);
        return;
    }
    if (seen->call.call == GPHI_CALL_cuGraphKernelNodeSetAttribute)
        on_attribute(run, seen);
    else if (seen->call.call == GPHI_CALL_cuLaunchKernelEx && seen->capture)
        on_captured(run, seen);
    if (state->nodes.count == 0 || !seen->exec)
        return;
    if (gphi_call_is_instantiation(seen->call.call))
        on_made(run, seen);
    else if (gphi_is_launch(seen))
        on_launch(state, seen);
    else if (seen->call.call == GPHI_CALL_cuGraphExecKernelNodeSetParams ||
             seen->call.call == GPHI_CALL_cuGraphExecNodeSetParams)
        on_set(run, seen);
    else if (seen->call.call == GPHI_CALL_cuGraphExecDestroy)
        on_gone(state, seen->exec);
}
