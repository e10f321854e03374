// SPDX-License-Identifier: Apache-2.0
/* The driver's structs as parameters of nodes, and back: the one place that knows which
 * member is which field. Nothing is allocated; pointers in the structs are borrowed from
 * the parameters. */
#ifndef GPHI_GRAPH_CONVERT_H
#define GPHI_GRAPH_CONVERT_H
#include "cuda/abi.h"
#include <gph/graph.h>
#include <stdbool.h>

/* Function or kernel, launch and context; arguments and attributes are not of the struct
 * alone, and stay as they are. */
void gphi_kernel_from_cuda(const CUDA_KERNEL_NODE_PARAMS *from, gph_kernel_params *to);
/* `is_kern`: the handle is a CUkernel, which goes with the context. No arguments. */
CUDA_KERNEL_NODE_PARAMS gphi_kernel_to_cuda(const gph_kernel_params *from, bool is_kern);

gph_memcpy_params gphi_memcpy_from_cuda(const CUDA_MEMCPY3D *from);
CUDA_MEMCPY3D gphi_memcpy_to_cuda(const gph_memcpy_params *from);

gph_memset_params gphi_memset_from_cuda(const CUDA_MEMSET_NODE_PARAMS *from);
CUDA_MEMSET_NODE_PARAMS gphi_memset_to_cuda(const gph_memset_params *from);

gph_host_params gphi_host_from_cuda(const CUDA_HOST_NODE_PARAMS *from);
CUDA_HOST_NODE_PARAMS gphi_host_to_cuda(const gph_host_params *from);

gph_mem_op gphi_mem_op_from_cuda(const CUstreamBatchMemOpParams *from);
#endif
