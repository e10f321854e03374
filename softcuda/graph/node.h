// SPDX-License-Identifier: Apache-2.0
/* What the files of a graph (graph.c, edge.c, node.c) keep between them. All
 * with the graph mutex held. */
#ifndef SOFT_GRAPH_NODE_H
#define SOFT_GRAPH_NODE_H

#include "softcuda/graph/graph.h"

uint64_t soft_graph_next_id(void); /* of graphs and nodes */

/* A node that is in no graph's list and no edge's: its memory and what it holds. */
void soft_node_free(soft_node *node);

/* Both ends or none. */
CUresult soft_nodes_link(soft_node *from, soft_node *to, const CUgraphEdgeData *data);
void soft_nodes_unlink(soft_node *from, soft_node *to);
/* After its edges became fewer: without outgoing ones it becomes a sink now, and updates
 * pair sinks in that order (R67). */
void soft_node_note_sink(soft_node *node);
/* The same for incoming ones: roots are listed by it, the last one first. */
void soft_node_note_root(soft_node *node);
/* The last one takes its place: pairing at updates follows the order (R67). */
void soft_edge_list_remove(soft_edge_list *list, const soft_node *node);

#endif
