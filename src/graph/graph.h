// SPDX-License-Identifier: Apache-2.0
/* A graph as data.
 *
 *   gph_graph
 *     nodes   [kernel][memcpy][child]      an array; a node owns its texts and arguments
 *     edges   [0>1][1>2]      |            an array of pairs of indices
 *                             +-> gph_graph (taken: frozen, so depths stay right) */
#ifndef GPHI_GRAPH_GRAPH_H
#define GPHI_GRAPH_GRAPH_H
#include "base/vec.h"
#include <gph/graph.h>
#include <stdbool.h>
#include <stddef.h>

struct gph_graph {
    gph_allocator heap;
    char *name;
    gphi_vec nodes; /* of gph_node */
    gphi_vec edges; /* of gph_edge */
    uint32_t depth; /* 1: no child graphs */
    bool is_child;  /* a node owns it; it changes no more */
};

/* Whether nodes of this kind own a graph: a child graph, or that of their bodies. Both are
 * `u.child` then, so what walks through graphs takes both. */
_Static_assert(offsetof(gph_node, u.conditional.bodies) == offsetof(gph_node, u.child),
               "the bodies of a conditional node");
static inline bool gphi_kind_has_graph(gph_node_kind kind)
{
    return kind == GPH_NODE_CHILD || kind == GPH_NODE_CONDITIONAL;
}

/* That graph, or NULL. */
static inline gph_graph *gphi_node_graph(const gph_node *node)
{
    return gphi_kind_has_graph(node->kind) ? node->u.child : NULL;
}
#endif
