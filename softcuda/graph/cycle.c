// SPDX-License-Identifier: Apache-2.0
/* Which node of a cycle instantiation names: the one that an H100 names. It walks along
 * outgoing edges, from the nodes without dependencies first, then from the others, those
 * first that got their first dependency last; the first edge that leads back to a node of
 * the path ends at the node that is named. */
#include <stdlib.h>

#include "softcuda/device/alloc.h"
#include "softcuda/graph/exec.h"

enum { FRESH, ON_PATH, DONE }; /* in soft_node.mark */

struct step {
    soft_node *node;
    uint32_t next; /* of its dependents */
};

static soft_node *walk(soft_node *start, struct step *path)
{
    uint32_t depth = 0;
    if (start->mark != FRESH)
        return NULL;
    start->mark = ON_PATH;
    path[depth++] = (struct step){start, 0};
    while (depth > 0) {
        struct step *top = &path[depth - 1];
        if (top->next == top->node->dependents.count) {
            top->node->mark = DONE;
            depth--;
            continue;
        }
        soft_node *to = top->node->dependents.ends[top->next++].node;
        if (to->mark == ON_PATH)
            return to;
        if (to->mark == FRESH) {
            to->mark = ON_PATH;
            path[depth++] = (struct step){to, 0};
        }
    }
    return NULL;
}

static bool comes_first(const soft_node *a, const soft_node *b)
{
    const bool root_a = a->dependencies.count == 0, root_b = b->dependencies.count == 0;
    return root_a != root_b ? root_a : a->behind_serial > b->behind_serial;
}

static int in_order(const void *a, const void *b)
{
    const soft_node *x = *(soft_node *const *)a, *y = *(soft_node *const *)b;
    return comes_first(x, y) ? -1 : comes_first(y, x);
}

static soft_node *find(soft_graph *graph, soft_node **starts, struct step *path)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        graph->nodes[i]->mark = FRESH;
        starts[i] = graph->nodes[i];
    }
    qsort(starts, graph->node_count, sizeof(soft_node *), in_order);
    soft_node *found = NULL;
    for (uint32_t i = 0; i < graph->node_count && !found; i++)
        found = walk(starts[i], path);
    return found;
}

soft_node *soft_graph_find_cycle(soft_graph *graph)
{
    soft_node **starts = soft_new((graph->node_count + 1) * sizeof(soft_node *));
    struct step *path = soft_new((graph->node_count + 1) * sizeof(struct step));
    soft_node *found = starts && path ? find(graph, starts, path) : NULL;
    soft_delete(starts);
    soft_delete(path);
    for (uint32_t i = 0; i < graph->node_count && !found; i++)
        for (uint32_t k = 0; !found && soft_node_inner(graph->nodes[i], k); k++)
            found = soft_graph_find_cycle(soft_node_inner(graph->nodes[i], k));
    return found;
}
