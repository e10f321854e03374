// SPDX-License-Identifier: Apache-2.0
/* Order and soundness of a graph (Kahn 1962), without recursion on its length. */
#include "base/fail.h"
#include "base/heap.h"
#include "graph/graph.h"

#include <string.h>

/* Edges by their first node, in three arrays of two allocations:
 *   first[n + 1]   where node i's successors begin in `next`
 *   next[e]        successors
 *   waits[n]       predecessors not yet ordered */
struct fan_out {
    gph_allocator heap;
    size_t nodes;
    size_t edges;
    size_t *first;
    size_t *waits;
    uint32_t *next;
};

static gph_status fan_out_init(struct fan_out *fan, const gph_graph *graph)
{
    *fan = (struct fan_out){
        .heap = graph->heap, .nodes = graph->nodes.count, .edges = graph->edges.count};
    fan->first = gphi_heap_array(fan->heap, 2 * fan->nodes + 2, sizeof(*fan->first));
    fan->next = gphi_heap_array(fan->heap, fan->edges + 1, sizeof(*fan->next));
    if (!fan->first || !fan->next)
        return GPH_E_NO_MEMORY;

    fan->waits = fan->first + fan->nodes + 1;
    for (size_t i = 0; i < fan->edges; i++)
        fan->first[gph_graph_edge(graph, i)->from + 1]++;
    for (size_t i = 0; i < fan->nodes; i++)
        fan->first[i + 1] += fan->first[i];
    for (size_t i = 0; i < fan->edges; i++) { /* `waits` is the fill mark at first */
        const gph_edge *edge = gph_graph_edge(graph, i);
        fan->next[fan->first[edge->from] + fan->waits[edge->from]++] = edge->to;
    }
    memset(fan->waits, 0, fan->nodes * sizeof(*fan->waits));
    for (size_t i = 0; i < fan->edges; i++)
        fan->waits[fan->next[i]]++;
    return GPH_OK;
}

static void fan_out_fini(struct fan_out *fan)
{
    gphi_heap_free(fan->heap, fan->next, (fan->edges + 1) * sizeof(*fan->next));
    gphi_heap_free(fan->heap, fan->first, (2 * fan->nodes + 2) * sizeof(*fan->first));
}

/* Fills `order` and returns how many nodes could be ordered: all, unless there is a
 * cycle. */
static size_t order_nodes(struct fan_out *fan, uint32_t *order)
{
    size_t count = 0;
    for (size_t i = 0; i < fan->nodes; i++)
        if (fan->waits[i] == 0)
            order[count++] = (uint32_t)i;
    for (size_t done = 0; done < count; done++)
        for (size_t i = fan->first[order[done]]; i < fan->first[order[done] + 1]; i++)
            if (--fan->waits[fan->next[i]] == 0)
                order[count++] = fan->next[i];
    return count;
}

/* A node that is on a cycle, not merely reachable from one: every node that still waits
 * has a predecessor that waits, so going back often enough ends up on a cycle. Reuses
 * `first`.
 */
static uint32_t node_on_cycle(struct fan_out *fan, const gph_graph *graph)
{
    size_t *back = fan->first;
    for (size_t i = 0; i < fan->edges; i++) {
        const gph_edge *edge = gph_graph_edge(graph, i);
        if (fan->waits[edge->from] > 0 && fan->waits[edge->to] > 0)
            back[edge->to] = edge->from;
    }
    size_t node = 0;
    while (fan->waits[node] == 0)
        node++;
    for (size_t i = 0; i < fan->nodes; i++)
        node = back[node];
    return (uint32_t)node;
}

static gph_status fail_at_node(gph_error *error, const gph_graph *graph, uint32_t index,
                               const char *what)
{
    const gph_node *node = gph_graph_node(graph, index);
    const gph_status status =
        gphi_fail(error, GPH_E_INVALID, "node %u (%s%s%.200s) %s", index,
                  gph_node_kind_name(node->kind), node->name ? " " : "",
                  node->name ? node->name : "", what);
    if (error) {
        error->has_node = 1;
        error->node = index;
    }
    return status;
}

gph_status gph_graph_order(const gph_graph *graph, uint32_t *order, gph_error *error)
{
    GPHI_TRY(gphi_need(error, graph, order));
    if (graph->nodes.count == 0)
        return GPH_OK;

    struct fan_out fan;
    gph_status status = GPH_E_NO_MEMORY;
    const size_t bytes = graph->nodes.count * sizeof(*order);
    uint32_t *found = gphi_heap_alloc(graph->heap, bytes);
    if (!found || fan_out_init(&fan, graph) != GPH_OK) {
        status =
            gphi_fail(error, GPH_E_NO_MEMORY, "ordering %zu nodes", graph->nodes.count);
        goto free_all;
    }
    if (order_nodes(&fan, found) == graph->nodes.count) {
        memcpy(order, found, bytes);
        status = GPH_OK;
    } else {
        status = fail_at_node(error, graph, node_on_cycle(&fan, graph),
                              "waits for itself, by way of others");
    }

free_all:
    if (found)
        fan_out_fini(&fan);
    gphi_heap_free(graph->heap, found, bytes);
    return status;
}

/* `seen` has an entry a node: 1 + the last node that had an edge to it. */
static gph_status check_pairs(const gph_graph *graph, const struct fan_out *fan,
                              size_t *seen, gph_error *error)
{
    for (size_t from = 0; from < fan->nodes; from++)
        for (size_t i = fan->first[from]; i < fan->first[from + 1]; i++) {
            if (seen[fan->next[i]] == from + 1)
                return fail_at_node(error, graph, fan->next[i],
                                    "has two edges from the same node");
            seen[fan->next[i]] = from + 1;
        }
    return GPH_OK;
}

static gph_status check_one(const gph_graph *graph, gph_error *error)
{
    const size_t count = graph->nodes.count;
    if (count == 0)
        return GPH_OK;
    uint32_t *order = gphi_heap_array(graph->heap, count, sizeof(*order));
    GPHI_TRY(gphi_made(error, order, "checking %zu nodes", count));
    gph_status status = gph_graph_order(graph, order, error);
    gphi_heap_free(graph->heap, order, count * sizeof(*order));
    if (status != GPH_OK)
        return status;

    struct fan_out fan;
    status = fan_out_init(&fan, graph);
    if (status != GPH_OK) {
        gphi_fail(error, status, "checking %zu nodes", count);
        goto free_fan;
    }
    memset(fan.waits, 0, count * sizeof(*fan.waits));
    status = check_pairs(graph, &fan, fan.waits, error);

free_fan:
    fan_out_fini(&fan);
    return status;
}

gph_status gph_graph_check(const gph_graph *graph, gph_error *error)
{
    GPHI_TRY(gphi_need(error, graph));
    GPHI_TRY(check_one(graph, error));
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (gphi_node_graph(node))
            GPHI_TRY(gph_graph_check(node->u.child, error)); /* GPH_GRAPH_DEPTH_MAX */
    }
    return GPH_OK;
}
