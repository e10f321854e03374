// SPDX-License-Identifier: Apache-2.0
/* Parameters of nodes, checked: for adding nodes and for changing them, in graphs and in
 * executable ones. All with the graph mutex held. */
#ifndef SOFT_API_DESCRIBE_H
#define SOFT_API_DESCRIBE_H
#include "softcuda/api/cu_graph.h"

/* A checked description of a node, and the memory it borrows from. */
typedef struct soft_description {
    soft_node_params params;
    soft_task task;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    soft_memory_params memory;
    _Alignas(16) unsigned char scratch[SOFT_PARAM_BYTES_MAX + 4];
} soft_description;

/* The generic form of a struct that CUDA has for one type; INVALID_VALUE, with the
 * argument's name, for NULL. */
CUresult soft_params_widen(CUgraphNodeType type, const void *in, size_t bytes,
                           const char *name, CUgraphNodeParams *out);
CUresult soft_params_of_copy(const CUDA_MEMCPY3D *in, CUcontext context,
                             CUgraphNodeParams *out);
CUgraphNodeParams soft_params_of_event(CUgraphNodeType type, CUevent event);

/* Checks parameters; `out->params` was zeroed. `into`: the graph that gets the node, NULL
 * where an executable graph reads them. Bytes of the union that the type has no use for
 * may be anything. */
CUresult soft_describe_typed(const CUgraphNodeParams *in, const soft_graph *into,
                             soft_description *out);
/* The same, and what is reserved is 0 (R15). */
CUresult soft_describe_any(const CUgraphNodeParams *in, const soft_graph *into,
                           soft_description *out);

/* Of memory nodes alone. */
CUresult soft_describe_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS *in, soft_node_params *out,
                             soft_memory_params *scratch);
void soft_describe_free(CUdeviceptr address, soft_node_params *out,
                        soft_memory_params *scratch);
#endif
