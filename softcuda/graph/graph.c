// SPDX-License-Identifier: Apache-2.0
/* Graphs as a whole: the lock, life, clones. Nodes: node.c; edges: edge.c. */
#include "softcuda/device/alloc.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/graph/node.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_id;     /* of graphs and nodes */
static uint64_t last_number; /* of graphs */

void soft_graph_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void soft_graph_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

uint64_t soft_graph_next_id(void)
{
    return ++last_id;
}

CUresult soft_graph_create(soft_graph **out)
{
    soft_graph *graph = soft_new(sizeof(*graph));
    if (graph == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a graph");
    graph->id = soft_graph_next_id();
    graph->number = ++last_number;
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

void soft_graph_destroy(soft_graph *graph)
{
    if (graph->capture)
        soft_capture_graph_gone(graph);
    soft_handle_remove(graph, SOFT_KIND_GRAPH);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        soft_handle_remove(graph->nodes[i], SOFT_KIND_GRAPH_NODE);
        soft_node_free(graph->nodes[i]);
    }
    soft_objects_drop(&graph->objects);
    soft_graph_memory_release(graph->memory);
    soft_delete(graph->nodes);
    soft_delete(graph);
}
