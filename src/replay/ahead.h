// SPDX-License-Identifier: Apache-2.0
/* Kernels that come before all else of a graph that is there already. */
#ifndef GPHI_REPLAY_AHEAD_H
#define GPHI_REPLAY_AHEAD_H
#include "cuda/runtime.h"

/* Adds `count` kernels in a row ahead of the nodes that were first. `nodes` has room for as
 * many; *made of them are in the graph, after a failure as well: they are the caller's to take
 * out. GPH_E_NO_MEMORY and what the driver returns. */
gph_status gphi_put_ahead(gph_runtime *runtime, CUgraph graph,
                          const CUDA_KERNEL_NODE_PARAMS *kernels, uint32_t count,
                          CUgraphNode *nodes, uint32_t *made, gph_error *error);
#endif
