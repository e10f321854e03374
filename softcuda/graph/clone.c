// SPDX-License-Identifier: Apache-2.0
/* Copies of graphs. */
#include "softcuda/graph/memnode.h"
#include "softcuda/graph/node.h"
#include "softcuda/rules/rules.h"

static CUresult clone_node(const soft_node *node, soft_graph *into)
{
    soft_memory_params memory; /* refused before, unless R23 or R62 are switched off */
    if (node->memory)
        memory = (soft_memory_params){.alloc = *soft_memnode_params(node),
                                      .free = soft_memnode_address(node)};
    const soft_node_params params = {.type = node->type,
                                     .context = node->context,
                                     .task = &node->task,
                                     .copy = &node->copy,
                                     .fill = &node->fill,
                                     .event = node->event,
                                     .child = node->child,
                                     .memory = node->memory ? &memory : NULL,
                                     .by_extra = node->arguments.by_extra,
                                     .attributes = node->attributes};
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
    if (result == CUDA_SUCCESS)
        result = clone_edges(graph, fresh);
    if (result != CUDA_SUCCESS) {
        soft_graph_destroy(fresh);
        return result;
    }
    *out = fresh;
    return CUDA_SUCCESS;
}

/* Copies come first and in the order of their originals, by rising id; what was added to
 * the clone later has origin 0. */
CUresult soft_node_find_in_clone(const soft_node *node, const soft_graph *clone,
                                 soft_node **out)
{
    if (clone->origin != node->graph->id || !soft_rule(R24))
        return soft_fail(
            CUDA_ERROR_INVALID_VALUE, "graph %llu is no clone of the node's graph %llu",
            (unsigned long long)clone->id, (unsigned long long)node->graph->id);
    uint32_t low = 0, high = clone->node_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const uint64_t origin = clone->nodes[middle]->origin;
        if (origin != 0 && origin < node->id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == clone->node_count || clone->nodes[low]->origin != node->id)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the node has no copy in graph %llu: it came later, or the copy "
                         "was destroyed",
                         (unsigned long long)clone->id);
    *out = clone->nodes[low];
    return CUDA_SUCCESS;
}
