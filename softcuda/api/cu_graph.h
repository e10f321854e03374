// SPDX-License-Identifier: Apache-2.0
/* What the entry points of graphs and of captures share. */
#ifndef SOFT_API_CU_GRAPH_H
#define SOFT_API_CU_GRAPH_H

#include "softcuda/device/alloc.h"
#include "softcuda/device/poolobject.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/rules/rules.h"

/* Dependency handles as nodes with their edge data; soft_delete() it. INVALID_VALUE for
 * what is not a node, or NULL with a count (R1). Graph mutex held. */
CUresult soft_api_edge_ends(const CUgraphNode *nodes, const CUgraphEdgeData *data,
                            size_t count, soft_edge_end **out);

/* NOT_SUPPORTED for memory nodes given parameters of their type: nothing sets these
 * (R16). */
CUresult soft_api_check_settable(CUgraphNodeType type, CUgraphNodeType wanted);
/* NOT_SUPPORTED for a graph with conditional nodes, or the body of one (R86). */
CUresult soft_api_check_plain(const soft_graph *graph);
/* cu_graphmemory.c: cuMemAllocAsync() and cuMemFreeAsync() on a stream that captures. */
CUresult soft_api_capture_alloc(soft_stream *stream, const soft_pool_object *pool,
                                size_t bytes, CUdeviceptr *out);
CUresult soft_api_capture_free(soft_stream *stream, CUdeviceptr address);

#endif
