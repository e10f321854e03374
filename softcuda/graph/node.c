// SPDX-License-Identifier: Apache-2.0
/* Nodes: what they hold, how they come and go, and whole graphs of them: a node may hold
 * a child graph, so both are cloned and destroyed by each other. */
#include <stddef.h>
#include <string.h>

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/array.h"
#include "softcuda/graph/conditional.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/graph/node.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/rules/rules.h"

SOFT_FINDER(soft_node_find, CUgraphNode, soft_node, SOFT_KIND_GRAPH_NODE,
            CUDA_ERROR_INVALID_VALUE, "graph node, or it was destroyed")

/* How much of a node those of a type have. */
static size_t node_bytes(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return offsetof(soft_node, copy) + sizeof(CUDA_MEMCPY3D);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return offsetof(soft_node, fill) + sizeof(CUDA_MEMSET_NODE_PARAMS);
    default: return offsetof(soft_node, arguments) + sizeof(soft_arguments);
    }
}

/* The node's own copy of a kernel's parameters. */
static CUresult copy_arguments(const soft_launch *launch, bool by_extra,
                               soft_arguments *out)
{
    const ptx_kernel *kernel = launch->function->code->kernel;
    const size_t extra = by_extra ? SOFT_EXTRA_WORDS : 0;
    const size_t words = (kernel->param_count + extra + 1) / 2 * 2; /* a vector's place */
    if (launch->param_bytes == 0 && !by_extra)
        return CUDA_SUCCESS;
    void **block = soft_new(words * sizeof(*block) + launch->param_bytes);
    SOFT_TRY(
        soft_made(block, "no memory for %u bytes of parameters", launch->param_bytes));
    *out = (soft_arguments){.pointers = block,
                            .packed = block + words,
                            .extra = by_extra ? block + kernel->param_count : NULL};
    if (launch->param_bytes > 0)
        memcpy(out->packed, launch->params, launch->param_bytes);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        block[i] = (char *)out->packed + kernel->params[i].offset;
    return CUDA_SUCCESS;
}

/* A captured copy knows where in an array it begins, as an address. */
static void name_arrays(const soft_copy *copy, CUDA_MEMCPY3D *out)
{
    size_t at[3] = {0};
    if (copy->src_type == CU_MEMORYTYPE_ARRAY) {
        out->srcArray = soft_array_holding(copy->src, at);
        out->srcXInBytes = at[0];
        out->srcY = at[1];
        out->srcZ = at[2];
        out->srcPitch = out->srcHeight = 0;
        out->srcDevice = 0;
    }
    if (copy->dst_type == CU_MEMORYTYPE_ARRAY) {
        out->dstArray = soft_array_holding(copy->dst, at);
        out->dstXInBytes = at[0];
        out->dstY = at[1];
        out->dstZ = at[2];
        out->dstPitch = out->dstHeight = 0;
        out->dstDevice = 0;
    }
}

/* What cuGraphMemcpyNodeGetParams() says of a captured copy: of one row no pitch, of one
 * plane no height. */
static CUDA_MEMCPY3D copy_params(const soft_copy *copy)
{
    const bool rows = copy->height > 1 || copy->depth > 1;
    CUDA_MEMCPY3D out = {.WidthInBytes = copy->width,
                         .Height = copy->height,
                         .Depth = copy->depth,
                         .srcMemoryType = copy->src_type,
                         .dstMemoryType = copy->dst_type,
                         .srcPitch = rows ? copy->src_pitch : 0,
                         .dstPitch = rows ? copy->dst_pitch : 0,
                         .srcHeight = copy->depth > 1 ? copy->height : 0,
                         .dstHeight = copy->depth > 1 ? copy->height : 0};
    if (copy->src_type == CU_MEMORYTYPE_HOST)
        out.srcHost = (const void *)(uintptr_t)copy->src;
    else
        out.srcDevice = copy->src;
    if (copy->dst_type == CU_MEMORYTYPE_HOST)
        out.dstHost = (void *)(uintptr_t)copy->dst;
    else
        out.dstDevice = copy->dst;
    name_arrays(copy, &out);
    return out;
}

/* Drops what the node owns but its edges. */
static void drop_payload(soft_node *node)
{
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        if (node->task.u.launch.function)
            soft_function_release(node->task.u.launch.function);
        soft_delete(node->arguments.pointers);
    }
    if (soft_is_batch(node->type))
        soft_delete(node->operations);
    soft_delete(node->attributes);
    node->attributes = NULL;
    if (node->event)
        soft_event_release(node->event);
    soft_graph *inner;
    for (uint32_t i = 0; (inner = soft_node_inner(node, i)); i++)
        soft_graph_destroy(inner);
    if (node->bodies)
        soft_conditional_claim(node, false);
    soft_delete(node->bodies);
    soft_memnode_drop(node);
    node->event = NULL;
    node->child = NULL;
    node->bodies = NULL;
    node->task = (soft_task){0};
}

static CUresult take_kernel(soft_node *node, const soft_node_params *params)
{
    if (params->attributes) {
        node->attributes = soft_new(sizeof(*node->attributes));
        SOFT_TRY(soft_made(node->attributes, "no memory for node attributes"));
        *node->attributes = *params->attributes;
        SOFT_TRY(soft_updatable_adopt(node, params->updatable));
    }
    SOFT_TRY(copy_arguments(&params->task->u.launch, params->by_extra && soft_rule(R19),
                            &node->arguments));
    node->task = *params->task;
    node->task.u.launch.params = node->arguments.packed;
    soft_function_retain(node->task.u.launch.function);
    return CUDA_SUCCESS;
}

static CUresult take_batch(soft_node *node, const soft_node_params *params)
{
    const soft_batch *batch = &params->task->u.batch;
    const size_t each =
        sizeof(*batch->ops) +
        (params->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ? 0 : SOFT_SEMAPHORE_BYTES);
    node->operations = soft_new((batch->count + 1) * each);
    SOFT_TRY(
        soft_made(node->operations, "no memory for %u memory operations", batch->count));
    memcpy(node->operations, batch->ops, batch->count * sizeof(*batch->ops));
    node->task = *params->task;
    node->task.u.batch.ops = node->operations;
    return CUDA_SUCCESS;
}

static CUresult take_child(soft_node *node, const soft_node_params *params)
{
    if (!soft_rule(R61))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "child graphs are switched off");
    if (!params->move)
        SOFT_TRY(soft_graph_clone(params->child, &node->child));
    else
        node->child = params->child;
    node->child->moved = params->move;
    node->child->parent = node;
    return CUDA_SUCCESS;
}

/* The bodies are empty; the program fills them (R81). */
static CUresult take_conditional(soft_node *node, const soft_node_params *params)
{
    const uint32_t size = params->task->u.conditional.size;
    node->bodies = soft_new((size + 1ull) * sizeof(soft_graph *));
    SOFT_TRY(soft_made(node->bodies, "no memory for %u bodies", size));
    node->task = *params->task;
    for (uint32_t i = 0; i < size; i++) {
        SOFT_TRY(soft_graph_create(&node->bodies[i]));
        node->bodies[i]->parent = node;
    }
    soft_conditional_claim(node, true);
    return CUDA_SUCCESS;
}

/* Fills the payload of a node that has none. */
static CUresult take_payload(soft_node *node, const soft_node_params *params)
{
    node->context = params->context;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return take_kernel(node, params);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return take_batch(node, params);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        node->task = *params->task;
        node->copy = params->copy ? *params->copy : copy_params(&params->task->u.copy);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMSET: {
        const soft_fill *fill = &params->task->u.fill;
        node->task = *params->task;
        node->fill = params->fill
                         ? *params->fill
                         : (CUDA_MEMSET_NODE_PARAMS){.dst = fill->dst,
                                                     .pitch = fill->pitch,
                                                     .value = fill->value,
                                                     .elementSize = fill->element,
                                                     .width = fill->width,
                                                     .height = fill->height};
        return CUDA_SUCCESS;
    }
    case CU_GRAPH_NODE_TYPE_HOST: node->task = *params->task; return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH: return take_child(node, params);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return take_conditional(node, params);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        node->event = params->event;
        soft_event_retain(node->event);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: /* what needs the dependencies comes later */
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    default:
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type %d are not built",
                         (int)params->type);
    }
}

/* New parameters of a kernel do not touch the attributes that the node has. */
static CUresult keep_attributes(const soft_node *node, soft_node_params *params,
                                soft_task *task)
{
    const soft_launch *old = &node->task.u.launch;
    if (soft_rule(R18) && old->cooperative && params->by_extra)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the node is cooperative, which takes no arguments as extra");
    *task = *params->task;
    task->u.launch.cooperative = old->cooperative;
    task->u.launch.priority = old->priority;
    memcpy(task->u.launch.cluster, old->cluster, sizeof(old->cluster));
    uint32_t shape[3];
    SOFT_TRY(soft_cluster_of(task->u.launch.function, task->u.launch.grid, old->cluster,
                             shape));
    params->task = task;
    params->attributes = node->attributes;
    return CUDA_SUCCESS;
}

/* The old child's memory nodes would be deleted, the new one's added. */
static CUresult check_new_child(const soft_node *node, const soft_graph *child)
{
    if (node->child->memory || child->memory)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "child graphs with alloc or free nodes are not exchanged");
    return CUDA_SUCCESS;
}

/* What the graph has by now. */
static void note(const soft_node *node)
{
    soft_graph *graph = node->graph;
    graph->has |= UINT32_C(1) << node->type;
    if (node->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return;
    const soft_function *function = node->task.u.launch.function;
    if (node->updatable)
        graph->has |= SOFT_HAS_UPDATABLE;
    if (function->code->kernel->launches_graphs)
        graph->has |= SOFT_HAS_LAUNCHES;
    graph->ready &= soft_function_is_ready(function);
}

CUresult soft_node_set(soft_node *node, const soft_node_params *params)
{
    if (node->child)
        SOFT_TRY(check_new_child(node, params->child));
    soft_node fresh = {.type = node->type, .updatable = node->updatable};
    soft_node_params own = *params;
    soft_task task;
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL)
        SOFT_TRY(keep_attributes(node, &own, &task));
    const CUresult result = take_payload(&fresh, &own);
    if (result != CUDA_SUCCESS) {
        drop_payload(&fresh);
        return result;
    }
    drop_payload(node);
    node->context = fresh.context;
    node->task = fresh.task;
    memcpy(&node->arguments, &fresh.arguments,
           node_bytes(node->type) - offsetof(soft_node, arguments));
    node->event = fresh.event;
    node->attributes = fresh.attributes;
    node->child = fresh.child;
    if (node->child)
        node->child->parent = node;
    note(node);
    return CUDA_SUCCESS;
}

static CUresult reserve_place(soft_graph *graph)
{
    soft_node **nodes =
        gphi_array_room(*soft_allocator(), graph->nodes, &graph->node_capacity,
                        graph->node_count + 1ull, sizeof(*nodes));
    SOFT_TRY(soft_made(nodes, "no memory for %u nodes", graph->node_count + 1));
    graph->nodes = nodes;
    return CUDA_SUCCESS;
}

static CUresult check_dependencies(const soft_graph *graph,
                                   const soft_node_params *params,
                                   const soft_edge_end *dependencies, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (soft_rule(R3) && dependencies[i].node->graph != graph)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "dependency %u is a node of another graph", i);
        /* Quadratic, but dependencies are few; many of them are checked by marks. */
        for (uint32_t k = 0; k < i && count <= 64 && soft_rule(R2); k++)
            if (dependencies[k].node == dependencies[i].node)
                return soft_fail(CUDA_ERROR_INVALID_VALUE,
                                 "dependencies %u and %u are the same node", k, i);
        if (!params->captured)
            SOFT_TRY(soft_edge_check(dependencies[i].node, params->type,
                                     &dependencies[i].data));
    }
    if (count <= 64 || !soft_rule(R2))
        return CUDA_SUCCESS;
    bool twice = false;
    for (uint32_t i = 0; i < count; i++)
        dependencies[i].node->mark = 0;
    for (uint32_t i = 0; i < count; i++)
        twice |= dependencies[i].node->mark++ > 0;
    if (twice)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a dependency occurs twice");
    return CUDA_SUCCESS;
}

void soft_node_free(soft_node *node)
{
    drop_payload(node);
    soft_updatable_release(node->updatable);
    soft_edge_list_fini(&node->dependencies);
    soft_edge_list_fini(&node->dependents);
    soft_delete(node);
}

/* A node was made after these and is taken away again: as an H100 does, the first goes
 * and the last takes its place, until none is left. */
static void renew_sinks(const soft_edge_end *dependencies, uint32_t count)
{
    for (uint32_t i = 0; i < count && soft_rule(M_sinks_again); i++)
        soft_node_note_sink(dependencies[i == 0 ? 0 : count - i].node);
}

/* How many come before the first that occurs twice, or 0. */
static uint32_t count_before_twice(const soft_edge_end *dependencies, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (dependencies[k].node == dependencies[i].node)
                return i;
    return 0;
}

CUresult soft_node_add(soft_graph *graph, const soft_node_params *params,
                       const soft_edge_end *dependencies, uint32_t count, soft_node **out)
{
    const CUresult fits = check_dependencies(graph, params, dependencies, count);
    if (fits != CUDA_SUCCESS && !params->captured)
        renew_sinks(dependencies, count_before_twice(dependencies, count));
    SOFT_TRY(fits);
    SOFT_TRY(reserve_place(graph));
    soft_node *node = soft_new(node_bytes(params->type));
    SOFT_TRY(soft_made(node, "no memory for a node"));
    node->graph = graph;
    node->type = params->type;
    node->id = node->sink_serial = node->root_serial = soft_graph_next_id();
    CUresult result = take_payload(node, params);
    const bool takes = params->move && node->child;
    uint32_t linked = 0;
    bool refused = false; /* as a memory node, for what it asks */
    for (; result == CUDA_SUCCESS && linked < count; linked++) {
        result =
            soft_nodes_link(dependencies[linked].node, node, &dependencies[linked].data);
        if (result != CUDA_SUCCESS)
            break;
    }
    SOFT_THEN(result, soft_handle_add(node, SOFT_KIND_GRAPH_NODE));
    if (result == CUDA_SUCCESS) {
        result = soft_memnode_added(node, params->memory);
        if (result == CUDA_SUCCESS && node->child)
            result = soft_memnode_adopt(node);
        refused = result != CUDA_SUCCESS;
        if (refused)
            soft_handle_remove(node, SOFT_KIND_GRAPH_NODE);
    }
    if (result != CUDA_SUCCESS) {
        while (linked-- > 0)
            soft_nodes_unlink(dependencies[linked].node, node);
        if (refused)
            renew_sinks(dependencies, count);
        if (takes) { /* it stays the program's */
            node->child->parent = NULL;
            node->child->moved = false;
            node->child = NULL;
        }
        soft_node_free(node);
        return result;
    }
    node->place = graph->node_count;
    graph->nodes[graph->node_count++] = node;
    note(node);
    *out = node;
    return CUDA_SUCCESS;
}

void soft_node_destroy(soft_node *node)
{
    soft_graph *graph = node->graph;
    if (soft_rule(R9))
        soft_handle_remove(node, SOFT_KIND_GRAPH_NODE);
    graph->edge_count -= node->dependencies.count;
    for (uint32_t i = 0; i < node->dependencies.count; i++) {
        soft_edge_list_remove(&node->dependencies.ends[i].node->dependents, node);
        soft_node_note_sink(node->dependencies.ends[i].node);
    }
    for (uint32_t i = 0; i < node->dependents.count; i++) {
        soft_edge_list_remove(&node->dependents.ends[i].node->dependencies, node);
        soft_node_note_root(node->dependents.ends[i].node);
        node->dependents.ends[i].node->graph->edge_count--;
    }
    memmove(&graph->nodes[node->place], &graph->nodes[node->place + 1],
            (graph->node_count - node->place - 1) * sizeof(graph->nodes[0]));
    graph->node_count--;
    for (uint32_t i = node->place; i < graph->node_count; i++)
        graph->nodes[i]->place = i;
    soft_node_free(node);
}

/* ---- graphs of nodes: a node may have a graph of its own --------------------------- */

void soft_graph_destroy(soft_graph *graph)
{
    if (graph->capture)
        soft_capture_get_hooks()->graph_gone(graph);
    soft_handle_remove(graph, SOFT_KIND_GRAPH);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_handle_remove(graph->nodes[i], SOFT_KIND_GRAPH_NODE);
        soft_node_free(graph->nodes[i]);
    }
    soft_objects_drop(&graph->objects);
    soft_conditions_drop(graph);
    soft_graph_memory_release(graph->memory);
    soft_delete(graph->nodes);
    soft_delete(graph);
}

static CUresult clone_node(const soft_node *node, soft_graph *into)
{
    soft_memory_params memory; /* refused before, unless R23 or R62 are switched off */
    if (node->memory)
        memory = (soft_memory_params){.alloc = *soft_memnode_params(node),
                                      .free = soft_memnode_address(node)};
    const soft_node_params params = {
        .type = node->type,
        .context = node->context,
        .task = &node->task,
        .copy = node->type == CU_GRAPH_NODE_TYPE_MEMCPY ? &node->copy : NULL,
        .fill = node->type == CU_GRAPH_NODE_TYPE_MEMSET ? &node->fill : NULL,
        .event = node->event,
        .child = node->child,
        .memory = node->memory ? &memory : NULL,
        .by_extra = node->type == CU_GRAPH_NODE_TYPE_KERNEL && node->arguments.extra,
        .attributes = node->attributes,
        .updatable = node->updatable};
    soft_node *fresh;
    SOFT_TRY(soft_node_add(into, &params, NULL, 0, &fresh));
    fresh->origin = node->id;
    return CUDA_SUCCESS;
}

/* Edges may go to later nodes, so they come when all nodes are there. Dependencies keep
 * their order, which means something at updates (R67); dependents come in the order of
 * the nodes that have them, as in clones on an H100. */
static CUresult clone_edges(const soft_graph *graph, soft_graph *into)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        if (!soft_rule(M_clone_roots)) /* else they are as old as the nodes */
            into->nodes[i]->root_serial = node->root_serial;
        into->nodes[i]->sink_serial = node->sink_serial; /* keep their order */
        for (uint32_t k = 0; k < node->dependencies.count; k++) {
            const soft_edge_end *end = &node->dependencies.ends[k];
            SOFT_TRY(soft_nodes_link(into->nodes[end->node->place], into->nodes[i],
                                     soft_rule(M_clone_whole) ? &end->data : NULL));
        }
    }
    return CUDA_SUCCESS;
}

CUresult soft_graph_clone(const soft_graph *graph, soft_graph **out)
{
    soft_graph *fresh;
    SOFT_TRY(soft_graph_create(&fresh));
    fresh->origin = graph->id;
    CUresult result = soft_objects_hold(&fresh->objects, graph, false);
    for (uint32_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++)
        result = clone_node(graph->nodes[i], fresh);
    SOFT_THEN(result, clone_edges(graph, fresh));
    if (result != CUDA_SUCCESS) {
        soft_graph_destroy(fresh);
        return result;
    }
    *out = fresh;
    return CUDA_SUCCESS;
}
