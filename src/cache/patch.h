// SPDX-License-Identifier: Apache-2.0
/* One executable that holds another key's arguments and grids after a store.
 *
 *   template   a copy of a graph of the class, whose kernel nodes kernels may change
 *      gph_patch ──> the graph's roots ──> ...
 *          │ reads a word of a ring in pinned memory: the block of the key
 *          └ gives each node what differs from what it has (src/device/patcher.h)
 *
 * So a key that is cold costs the host the launch and a store, whatever its nodes are;
 * a whole update costs 0.1 us a node. What only an update could change (functions, block
 * sizes, shared memory, copies, fills, attributes) must be the same in all keys. */
#ifndef GPHI_CACHE_PATCH_H
#define GPHI_CACHE_PATCH_H
#include "cuda/runtime.h"
#include "replay/exec.h"

typedef struct gphi_patch gphi_patch;

/* For graphs like this one, which is not changed. The context is the current one, and the
 * stream not captured; NULL: the thread's own. Fails with GPH_E_UNSUPPORTED (nodes of
 * kinds that are not copied), GPH_E_NO_MEMORY and what the driver returns. */
gph_status gphi_patch_create(gph_runtime *runtime, CUgraph like, CUstream stream,
                             gphi_patch **out, gph_error *error);
/* Waits until its launches have begun, its blocks are freed apart. NULL is allowed. */
void gphi_patch_destroy(gphi_patch *patch);

/* What a graph differs in, in device memory: for gphi_patch_launch(). GPH_E_UNSUPPORTED
 * if it differs in more than arguments and grids. */
gph_status gphi_patch_block(gphi_patch *patch, CUgraph graph, CUstream stream,
                            CUdeviceptr *out, gph_error *error);
/* Waits until launches that are queued have begun. 0 is allowed. */
void gphi_patch_block_free(gphi_patch *patch, CUdeviceptr block);

/* Launches the graph of a block. Launches that are queued keep theirs. One at a time. */
gph_status gphi_patch_launch(gphi_patch *patch, CUdeviceptr block, CUstream stream,
                             gph_error *error);

gph_exec *gphi_patch_exec(const gphi_patch *patch);
/* Device memory of the patch and of one block, without the executable. */
uint64_t gphi_patch_bytes(const gphi_patch *patch);
uint64_t gphi_patch_block_bytes(const gphi_patch *patch);
#endif
