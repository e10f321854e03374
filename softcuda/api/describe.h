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

/* INVALID_VALUE, with the name, for NULL. */
CUresult soft_need(const void *pointer, const char *name);
CUDA_KERNEL_NODE_PARAMS
soft_kernel_params_from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *in);

/* `out->params` was zeroed. */
CUresult soft_describe_kernel(const CUDA_KERNEL_NODE_PARAMS *in, soft_description *out);
CUresult soft_describe_copy(const CUDA_MEMCPY3D *in, CUcontext named,
                            soft_description *out);
CUresult soft_describe_fill(const CUDA_MEMSET_NODE_PARAMS *in, CUcontext named,
                            soft_description *out);
CUresult soft_describe_host(const CUDA_HOST_NODE_PARAMS *in, soft_description *out);
CUresult soft_describe_event(CUevent handle, CUgraphNodeType type, soft_description *out);
/* For a node of `into`. */
CUresult soft_describe_child(CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
                             const soft_graph *into, soft_description *out);
CUresult soft_describe_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS *in,
                             soft_description *out);
/* cu_graphmemory.c */
CUresult soft_describe_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS *in, soft_node_params *out,
                             soft_memory_params *scratch);
CUresult soft_describe_free(CUdeviceptr address, soft_node_params *out,
                            soft_memory_params *scratch);
CUresult soft_describe_empty(soft_description *out);
/* Any of them; the other bytes of the union may be anything. */
CUresult soft_describe_typed(const CUgraphNodeParams *in, const soft_graph *into,
                             soft_description *out);
/* The same, and what is reserved is 0 (R15). */
CUresult soft_describe_any(const CUgraphNodeParams *in, const soft_graph *into,
                           soft_description *out);

#endif
