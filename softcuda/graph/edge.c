// SPDX-License-Identifier: Apache-2.0
/* Edges of a graph, each in the lists of both of its ends. */
#include <string.h>

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/graph/node.h"
#include "softcuda/rules/rules.h"

CUresult soft_edge_list_reserve(soft_edge_list *list, uint32_t more)
{
    const bool is_own = !list->ends || list->ends == &list->one;
    const uint32_t wanted = list->count + more;
    uint32_t capacity = is_own ? 1 : list->capacity;
    if (more <= list->capacity - list->count)
        return CUDA_SUCCESS;
    soft_edge_end *ends = &list->one;
    if (wanted > 1)
        ends = gphi_array_room(*soft_allocator(), is_own ? NULL : list->ends, &capacity,
                               wanted, sizeof(*ends));
    SOFT_TRY(soft_made(ends, "no memory for %u edges", wanted));
    if (is_own && wanted > 1)
        ends[0] = list->one;
    list->ends = ends;
    list->capacity = capacity;
    return CUDA_SUCCESS;
}

void soft_edge_list_fini(soft_edge_list *list)
{
    if (list->ends != &list->one)
        soft_delete(list->ends);
}

CUresult soft_edge_list_push(soft_edge_list *list, soft_node *node,
                             const CUgraphEdgeData *data)
{
    SOFT_TRY(soft_edge_list_reserve(list, 1));
    list->ends[list->count++] =
        (soft_edge_end){node, data ? *data : (CUgraphEdgeData){0}};
    return CUDA_SUCCESS;
}

void soft_node_note_sink(soft_node *node)
{
    if (node->dependents.count == 0)
        node->sink_serial = soft_graph_next_id();
}

void soft_node_note_root(soft_node *node)
{
    if (node->dependencies.count == 0)
        node->root_serial = soft_graph_next_id();
}

/* The last one takes its place, as on an H100: pairing at updates follows the order. */
void soft_edge_list_remove(soft_edge_list *list, const soft_node *node)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->ends[i].node != node)
            continue;
        list->ends[i] = list->ends[--list->count];
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

static CUresult check_ports(const soft_node *from, const CUgraphEdgeData *data)
{
    static const unsigned char zeros[5];
    if (memcmp(data->reserved, zeros, sizeof(zeros)) != 0 || data->to_port != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edge data: to_port is %u and must be 0, as must reserved bytes",
                         data->to_port);
    if (data->from_port > 2)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "edge data: there is no from_port %u",
                         data->from_port);
    if (data->from_port != 0 && from->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "edge data: from_port %u needs a kernel node", data->from_port);
    return CUDA_SUCCESS;
}

static CUresult check_type(const soft_node *from, CUgraphNodeType to,
                           const CUgraphEdgeData *data)
{
    if (data->type > 1)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "edge data: there is no type %u",
                         data->type);
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

CUresult soft_edge_check(const soft_node *from, CUgraphNodeType to,
                         const CUgraphEdgeData *data)
{
    if (!data)
        return CUDA_SUCCESS;
    if (soft_rule(R14))
        SOFT_TRY(check_ports(from, data));
    return soft_rule(R13) ? check_type(from, to, data) : CUDA_SUCCESS;
}

/* Both ends or none. */
CUresult soft_nodes_link(soft_node *from, soft_node *to, const CUgraphEdgeData *data)
{
    SOFT_TRY(soft_edge_list_push(&to->dependencies, from, data));
    const CUresult result = soft_edge_list_push(&from->dependents, to, data);
    if (result != CUDA_SUCCESS) {
        to->dependencies.count--;
        return result;
    }
    to->graph->edge_count++;
    if (to->dependencies.count == 1)
        to->behind_serial = soft_graph_next_id();
    return CUDA_SUCCESS;
}

void soft_nodes_unlink(soft_node *from, soft_node *to)
{
    const uint32_t before = to->dependencies.count; /* it need not be there (R6) */
    soft_edge_list_remove(&to->dependencies, from);
    soft_edge_list_remove(&from->dependents, to);
    to->graph->edge_count -= before - to->dependencies.count;
}

static CUresult check_new_edge(const soft_graph *graph, const soft_node *from,
                               const soft_node *to, const CUgraphEdgeData *data)
{
    if (soft_rule(R3) && (from->graph != graph || to->graph != graph))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the edge joins a node of another graph");
    if (soft_rule(R4) && from == to)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the edge joins a node with itself");
    return soft_edge_check(from, to->type, data);
}

static CUresult add_edge(soft_node *from, soft_node *to, const CUgraphEdgeData *data)
{
    if (soft_rule(R4) && find_edge(from, to))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the edge exists already");
    return soft_nodes_link(from, to, data);
}

/* As an H100 does: all are checked first, but for edges that exist; the edges before
 * such a one stay. Where memory ends, none stays. */
CUresult soft_edges_add(soft_graph *graph, soft_node *const *from, soft_node *const *to,
                        const CUgraphEdgeData *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        SOFT_TRY(check_new_edge(graph, from[i], to[i], data ? &data[i] : NULL));
    CUresult result = CUDA_SUCCESS;
    size_t done = 0;
    for (; done < count && result == CUDA_SUCCESS; done += result == CUDA_SUCCESS)
        result = add_edge(from[done], to[done], data ? &data[done] : NULL);
    for (size_t i = done; result == CUDA_ERROR_OUT_OF_MEMORY && i-- > 0;) {
        soft_nodes_unlink(from[i], to[i]);
        soft_node_note_sink(from[i]);
    }
    return result;
}

/* As on an H100: ends are checked first; the edges before one that is refused are gone,
 * and the edge data that is given is not compared. */
CUresult soft_edges_remove(soft_graph *graph, soft_node *const *from,
                           soft_node *const *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i]) &&
            soft_rule(R6))
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "edge %zu is not one of this graph's: its ends are %s", i,
                             from[i] == to[i] ? "the same node" : "of another graph");
    for (size_t i = 0; i < count; i++) {
        if (!find_edge(from[i], to[i]) && soft_rule(R6))
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "edge %zu does not exist", i);
        soft_nodes_unlink(from[i], to[i]);
        soft_node_note_sink(from[i]);
        soft_node_note_root(to[i]);
    }
    return CUDA_SUCCESS;
}
