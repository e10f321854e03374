// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK=race: the race check of an executable graph, and what it says. */
#ifndef SOFT_GRAPH_WATCH_H
#define SOFT_GRAPH_WATCH_H

#include "softcuda/check/beside.h"
#include "softcuda/graph/graph.h"

typedef struct soft_watch soft_watch;

/* What of a flat graph matters here; arrays are borrowed for the call. */
typedef struct soft_watch_graph {
    soft_node *const *nodes; /* by flat number; NULL: order only */
    uint32_t node_count;
    uint64_t exec; /* what messages call it */
    const soft_edge *edges;
    uint64_t edge_count;
    const uint32_t *body_of, *body_owner; /* as soft_flat has them */
} soft_watch_graph;

/* *out is NULL where SOFTCUDA_CHECK does not ask for it, and, with a warning, where the
 * graph is too large. The graph has no cycle. */
CUresult soft_watch_create(const soft_watch_graph *graph, soft_watch **out);
void soft_watch_destroy(soft_watch *watch); /* takes NULL */
/* A record that a launch will run as this node; before it can run. Takes NULL. */
void soft_watch_record(soft_watch *watch, uint32_t node, soft_task_kind kind,
                       soft_record *record);
/* A round of a WHILE node is over, and the next has not begun. */
void soft_watch_round(soft_watch *watch, uint32_t node);
/* A launch by the program: before it is submitted to the queue, with the executable's mutex;
 * what it returns (or NULL) goes to the second, with the launch's point, {NULL} if it was not. */
soft_unit *soft_watch_begin(soft_watch *watch, const soft_queue *queue);
void soft_watch_submitted(soft_watch *watch, soft_unit *unit, soft_point point);
/* The run under way, held; NULL: none, or it is not compared with others. */
soft_unit *soft_watch_unit(soft_watch *watch);
/* A kernel of it launches a graph, held; and the graph that the watch is of runs as this
 * (borrowed until soft_watch_finish()). */
soft_unit *soft_watch_launch(soft_watch *watch, const soft_trace *trace, bool is_sibling);
void soft_watch_run(soft_watch *watch, soft_unit *unit);
/* It does not run after all. */
void soft_watch_cancel(soft_watch *watch);
/* After the last node of a launch, before the next launch. Takes NULL. */
void soft_watch_finish(soft_watch *watch);

#endif
