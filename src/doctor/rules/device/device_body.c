// SPDX-License-Identifier: Apache-2.0
/* device.body-node: what is added to a body and may not stand there, which the driver says
 * only when the outermost graph is instantiated, and without the flags' struct not of which
 * node. So such calls are remembered as they come. */
#include "doctor/findings/said.h"
#include "doctor/rules/device/rules_device.h"

#include <string.h>

static bool is_body(const device_state *state, uint64_t graph)
{
    return graph != 0 && device_root(state, graph) != graph;
}

/* By a call for its kind, or by that for any kind. */
static bool adds_forbidden(const gphi_seen *seen)
{
    const CUgraphNodeParams *any;
    switch (seen->call.call) {
    case GPHI_CALL_cuGraphAddHostNode:
    case GPHI_CALL_cuGraphAddEventRecordNode:
    case GPHI_CALL_cuGraphAddEventWaitNode:
    case GPHI_CALL_cuGraphAddMemAllocNode:
    case GPHI_CALL_cuGraphAddMemFreeNode:
    case GPHI_CALL_cuGraphAddBatchMemOpNode:
    case GPHI_CALL_cuGraphAddExternalSemaphoresSignalNode:
    case GPHI_CALL_cuGraphAddExternalSemaphoresWaitNode: return true;
    case GPHI_CALL_cuGraphAddNode: break;
    default: return false;
    }
    any = gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 5, sizeof(*any));
    switch (any ? any->type : CU_GRAPH_NODE_TYPE_EMPTY) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return false;
    default: return true;
    }
}

static bool captures_forbidden(const gphi_seen *seen)
{
    return seen->call.call == GPHI_CALL_cuLaunchHostFunc ||
           seen->call.call == GPHI_CALL_cuEventRecordWithFlags ||
           gphi_call_is_pool_alloc(seen->call.call) ||
           seen->call.call == GPHI_CALL_cuMemFreeAsync ||
           strncmp(gphi_call_name(seen->call.call), "cuStreamBatchMemOp", 18) == 0;
}

static void note(gphi_rule_run *run, const gphi_seen *seen, uint64_t graph, uint64_t node)
{
    device_state *state = run->state;
    device_stranger *one =
        is_body(state, graph) ? device_add(run, &state->strangers) : NULL;
    if (one)
        *one = (device_stranger){
            .graph = device_root(state, graph), .node = node, .call = seen->call};
}

/* The one that the driver names, else the first. */
static const device_stranger *stranger_of(const device_state *state, uint64_t graph,
                                          uint64_t node)
{
    const device_stranger *first = NULL;
    for (size_t i = 0; i < state->strangers.count; i++) {
        const device_stranger *one = gphi_vec_at(&state->strangers, i);
        if (one->graph != graph)
            continue;
        if (one->node == node)
            return one;
        if (!first)
            first = one;
    }
    return node == 0 ? first : NULL;
}

static uint64_t error_node(const gphi_seen *seen)
{
    const CUDA_GRAPH_INSTANTIATE_PARAMS *params =
        gphi_bytes_of(seen->event, GPHI_PART_STRUCT, 2, sizeof(*params));
    return params ? (uint64_t)(uintptr_t)params->hErrNode_out : 0;
}

static void on_refused(const gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    const uint64_t graph = gphi_event_word(seen->event, 1);
    const device_stranger *one = stranger_of(state, graph, error_node(seen));
    if (!one)
        return;
    gphi_draft *draft = device_begin(run, DEVICE_BODY_NODE, &one->call, 0);
    gphi_cause(draft,
               "what %s adds to the body of a conditional node of %s is not allowed "
               "there: the instantiation is refused",
               gphi_say_call(&one->call), gphi_say_graph(run->model, graph));
    gphi_evidence_call(draft, &seen->call, "refused by");
    gphi_evidence_said(draft, gphi_said_of(run->said, &seen->call));
    gphi_consequence(draft, &seen->call);
    state->failed = draft;
    state->failed_thread = seen->call.thread;
}

void device_body_call(gphi_rule_run *run, const gphi_seen *seen)
{
    device_state *state = run->state;
    const bool is_of_nothing = !seen->exec && gphi_event_word(seen->event, 0) == 0;
    if (seen->call.result != 0) {
        if (seen->call.result == CUDA_ERROR_INVALID_VALUE &&
            gphi_call_is_instantiation(seen->call.call))
            on_refused(run, seen);
        else if (is_of_nothing && state->failed_thread == seen->call.thread &&
                 (gphi_call_is_start(seen->call.call) ||
                  seen->call.call == GPHI_CALL_cuGraphExecDestroy))
            gphi_consequence(state->failed, &seen->call);
        return;
    }
    if (state->bodies.count == 0)
        return;
    if (adds_forbidden(seen))
        note(run, seen, gphi_event_word(seen->event, 1), gphi_event_word(seen->event, 0));
    else if (seen->capture && seen->capture->is_to_graph && captures_forbidden(seen))
        note(run, seen, seen->capture->graph, seen->call.node);
    else if (seen->call.call == GPHI_CALL_cuGraphDestroy)
        for (size_t i = state->strangers.count; i-- > 0;) {
            const device_stranger *one = gphi_vec_at(&state->strangers, i);
            if (one->graph == gphi_event_word(seen->event, 0))
                gphi_vec_remove(&state->strangers, i);
        }
}
