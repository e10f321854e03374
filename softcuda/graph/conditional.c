// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes: handles, what bodies may hold, and the one executable. */
#include "softcuda/graph/conditional.h"

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/settings.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/rules/rules.h"

/* ---- handles ----------------------------------------------------------------------- */

static soft_graph *root_of(const soft_graph *graph)
{
    while (graph->parent)
        graph = graph->parent->graph;
    return (soft_graph *)(uintptr_t)graph;
}

CUresult soft_condition_create(soft_graph *graph, CUcontext handle, uint32_t initial,
                               uint32_t flags, CUgraphConditionalHandle *out)
{
    soft_context *context;
    SOFT_TRY(soft_context_find(handle, &context));
    if (soft_rule(R80) && (flags & ~(uint32_t)CU_GRAPH_COND_ASSIGN_DEFAULT))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags of a conditional handle are 0x%x: 0 or 1", flags);
    soft_graph *root = root_of(graph);
    soft_condition *conditions =
        gphi_array_room(*soft_allocator(), root->conditions, &root->condition_capacity,
                        root->condition_count + 1ull, sizeof(*conditions));
    SOFT_TRY(soft_made(conditions, "no memory for a conditional handle"));
    root->conditions = conditions;
    conditions[root->condition_count++] =
        (soft_condition){context, initial, flags == CU_GRAPH_COND_ASSIGN_DEFAULT, NULL};
    *out = root->condition_count;
    return CUDA_SUCCESS;
}

static CUresult check_size(const CUDA_CONDITIONAL_NODE_PARAMS *in)
{
    static const struct {
        const char *name;
        unsigned most;
    } types[] = {{"IF", 2}, {"WHILE", 1}, {"SWITCH", UINT32_MAX}};
    if ((unsigned)in->type >= sizeof(types) / sizeof(types[0]))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a type of conditional node",
                         (int)in->type);
    const bool is_late = in->type == CU_GRAPH_COND_TYPE_SWITCH || in->size == 2;
    if (is_late && soft_driver_version() < 12080)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "IF nodes of two bodies and SWITCH nodes came with CUDA 12.8, "
                         "the driver is %d",
                         soft_driver_version());
    if (soft_rule(R81) && (in->size == 0 || in->size > types[in->type].most))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a %s node has 1 to %u bodies, not %u",
                         types[in->type].name, types[in->type].most, in->size);
    return CUDA_SUCCESS;
}

CUresult soft_conditional_describe(const CUDA_CONDITIONAL_NODE_PARAMS *in,
                                   const soft_graph *graph, soft_context **context,
                                   soft_task *out)
{
    const soft_graph *root = root_of(graph);
    SOFT_TRY(check_size(in));
    SOFT_TRY(soft_context_find(in->ctx, context));
    if (in->handle == 0 || in->handle > root->condition_count)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the graph has no conditional handle %llu: it has %u",
                         (unsigned long long)in->handle, root->condition_count);
    const soft_condition *condition = &root->conditions[in->handle - 1];
    if (soft_rule(R80) && condition->user)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "conditional handle %llu is used by another node",
                         (unsigned long long)in->handle);
    if (soft_rule(R82) && condition->context != *context)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "conditional handle %llu is of another context than the node",
                         (unsigned long long)in->handle);
    *out = (soft_task){.kind = SOFT_TASK_BRANCH,
                       .u.conditional = {.handle = (uint32_t)in->handle,
                                         .type = in->type,
                                         .size = in->size,
                                         .initial = condition->initial,
                                         .assigns = condition->assigns}};
    return CUDA_SUCCESS;
}

void soft_conditional_claim(const soft_node *node, bool is_there)
{
    soft_graph *root = root_of(node->graph);
    const uint32_t handle = node->task.u.conditional.handle;
    if (handle <= root->condition_count) /* else the root is torn down */
        root->conditions[handle - 1].user = is_there ? node : NULL;
}

void soft_conditions_drop(soft_graph *graph)
{
    soft_delete(graph->conditions);
    graph->conditions = NULL;
    graph->condition_count = graph->condition_capacity = 0;
    soft_single_release(graph->single, false);
}

/* ---- what may be done with such a graph -------------------------------------------- */

bool soft_graph_is_conditional(const soft_graph *graph)
{
    if (graph->parent)
        return graph->parent->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    for (uint32_t i = 0; i < graph->condition_count; i++)
        if (graph->conditions[i].user)
            return true;
    return false;
}

static bool is_reached(CUmemorytype type, uint64_t address)
{
    soft_allocation found;
    return type != CU_MEMORYTYPE_ARRAY &&
           (soft_device_holding(address) || soft_host_find(address, &found));
}

bool soft_copy_is_reached(const soft_copy *copy)
{
    return is_reached(copy->src_type, copy->src) && is_reached(copy->dst_type, copy->dst);
}

bool soft_node_launches_kernels(const soft_node *node)
{
    return node->type == CU_GRAPH_NODE_TYPE_KERNEL &&
           node->task.u.launch.function->code->kernel->launches_kernels;
}

static bool may_stand_in_body(const soft_node *node)
{
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return !soft_node_launches_kernels(node);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return true;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return soft_copy_is_reached(&node->task.u.copy);
    default: return false;
    }
}

/* `context`: of the conditional node that the graph is in, NULL: of none. */
static CUresult check_nodes(const soft_graph *graph, const soft_context *context,
                            CUDA_GRAPH_INSTANTIATE_PARAMS *out)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_node *node = graph->nodes[i];
        const bool branches = node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        const bool fits = !context || may_stand_in_body(node) || !soft_rule(R83);
        const bool elsewhere =
            context && soft_rule(R82) && node->context && node->context != context;
        if (fits && !elsewhere) {
            const soft_context *inside = branches ? node->context : context;
            soft_graph *inner;
            for (uint32_t k = 0; (inner = soft_node_inner(node, k)); k++)
                SOFT_TRY(check_nodes(inner, inside, out));
            continue;
        }
        out->hErrNode_out = (CUgraphNode)node;
        /* memory of no context counts as another's */
        out->result_out = fits || node->type == CU_GRAPH_NODE_TYPE_MEMCPY
                              ? CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED
                              : CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE,
            fits ? "node %llu of a body is of another context than the "
                   "conditional node"
            : soft_node_launches_kernels(node)
                ? "a body holds no kernel that launches kernels: not node %llu"
                : "a body holds kernels, fills, copies between memory of "
                  "devices or pinned memory, empty nodes, child graphs and "
                  "conditional nodes: not node %llu",
            (unsigned long long)node->id);
    }
    return CUDA_SUCCESS;
}

CUresult soft_conditional_check(const soft_graph *graph,
                                CUDA_GRAPH_INSTANTIATE_PARAMS *out)
{
    for (uint32_t i = 0; i < graph->condition_count && soft_rule(M_handle_unused); i++) {
        if (graph->conditions[i].user)
            continue;
        out->result_out = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "unused conditional handle: no node uses handle %u", i + 1);
    }
    if (!soft_rule(R87) && graph->memory && soft_graph_is_conditional(graph))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "memory nodes beside conditional nodes are switched off");
    return graph->condition_count > 0 ? check_nodes(graph, NULL, out) : CUDA_SUCCESS;
}

CUresult soft_single_take(soft_graph *graph, soft_single **out)
{
    *out = NULL;
    const bool updatable = soft_graph_is_updatable(graph);
    if (!updatable && !soft_graph_is_conditional(graph))
        return CUDA_SUCCESS;
    if (!graph->single) {
        graph->single = soft_new(sizeof(*graph->single));
        SOFT_TRY(soft_made(graph->single, "no memory for a graph"));
        atomic_init(&graph->single->references, 1);
    }
    if (atomic_exchange(&graph->single->taken, true) &&
        (updatable ? soft_rule(R78) : soft_rule(R86)))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "the graph has %s and an executable",
                         updatable ? "nodes that the device changes"
                                   : "conditional nodes");
    atomic_fetch_add(&graph->single->references, 1);
    *out = graph->single;
    return CUDA_SUCCESS;
}

void soft_single_release(soft_single *single, bool gives_back)
{
    if (single && gives_back)
        atomic_store(&single->taken, false);
    if (single && atomic_fetch_sub(&single->references, 1) == 1)
        soft_delete(single);
}
