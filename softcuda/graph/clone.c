// SPDX-License-Identifier: Apache-2.0
/* Copies of graphs. */
#include "softcuda/graph/node.h"

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
        into->nodes[i]->sink_serial = node->sink_serial; /* keeps their order */
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
