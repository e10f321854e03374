// SPDX-License-Identifier: Apache-2.0
/* Stream capture: what the entry points of api/capture.c ask. All with the graph mutex
 * held. */
#ifndef SOFT_GRAPH_CAPTURE_H
#define SOFT_GRAPH_CAPTURE_H

#include "softcuda/graph/graph.h"

typedef struct soft_capture_info {
    CUstreamCaptureStatus status;
    uint64_t id;
    soft_graph *graph;
    const soft_edge_list *frontier; /* valid until the stream's next call */
} soft_capture_info;

/* Whether it can begin: UNSUPPORTED, ILLEGAL_STATE. `graph` may be NULL. */
CUresult soft_capture_check_begin(const soft_stream *stream, const soft_graph *graph);
/* `graph` NULL: a new one. Else the first captured node depends on `frontier`. */
CUresult soft_capture_begin(soft_stream *stream, CUstreamCaptureMode mode,
                            soft_graph *graph, const soft_edge_end *frontier,
                            uint32_t count);
/* `out` may be NULL. The capture is over, and the graph of one that failed destroyed, but
 * after ILLEGAL_STATE and UNMATCHED (R89, R97). */
CUresult soft_capture_end(soft_stream *stream, soft_graph **out);
/* Status NONE where the stream does not capture. */
void soft_capture_get_info(const soft_stream *stream, soft_capture_info *out);
/* Nodes of the graph, by edges that they can have (R100, R103). */
CUresult soft_capture_check_frontier(const soft_graph *graph, const soft_edge_end *ends,
                                     size_t count);
/* The stream's capture if it can be added to: ILLEGAL_STATE, INVALIDATED. */
CUresult soft_capture_check_open(const soft_stream *stream);
/* Adds to, or replaces, what the next captured node depends on (R100). The capture is
 * open. */
CUresult soft_capture_set_frontier(soft_stream *stream, bool replace,
                                   const soft_edge_end *frontier, uint32_t count);
/* Adds a node after the stream's frontier and makes it the frontier. */
CUresult soft_capture_add(soft_stream *stream, const soft_node_params *params,
                          soft_node **out);

#endif
