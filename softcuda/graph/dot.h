// SPDX-License-Identifier: Apache-2.0
/* What dot.c and dotnode.c share. */
#ifndef SOFT_GRAPH_DOT_H
#define SOFT_GRAPH_DOT_H
#include <stdio.h>

#include "softcuda/graph/graph.h"
#include "softcuda/graph/memnode.h"

typedef struct soft_dot_node {
    const soft_node *node;
    uint32_t flags; /* CUgraphDebugDot_flags */
    uint32_t topo;  /* its place in an order from the ends to the roots */
} soft_dot_node;

/* dotnode.c: what follows the node's name. */
void soft_dot_write_node(FILE *file, const soft_dot_node *dot);
#endif
