// SPDX-License-Identifier: Apache-2.0
/* What the entry points of graphs and of captures share. */
#ifndef SOFT_API_GRAPH_H
#define SOFT_API_GRAPH_H

#include "softcuda/device/heap.h"
#include "softcuda/graph/graph.h"
#include "softcuda/rules/rules.h"

/* Dependency handles as nodes with their edge data; soft_delete() it. INVALID_VALUE for
 * what is no node, or NULL with a count (R1). Graph mutex held. */
CUresult soft_api_edge_ends(const CUgraphNode *nodes, const CUgraphEdgeData *data,
                            size_t count, soft_edge_end **out);

/* A checked description of a node, and the memory it borrows from. */
struct soft_description {
    soft_node_params params;
    soft_task task;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    _Alignas(16) unsigned char scratch[SOFT_PARAM_BYTES_MAX + 4];
};

/* Checks any node's parameters; `into` is the graph that it is or will be in. Graph mutex
 * held. */
CUresult soft_api_describe(const CUgraphNodeParams *in, const soft_graph *into,
                           struct soft_description *out);
CUresult soft_api_check_reserved(const CUgraphNodeParams *in);

#endif
