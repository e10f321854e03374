// SPDX-License-Identifier: Apache-2.0
/* Pairing the nodes of a graph with those of an executable one (R64-R67).
 *
 *   executable   s1   s2        sinks in the order in which they became sinks: s1 = t1,
 *   graph        t1   t2        s2 = t2; then each pair's dependencies in their order,
 *                               and theirs, until every node has its partner
 *
 * Names and parameters play no part. A node that would get a second partner is a
 * mismatch. */
#include "softcuda/device/heap.h"
#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

static CUresult topology(soft_pairing *pairing, soft_node *node, soft_node *from,
                         const char *what)
{
    pairing->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    pairing->node = node;
    pairing->from = from;
    return soft_fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "%s", what);
}

/* Makes partners of two; on the stack until their dependencies are looked at. */
static bool join(soft_pairing *pairing, uint32_t at, soft_node *node)
{
    if (pairing->nodes[at] == node)
        return true;
    if (pairing->nodes[at] != NULL || node->mark != SOFT_NO_NODE)
        return false;
    pairing->nodes[at] = node;
    node->mark = at;
    pairing->stack[pairing->depth++] = at;
    return true;
}

static CUresult join_dependencies(soft_pairing *pairing, uint32_t at)
{
    const soft_shape *shape = pairing->shape;
    const soft_exec_node *old = &shape->nodes[at];
    soft_node *node = pairing->nodes[at];
    if (soft_rule(R66) && old->dep_count != node->dependencies.count)
        return topology(pairing, node, NULL, "a node has another number of dependencies");
    const uint32_t count = old->dep_count < node->dependencies.count
                               ? old->dep_count
                               : node->dependencies.count;
    for (uint32_t k = count; k-- > 0;) {
        const soft_edge_end *end = &node->dependencies.ends[k];
        const uint32_t dep = old->dep_first + k;
        if (soft_pack_edge(&end->data) != shape->dep_data[dep] ||
            !join(pairing, shape->deps[dep], end->node))
            return topology(pairing, node, end->node,
                            "a dependency is not the partner of the old one");
    }
    return CUDA_SUCCESS;
}

static CUresult join_sinks(soft_pairing *pairing, const soft_exec_level *level,
                           soft_node *const *sinks, uint32_t count)
{
    if (soft_rule(R65) && count > level->sink_count)
        return topology(pairing, sinks[level->sink_count], NULL,
                        "the graph has more nodes without dependents");
    for (uint32_t i = 0; i < count && i < level->sink_count; i++) {
        if (!join(pairing, pairing->shape->sinks[level->sink_first + i], sinks[i]))
            return topology(pairing, sinks[i], NULL, "a sink has a partner already");
        while (pairing->depth > 0)
            SOFT_TRY(join_dependencies(pairing, pairing->stack[--pairing->depth]));
    }
    return CUDA_SUCCESS;
}

CUresult soft_pair_level(soft_pairing *pairing, uint32_t at, soft_graph *graph)
{
    const soft_exec_level *level = &pairing->shape->levels[at];
    if (level->member_count != graph->node_count)
        return topology(pairing, NULL, NULL, "the graph has another number of nodes");
    soft_node **sinks = soft_new((graph->node_count + 1) * sizeof(soft_node *));
    if (sinks == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to pair %u nodes",
                         graph->node_count);
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->mark = SOFT_NO_NODE;
    const uint32_t count = soft_graph_sinks(graph, sinks);
    CUresult result = join_sinks(pairing, level, sinks, count);
    soft_delete(sinks);
    /* Nodes that no sink depends on stand on a cycle. */
    for (uint32_t i = 0; result == CUDA_SUCCESS && i < graph->node_count; i++)
        if (graph->nodes[i]->mark == SOFT_NO_NODE)
            result = topology(pairing, graph->nodes[i], NULL, "a node has no partner");
    return result;
}

CUresult soft_pairing_init(soft_pairing *pairing, const soft_shape *shape)
{
    *pairing = (soft_pairing){.shape = shape,
                              .result = CU_GRAPH_EXEC_UPDATE_ERROR,
                              .nodes = soft_new(shape->node_count * sizeof(soft_node *)),
                              .stack = soft_new(shape->node_count * sizeof(uint32_t))};
    if (pairing->nodes && pairing->stack)
        return CUDA_SUCCESS;
    soft_pairing_fini(pairing);
    return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to pair %u nodes",
                     shape->node_count);
}

void soft_pairing_fini(soft_pairing *pairing)
{
    soft_delete(pairing->nodes);
    soft_delete(pairing->stack);
    pairing->nodes = NULL;
    pairing->stack = NULL;
}
