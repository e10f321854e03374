// SPDX-License-Identifier: Apache-2.0
/* Fields of nodes as text: comparing two nodes field by field. */
#ifndef GPHI_GRAPH_NODE_H
#define GPHI_GRAPH_NODE_H
#include <gph/graph.h>
#include <stdbool.h>

enum { GPHI_FIELD_BYTES_MAX = 48, GPHI_VALUE_BYTES_MAX = 96 };

/* Called for each field that differs; false ends the comparison. */
typedef bool gphi_field_fn(void *user, const char *field, const char *before,
                           const char *after);

/* Two nodes of one kind, child graphs not entered. False if `call` said so. */
bool gphi_node_compare(const gph_node *a, const gph_node *b, gphi_field_fn *call,
                       void *user);

/* Whether gphi_node_compare() would find nothing: made for speed. */
bool gphi_node_same(const gph_node *a, const gph_node *b);

/* "kernel axpy", "memset", "copy of weights"; what a node is called in messages. */
void gphi_node_label(const gph_node *node, char *out, size_t bytes);
#endif
