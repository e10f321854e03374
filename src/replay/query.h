// SPDX-License-Identifier: Apache-2.0
/* Questions to the driver that captures, executables and updates share. */
#ifndef GPHI_REPLAY_QUERY_H
#define GPHI_REPLAY_QUERY_H
#include "base/vec.h"
#include "cuda/runtime.h"
#include <gph/graph.h>
#include <gph/replay.h>
#include <stdbool.h>

/* What the driver says of the captured stream; the arrays are valid until the next call
 * with it. */
typedef struct gphi_capture_info {
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph; /* NULL if it is not active */
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *edges; /* NULL: all are ordinary */
    size_t count;
} gphi_capture_info;
CUresult gphi_capture_info_read(const gphi_cuda_table *cu, CUstream stream,
                                gphi_capture_info *out);

/* A graph of the driver, with names and places for nodes of the graph itself. */
typedef const char *gphi_node_name_fn(const void *user, size_t index);
typedef struct gphi_graph_source {
    gph_runtime *runtime;
    CUgraph graph;
    gphi_node_name_fn *name, *place; /* may be NULL, and may return NULL */
    const void *user;
    gphi_vec
        *kerns; /* uint8_t, empty at first: for each node of the graph itself, 1 where
                      * it is a kernel whose handle is a CUkernel. NULL: not wanted */
} gphi_graph_source;

/* gph_graph_describe() of it. */
gph_status gphi_graph_describe(const gphi_graph_source *source, gph_graph **out,
                               gph_error *error);

/* Cooperative, priority and cluster of a kernel node. */
CUresult gphi_kernel_attributes_read(const gphi_cuda_table *cu, CUgraphNode node,
                                     gph_kernel_params *out);

/* A conditional node that libgph made, while its graph lives. The arrays and names are
 * lent as long. */
typedef struct gphi_conditional {
    uint32_t form; /* a gph_conditional_form */
    uint32_t count;
    const CUgraph *graphs; /* of the bodies */
    const void *user;      /* gphi_flow_body, an array */
    const gph_recording *recording;
} gphi_conditional;

/* False: it is another's, and the driver says nothing of it. Thread: any. */
bool gphi_conditional_find(CUgraphNode node, gphi_conditional *out);

/* The region of a node of a body, or NULL. */
const char *gphi_conditional_region(const gphi_conditional *of, uint32_t body,
                                    size_t index);

/* Whether a kernel of the caller's sets its handle. */
bool gphi_conditional_is_set_by(const gphi_conditional *of, CUgraphNode node);

/* One more owner of what describes the conditional nodes of a graph that was built, not
 * captured, and keeps the kernels that set them; NULL: it has none. Give it back with
 * gphi_conditional_release(), once the graph and its executables are gone. */
gph_recording *gphi_conditional_retain(CUgraph graph);
/* NULL is allowed. */
void gphi_conditional_release(gph_recording *known);

/* Its handle: what kernels set. */
uint64_t gphi_conditional_handle(const gphi_conditional *of);

/* The graph of a body; NULL: nothing is known of it. */
CUgraph gphi_flow_body_graph(CUgraphNode node, uint32_t body);

/* All nodes of a graph, in the driver's order, which is the order in which they were
 * added (measured). `out` is empty at first. */
gph_status gphi_nodes_read(const gph_runtime *runtime, CUgraph graph, gphi_vec *out,
                           gph_error *error);

/* "node 17 (kernel axpy, region layer.3/attn)", for a sentence. `region` may be NULL. */
void gphi_node_describe(const gph_runtime *runtime, CUgraphNode node, size_t index,
                        const char *region, char *out, size_t bytes);

/* The index of a node in that order; -1: it is not one of the graph's own, or the driver
 * does not say. */
int64_t gphi_node_index(const gph_runtime *runtime, CUgraph graph, CUgraphNode node);
#endif
