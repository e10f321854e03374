// SPDX-License-Identifier: Apache-2.0
/* Pairing the nodes of a graph with those of an executable one (R64-R68), in the order
 * in which an H100 does it, so that the first thing that does not fit is the same one.
 *
 *   executable   s1 s2 s3      1. the sinks, from the last one back, each list in the
 *   graph        t1 t2 t3         order in which its nodes became sinks
 *                              2. pair by pair: as many dependencies? what else must
 *                                 fit? then their dependencies are partners, in the
 *                                 order of the lists, and go to the end of the queue
 *
 * Names and the order of creation do not matter. A node that would get a second partner is
 * a mismatch. */
#include "softcuda/device/alloc.h"
#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

#define FAILURE CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
#define TOPOLOGY CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED

CUresult soft_pairing_refuse(soft_pairing *pairing, CUgraphExecUpdateResult result,
                             soft_node *node, soft_node *from)
{
    pairing->result = result;
    pairing->node = node;
    pairing->from = from;
    return FAILURE;
}

/* Pairs of one level whose dependencies are still to be looked at. */
struct queue {
    uint32_t *pairs; /* flat numbers */
    uint32_t head, tail;
};

static bool join(soft_pairing *pairing, struct queue *queue, uint32_t at, soft_node *node)
{
    if (pairing->nodes[at] == node)
        return true;
    if (pairing->nodes[at] || node->mark != SOFT_NO_NODE)
        return false;
    pairing->nodes[at] = node;
    node->mark = at;
    queue->pairs[queue->tail++] = at;
    return true;
}

/* Pairs come from the last node back, mostly against the order in which they were made. */
static void fetch_ahead(const soft_pairing *pairing, uint32_t at, const soft_node *node)
{
    soft_node *const *nodes = node->graph->nodes;
    if (at < SOFT_AHEAD || node->place < SOFT_AHEAD)
        return;
    soft_node_fetch(nodes[node->place - SOFT_AHEAD]);
    pairing->fetch(pairing, at - SOFT_AHEAD);
}

static CUresult join_dependencies(soft_pairing *pairing, struct queue *queue, uint32_t at)
{
    const soft_shape *shape = pairing->shape;
    const soft_exec_node *old = &shape->nodes[at];
    soft_node *node = pairing->nodes[at];
    const uint32_t count = node->dependencies.count;
    fetch_ahead(pairing, at, node);
    if (old->dep_count != count) {
        soft_refuse(FAILURE, "a node has %u dependencies, its partner has %u", count,
                    old->dep_count);
        return soft_pairing_refuse(pairing, TOPOLOGY, soft_rule(R66) ? node : NULL, NULL);
    }
    SOFT_TRY(pairing->visit(pairing, at, node));
    for (uint32_t k = 0; k < count; k++) {
        const soft_edge_end *end = &node->dependencies.ends[k];
        const uint32_t dep = old->dep_first + k;
        if (soft_pack_edge(&end->data) == shape->dep_data[dep] &&
            join(pairing, queue, shape->deps[dep], end->node))
            continue;
        soft_refuse(FAILURE,
                    "dependency %u of a node is not the partner of its partner's", k);
        return soft_pairing_refuse(pairing, TOPOLOGY, node,
                                   soft_rule(R66) ? end->node : NULL);
    }
    return CUDA_SUCCESS;
}

static CUresult check_counts(soft_pairing *pairing, const soft_exec_level *level,
                             const soft_graph *graph, soft_node *const *sinks,
                             uint32_t count)
{
    if (level->member_count != graph->node_count) {
        soft_refuse(FAILURE, "the graph has %u nodes, the executable one has %u",
                    graph->node_count, level->member_count);
        return soft_pairing_refuse(
            pairing, soft_rule(R64) ? TOPOLOGY : CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL);
    }
    if (level->sink_count == count)
        return CUDA_SUCCESS;
    soft_refuse(FAILURE,
                "the graph has %u nodes without dependents, the executable one has %u",
                count, level->sink_count);
    /* The lists are laid beside each other by their ends. */
    const bool more = soft_rule(R65) && count > level->sink_count;
    return soft_pairing_refuse(pairing, TOPOLOGY,
                               more ? sinks[count - 1 - level->sink_count] : NULL, NULL);
}

static CUresult pair(soft_pairing *pairing, const soft_exec_level *level,
                     soft_graph *graph, soft_node **sinks, struct queue *queue)
{
    soft_sinks found = {.list = sinks};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (i + SOFT_AHEAD < graph->node_count)
            soft_node_fetch_ends(graph->nodes[i + SOFT_AHEAD]);
        graph->nodes[i]->mark = SOFT_NO_NODE;
        soft_sink_add(&found, graph->nodes[i]);
    }
    soft_sinks_order(&found);
    SOFT_TRY(check_counts(pairing, level, graph, sinks, found.count));
    for (uint32_t i = found.count; i-- > 0;)
        (void)join(pairing, queue, pairing->shape->sinks[level->sink_first + i],
                   sinks[i]); /* each is there once */
    while (queue->head < queue->tail)
        SOFT_TRY(join_dependencies(pairing, queue, queue->pairs[queue->head++]));
    /* Nodes that no sink depends on are on a cycle. */
    for (uint32_t i = 0; queue->tail < graph->node_count && i < graph->node_count; i++)
        if (graph->nodes[i]->mark == SOFT_NO_NODE) {
            soft_refuse(FAILURE, "the graph has a cycle");
            return soft_pairing_refuse(pairing, TOPOLOGY, graph->nodes[i], NULL);
        }
    return CUDA_SUCCESS;
}

/* ---- by the order of creation (R69k) ----------------------------------------------- */

static bool has_dependency(const soft_shape *shape, const soft_exec_node *old,
                           const soft_edge_end *end)
{
    for (uint32_t k = 0; k < old->dep_count; k++)
        if (shape->deps[old->dep_first + k] == end->node->mark &&
            shape->dep_data[old->dep_first + k] == soft_pack_edge(&end->data))
            return true;
    return false;
}

static CUresult check_member(soft_pairing *pairing, uint32_t at, soft_node *node)
{
    const soft_shape *shape = pairing->shape;
    const soft_exec_node *old = &shape->nodes[at];
    bool same = old->dep_count == node->dependencies.count;
    for (uint32_t k = 0; k < node->dependencies.count && same; k++)
        same = has_dependency(shape, old, &node->dependencies.ends[k]);
    if (same)
        return pairing->visit(pairing, at, node);
    soft_refuse(FAILURE, "a node has other dependencies than the one that was created "
                         "in its turn");
    return soft_pairing_refuse(pairing, TOPOLOGY, node, NULL);
}

/* Nodes without dependents became so in the same order, too: a node that was refused may
 * have changed it (M_sinks_again). */
static CUresult check_sinks(soft_pairing *pairing, const soft_exec_level *level,
                            const soft_graph *graph)
{
    soft_node **sinks = soft_new(((size_t)graph->node_count + 1) * sizeof(soft_node *));
    SOFT_TRY(soft_made(sinks, "no memory to pair %u nodes", graph->node_count));
    const uint32_t count = soft_graph_sinks(graph, sinks);
    soft_node *other = NULL;
    for (uint32_t i = 0; i < count && !other; i++)
        if (sinks[i]->mark != pairing->shape->sinks[level->sink_first + i])
            other = sinks[i];
    soft_delete(sinks);
    if (!other || !soft_rule(M_child_sinks))
        return CUDA_SUCCESS;
    soft_refuse(FAILURE, "nodes of the child graph became nodes without dependents in "
                         "another order");
    return soft_pairing_refuse(pairing, TOPOLOGY, other, NULL);
}

static CUresult pair_in_order(soft_pairing *pairing, const soft_exec_level *level,
                              soft_graph *graph)
{
    const uint32_t *members = &pairing->shape->members[level->member_first];
    if (level->member_count != graph->node_count) {
        soft_refuse(FAILURE, "the graph has %u nodes, the executable one has %u",
                    graph->node_count, level->member_count);
        return soft_pairing_refuse(pairing, TOPOLOGY, NULL, NULL);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        pairing->nodes[members[i]] = graph->nodes[i];
        graph->nodes[i]->mark = members[i];
    }
    for (uint32_t i = 0; i < graph->node_count; i++)
        SOFT_TRY(check_member(pairing, members[i], graph->nodes[i]));
    return check_sinks(pairing, level, graph);
}

CUresult soft_pair_level(soft_pairing *pairing, uint32_t at, soft_graph *graph)
{
    if (pairing->in_order)
        return pair_in_order(pairing, &pairing->shape->levels[at], graph);
    const size_t room = (size_t)graph->node_count + 1;
    soft_node **sinks = soft_new_unset(room * sizeof(soft_node *));
    struct queue queue = {.pairs = soft_new_unset(room * sizeof(uint32_t))};
    CUresult result;
    if (sinks && queue.pairs)
        result = pair(pairing, &pairing->shape->levels[at], graph, sinks, &queue);
    else
        result = soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to pair %u nodes",
                           graph->node_count);
    soft_delete(sinks);
    soft_delete(queue.pairs);
    return result;
}

CUresult soft_pairing_init(soft_pairing *pairing, const soft_shape *shape)
{
    pairing->shape = shape;
    pairing->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    pairing->nodes = soft_new(shape->node_count * sizeof(soft_node *));
    if (pairing->nodes)
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to pair %u nodes",
                     shape->node_count);
}

void soft_pairing_fini(soft_pairing *pairing)
{
    soft_delete(pairing->nodes);
    pairing->nodes = NULL;
}
