// SPDX-License-Identifier: Apache-2.0
/* What all of graphs uses: the lock, numbers, handles, and empty graphs. Edges:
 * edge.c; nodes, clones and the end of graphs: node.c. */
#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/graph/node.h"
#include "softcuda/rules/rules.h"

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
    SOFT_TRY(soft_made(graph, "no memory for a graph"));
    graph->id = soft_graph_next_id();
    graph->number = ++last_number;
    graph->ready = true;
    SOFT_TRY(soft_handle_own(graph, SOFT_KIND_GRAPH));
    *out = graph;
    return CUDA_SUCCESS;
}

SOFT_FINDER(soft_graph_find, CUgraph, soft_graph, SOFT_KIND_GRAPH,
            CUDA_ERROR_INVALID_VALUE, "graph, or it was destroyed")

/* Copies come first and in the order of their originals, by rising id; what was added to
 * the clone later has origin 0. */
CUresult soft_node_find_in_clone(const soft_node *node, const soft_graph *clone,
                                 soft_node **out)
{
    if (clone->origin != node->graph->id || !soft_rule(R24))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "graph %llu is not a clone of the node's graph %llu",
                         (unsigned long long)clone->id,
                         (unsigned long long)node->graph->id);
    size_t low;
    GPHI_HALVE(low, clone->node_count, at,
               clone->nodes[at]->origin != 0 && clone->nodes[at]->origin < node->id);
    if (low == clone->node_count || clone->nodes[low]->origin != node->id)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the node has no copy in graph %llu: it came later, or the copy "
                         "was destroyed",
                         (unsigned long long)clone->id);
    *out = clone->nodes[low];
    return CUDA_SUCCESS;
}
