// SPDX-License-Identifier: Apache-2.0
/* Graphs as the program edits them: nodes and edges. */
#include "softcuda/graph/graph.h"

#include <string.h>

#include "softcuda/device/heap.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id; /* of graphs and nodes */

void soft_graph_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void soft_graph_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

CUresult soft_graph_create(soft_graph **out)
{
    soft_graph *graph = soft_new(sizeof(*graph));
    if (graph == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
    graph->id = ++last_id;
    const CUresult result = soft_handle_add(graph, SOFT_KIND_GRAPH);
    if (result != CUDA_SUCCESS) {
        soft_delete(graph);
        return result;
    }
    *out = graph;
    return CUDA_SUCCESS;
}

CUresult soft_graph_find(CUgraph handle, soft_graph **out)
{
    if (!soft_handle_is(handle, SOFT_KIND_GRAPH))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%p is no graph, or it was destroyed",
                         (void *)handle);
    *out = (soft_graph *)handle;
    return CUDA_SUCCESS;
}

CUresult soft_node_find(CUgraphNode handle, soft_node **out)
{
    if (!soft_handle_is(handle, SOFT_KIND_GRAPH_NODE))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is no graph node, or it was destroyed", (void *)handle);
    *out = (soft_node *)handle;
    return CUDA_SUCCESS;
}

/* ---- edges
 * ------------------------------------------------------------------------------ */

CUresult soft_edge_list_push(soft_edge_list *list, soft_node *node,
                             const CUgraphEdgeData *data)
{
    if (list->count == list->capacity) {
        const uint32_t capacity = list->capacity ? 2 * list->capacity : 2;
        soft_edge_end *fresh = soft_renew(list->ends, capacity * sizeof(*fresh));
        if (fresh == NULL)
            return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u edges",
                             capacity);
        list->ends = fresh;
        list->capacity = capacity;
    }
    list->ends[list->count++] =
        (soft_edge_end){node, data ? *data : (CUgraphEdgeData){0}};
    return CUDA_SUCCESS;
}

static bool same_data(const CUgraphEdgeData *a, const CUgraphEdgeData *b)
{
    return a->from_port == b->from_port && a->to_port == b->to_port && a->type == b->type;
}

/* The order of the others stays: pairing at updates goes by it (R67). */
static void list_remove(soft_edge_list *list, const soft_node *node)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->ends[i].node != node)
            continue;
        memmove(&list->ends[i], &list->ends[i + 1],
                (list->count - i - 1) * sizeof(list->ends[0]));
        list->count--;
        return;
    }
}

static const soft_edge_end *find_edge(const soft_node *from, const soft_node *to)
{
    for (uint32_t i = 0; i < to->dependencies.count; i++)
        if (to->dependencies.ends[i].node == from)
            return &to->dependencies.ends[i];
    return NULL;
}

bool soft_edge_exists(const soft_node *from, const soft_node *to)
{
    return find_edge(from, to) != NULL;
}

CUresult soft_edge_check(const soft_node *from, CUgraphNodeType to,
                         const CUgraphEdgeData *data)
{
    static const unsigned char zeros[5];
    if (data == NULL)
        return CUDA_SUCCESS;
    if (memcmp(data->reserved, zeros, sizeof(zeros)) != 0 || data->to_port != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edge data: to_port is %u and must be 0, as must reserved bytes",
                         data->to_port);
    if (data->type > 1 || data->from_port > 2)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edge data: type %u, from_port %u are not known", data->type,
                         data->from_port);
    if (data->from_port != 0 && from->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edge data: from_port %u needs a kernel node", data->from_port);
    if (data->type == 1 && (from->type != CU_GRAPH_NODE_TYPE_KERNEL ||
                            to != CU_GRAPH_NODE_TYPE_KERNEL || data->from_port == 0))
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE,
            "a programmatic edge goes from port 1 or 2 of a kernel node to a "
            "kernel node");
    if (data->from_port == 1 && data->type != 1)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edge data: port 1 needs the programmatic type");
    return CUDA_SUCCESS;
}

/* Both ends or none. */
static CUresult link_nodes(soft_node *from, soft_node *to, const CUgraphEdgeData *data)
{
    SOFT_TRY(soft_edge_list_push(&to->dependencies, from, data));
    const CUresult result = soft_edge_list_push(&from->dependents, to, data);
    if (result != CUDA_SUCCESS)
        to->dependencies.count--;
    return result;
}

static void unlink_nodes(soft_node *from, soft_node *to)
{
    list_remove(&to->dependencies, from);
    list_remove(&from->dependents, to);
}

static CUresult check_new_edge(const soft_graph *graph, const soft_node *from,
                               const soft_node *to, const CUgraphEdgeData *data)
{
    if (from->graph != graph || to->graph != graph)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the edge joins a node of another graph");
    if (from == to)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the edge joins a node with itself");
    if (find_edge(from, to))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the edge exists already");
    return soft_edge_check(from, to->type, data);
}

CUresult soft_edges_add(soft_graph *graph, soft_node *const *from, soft_node *const *to,
                        const CUgraphEdgeData *data, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    size_t done = 0;
    for (; done < count && result == CUDA_SUCCESS; done++) {
        const CUgraphEdgeData *edge = data ? &data[done] : NULL;
        result = check_new_edge(graph, from[done], to[done], edge);
        if (result == CUDA_SUCCESS)
            result = link_nodes(from[done], to[done], edge);
        if (result != CUDA_SUCCESS)
            break;
    }
    for (size_t i = done; result != CUDA_SUCCESS && i-- > 0;)
        unlink_nodes(from[i], to[i]);
    return result;
}

CUresult soft_edges_remove(soft_graph *graph, soft_node *const *from,
                           soft_node *const *to, const CUgraphEdgeData *data,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const CUgraphEdgeData zero = {0};
        const soft_edge_end *edge = from[i]->graph == graph && to[i]->graph == graph
                                        ? find_edge(from[i], to[i])
                                        : NULL;
        if (edge == NULL)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "edge %zu does not exist", i);
        if (!same_data(&edge->data, data ? &data[i] : &zero))
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "edge %zu has other edge data", i);
    }
    for (size_t i = 0; i < count; i++)
        unlink_nodes(from[i], to[i]);
    return CUDA_SUCCESS;
}

/* ---- nodes
 * ------------------------------------------------------------------------------ */

static void drop_arguments(soft_arguments *arguments)
{
    soft_delete(arguments->packed);
    soft_delete(arguments->pointers);
    *arguments = (soft_arguments){0};
}

/* The node's own copy of a kernel's parameters. */
static CUresult copy_arguments(const soft_launch *launch, soft_arguments *out)
{
    const ptx_kernel *kernel = launch->function->code->kernel;
    soft_arguments made = {0};
    if (launch->param_bytes > 0) {
        made.packed = soft_new(launch->param_bytes);
        made.pointers = soft_new(kernel->param_count * sizeof(void *));
        if (made.packed == NULL || made.pointers == NULL) {
            drop_arguments(&made);
            return soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                             "no memory for %u bytes of parameters", launch->param_bytes);
        }
        memcpy(made.packed, launch->params, launch->param_bytes);
        for (uint32_t i = 0; i < kernel->param_count; i++)
            made.pointers[i] = (char *)made.packed + kernel->params[i].offset;
    }
    *out = made;
    return CUDA_SUCCESS;
}

/* What cuGraphMemcpyNodeGetParams() says of a captured copy. */
static CUDA_MEMCPY3D copy_params(const soft_copy *copy)
{
    CUDA_MEMCPY3D out = {.WidthInBytes = copy->width,
                         .Height = copy->height,
                         .Depth = copy->depth,
                         .srcMemoryType = copy->src_type,
                         .dstMemoryType = copy->dst_type,
                         .srcPitch = copy->src_pitch,
                         .dstPitch = copy->dst_pitch,
                         .srcHeight = copy->height,
                         .dstHeight = copy->height};
    if (copy->src_type == CU_MEMORYTYPE_HOST)
        out.srcHost = (const void *)(uintptr_t)copy->src;
    else
        out.srcDevice = copy->src;
    if (copy->dst_type == CU_MEMORYTYPE_HOST)
        out.dstHost = (void *)(uintptr_t)copy->dst;
    else
        out.dstDevice = copy->dst;
    return out;
}

/* Drops what the node owns but its edges. */
static void drop_payload(soft_node *node)
{
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL && node->task.u.launch.function)
        soft_function_release(node->task.u.launch.function);
    drop_arguments(&node->arguments);
    if (node->event)
        soft_event_release(node->event);
    if (node->child)
        soft_graph_destroy(node->child);
    node->event = NULL;
    node->child = NULL;
    node->task = (soft_task){0};
}

/* Fills the payload of a node that has none. */
static CUresult take_payload(soft_node *node, const soft_node_params *params)
{
    node->context = params->context;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        SOFT_TRY(copy_arguments(&params->task->u.launch, &node->arguments));
        node->task = *params->task;
        node->task.u.launch.params = node->arguments.packed;
        soft_function_retain(node->task.u.launch.function);
        return CUDA_SUCCESS;
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
    case CU_GRAPH_NODE_TYPE_GRAPH:
        SOFT_TRY(soft_graph_clone(params->child, &node->child));
        node->child->parent = node;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        node->event = params->event;
        soft_event_retain(node->event);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    default:
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type %d are not built",
                         (int)params->type);
    }
}

CUresult soft_node_set(soft_node *node, const soft_node_params *params)
{
    soft_node fresh = {.type = node->type};
    SOFT_TRY(take_payload(&fresh, params));
    drop_payload(node);
    node->context = fresh.context;
    node->task = fresh.task;
    node->arguments = fresh.arguments;
    node->copy = fresh.copy;
    node->fill = fresh.fill;
    node->event = fresh.event;
    node->child = fresh.child;
    if (node->child)
        node->child->parent = node;
    return CUDA_SUCCESS;
}

static CUresult reserve_place(soft_graph *graph)
{
    if (graph->node_count < graph->node_capacity)
        return CUDA_SUCCESS;
    const uint32_t capacity = graph->node_capacity ? 2 * graph->node_capacity : 8;
    soft_node **fresh = soft_renew(graph->nodes, capacity * sizeof(*fresh));
    if (fresh == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %u nodes", capacity);
    graph->nodes = fresh;
    graph->node_capacity = capacity;
    return CUDA_SUCCESS;
}

static CUresult check_dependencies(const soft_graph *graph, CUgraphNodeType type,
                                   const soft_edge_end *dependencies, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (dependencies[i].node->graph != graph)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "dependency %u is a node of another graph", i);
        /* Quadratic, but dependencies are few; many of them are checked by marks. */
        for (uint32_t k = 0; k < i && count <= 64; k++)
            if (dependencies[k].node == dependencies[i].node)
                return soft_fail(CUDA_ERROR_INVALID_VALUE,
                                 "dependencies %u and %u are the same node", k, i);
        SOFT_TRY(soft_edge_check(dependencies[i].node, type, &dependencies[i].data));
    }
    if (count <= 64)
        return CUDA_SUCCESS;
    bool twice = false;
    for (uint32_t i = 0; i < count; i++)
        dependencies[i].node->mark = 0;
    for (uint32_t i = 0; i < count; i++)
        twice |= dependencies[i].node->mark++ > 0;
    if (twice)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a dependency stands twice");
    return CUDA_SUCCESS;
}

static void free_node(soft_node *node)
{
    drop_payload(node);
    soft_delete(node->dependencies.ends);
    soft_delete(node->dependents.ends);
    soft_delete(node);
}

CUresult soft_node_add(soft_graph *graph, const soft_node_params *params,
                       const soft_edge_end *dependencies, uint32_t count, soft_node **out)
{
    SOFT_TRY(check_dependencies(graph, params->type, dependencies, count));
    SOFT_TRY(reserve_place(graph));
    soft_node *node = soft_new(sizeof(*node));
    if (node == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a node");
    node->graph = graph;
    node->type = params->type;
    node->id = ++last_id;
    CUresult result = take_payload(node, params);
    uint32_t linked = 0;
    for (; result == CUDA_SUCCESS && linked < count; linked++) {
        result = link_nodes(dependencies[linked].node, node, &dependencies[linked].data);
        if (result != CUDA_SUCCESS)
            break;
    }
    if (result == CUDA_SUCCESS)
        result = soft_handle_add(node, SOFT_KIND_GRAPH_NODE);
    if (result != CUDA_SUCCESS) {
        while (linked-- > 0)
            unlink_nodes(dependencies[linked].node, node);
        free_node(node);
        return result;
    }
    node->place = graph->node_count;
    graph->nodes[graph->node_count++] = node;
    *out = node;
    return CUDA_SUCCESS;
}

void soft_node_destroy(soft_node *node)
{
    soft_graph *graph = node->graph;
    soft_handle_remove(node, SOFT_KIND_GRAPH_NODE);
    for (uint32_t i = 0; i < node->dependencies.count; i++)
        list_remove(&node->dependencies.ends[i].node->dependents, node);
    for (uint32_t i = 0; i < node->dependents.count; i++)
        list_remove(&node->dependents.ends[i].node->dependencies, node);
    memmove(&graph->nodes[node->place], &graph->nodes[node->place + 1],
            (graph->node_count - node->place - 1) * sizeof(graph->nodes[0]));
    graph->node_count--;
    for (uint32_t i = node->place; i < graph->node_count; i++)
        graph->nodes[i]->place = i;
    free_node(node);
}

void soft_graph_destroy(soft_graph *graph)
{
    soft_handle_remove(graph, SOFT_KIND_GRAPH);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_handle_remove(graph->nodes[i], SOFT_KIND_GRAPH_NODE);
        free_node(graph->nodes[i]);
    }
    soft_delete(graph->nodes);
    soft_delete(graph);
}

/* ---- clone
 * ------------------------------------------------------------------------------ */

static CUresult clone_node(const soft_node *node, soft_graph *into)
{
    const soft_node_params params = {.type = node->type,
                                     .context = node->context,
                                     .task = &node->task,
                                     .copy = &node->copy,
                                     .fill = &node->fill,
                                     .event = node->event,
                                     .child = node->child};
    soft_node *fresh;
    return soft_node_add(into, &params, NULL, 0, &fresh);
}

/* Edges may go to later nodes, so they come when all nodes are there; each list keeps its
 * order, which means something at updates (R67). */
static CUresult clone_edges(const soft_graph *graph, soft_graph *into)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        for (uint32_t k = 0; k < node->dependencies.count; k++) {
            const soft_edge_end *end = &node->dependencies.ends[k];
            SOFT_TRY(soft_edge_list_push(&into->nodes[i]->dependencies,
                                         into->nodes[end->node->place], &end->data));
        }
        for (uint32_t k = 0; k < node->dependents.count; k++) {
            const soft_edge_end *end = &node->dependents.ends[k];
            SOFT_TRY(soft_edge_list_push(&into->nodes[i]->dependents,
                                         into->nodes[end->node->place], &end->data));
        }
    }
    return CUDA_SUCCESS;
}

CUresult soft_graph_clone(const soft_graph *graph, soft_graph **out)
{
    soft_graph *fresh;
    SOFT_TRY(soft_graph_create(&fresh));
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++)
        result = clone_node(graph->nodes[i], fresh);
    if (result == CUDA_SUCCESS)
        result = clone_edges(graph, fresh);
    if (result != CUDA_SUCCESS) {
        soft_graph_destroy(fresh);
        return result;
    }
    *out = fresh;
    return CUDA_SUCCESS;
}
