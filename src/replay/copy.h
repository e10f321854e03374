// SPDX-License-Identifier: Apache-2.0
/* Copies of many ranges in one stream, by the way that costs the host least.
 *
 *   kernel   one launch copies up to 32 ranges. Only between memory of the context's own
 *            device: what else an address may be (pinned, managed, pageable, another
 *            device's) is the driver's to copy
 *   batch    cuMemcpyBatchAsync, which costs as much a range as a call of its own on
 *            CUDA 13.0, but overlaps the ranges on the device
 *   each     cuMemcpyAsync */
#ifndef GPHI_REPLAY_COPY_H
#define GPHI_REPLAY_COPY_H
#include "device/kernels.h"
#include <stdbool.h>

/* gph_runtime.copy_way. */
typedef enum gphi_copy_way {
    GPHI_COPY_AUTO = 0, /* the kernel for what it is faster for, then batch, then each */
    GPHI_COPY_KERNEL = 1, /* whatever the sizes are, if the addresses allow; on softcuda
                             as well */
    GPHI_COPY_BATCH = 2,
    GPHI_COPY_EACH = 3
} gphi_copy_way;

/* The kernel, loaded into one context; shared by all who copy there. */
typedef gphi_kernels gphi_copier;

/* That of the current context. *out is NULL if the kernel is not for this driver, or
 * cannot be loaded: gphi_copy() takes other ways then. Thread: any. Fails with
 * GPH_E_NO_MEMORY. */
gph_status gphi_copier_retain(gph_runtime *runtime, gphi_copier **out, gph_error *error);
/* The work must have ended. While captures are open the module stays. NULL is allowed. */
void gphi_copier_release(gphi_copier *copier);

/* Ranges, none of which overlaps another. The arrays are scratch: their order changes. */
typedef struct gphi_copies {
    CUdeviceptr *to, *from;
    size_t *bytes; /* 0 is allowed */
    size_t count;
    bool to_is_own, from_is_own; /* known to be memory of the copier's device, of a pool:
                                    the driver is not asked */
} gphi_copies;

/* Whether a kernel inside a graph is to copy such a range: the sizes above which the
 * driver's own copies are ahead, and where sources may lie. `to`: memory of `device`. */
bool gphi_copy_is_for_graph(const gph_runtime *runtime, size_t bytes);
bool gphi_copy_may_pull(const gph_runtime *runtime, CUdevice device, CUdeviceptr to,
                        CUdeviceptr from, size_t bytes);

/* Allocates nothing. `copier` NULL: not by the kernel. */
gph_status gphi_copy(const gph_runtime *runtime, const gphi_copier *copier,
                     const gphi_copies *copies, CUstream stream, gph_error *error);
#endif
