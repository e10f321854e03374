// SPDX-License-Identifier: Apache-2.0
/* What sort of call a driver call is, by its number (gphi_call_id), where more than one
 * file asks. */
#ifndef GPHI_DOCTOR_CALL_KINDS_H
#define GPHI_DOCTOR_CALL_KINDS_H
#include "doctor/model/model.h"

bool gphi_call_is_begin(uint32_t call);         /* of a capture */
bool gphi_call_is_instantiation(uint32_t call); /* of a graph */
bool gphi_call_is_start(uint32_t call);         /* launches or uploads an executable */
bool gphi_call_is_kernel(uint32_t call);     /* launches a kernel, or would capture it */
bool gphi_call_is_wait(uint32_t call);       /* the host waits in it */
bool gphi_call_is_pool_alloc(uint32_t call); /* allocates in the order of a stream */
bool gphi_call_is_free(uint32_t call);       /* of memory that a graph may allocate */

/* A launch of a graph that ran: it succeeded, and was not captured into another graph. */
bool gphi_is_launch(const gphi_seen *seen);

/* The number of the kernel that a kernel's launch names. */
typedef struct gphi_launch_shape {
    uint32_t grid[3], block[3], shared_bytes;
} gphi_launch_shape;
gphi_launch_shape gphi_launch_shape_of(const gphi_event *event);
uint64_t gphi_launched_kernel(const gphi_model *model, const gphi_event *event);

/* Parameters of a memory node that the call adds to a graph by hand; NULL: it adds
 * none. */
const CUDA_MEM_ALLOC_NODE_PARAMS *gphi_added_allocation(const gphi_event *event);

/* What one side of a copy touches, from its first byte to after its last. */
typedef struct gphi_range {
    uint64_t start, bytes;
} gphi_range;
gphi_range gphi_copy_range(const gph_memcpy_params *copy, const gph_memcpy_side *side);
gphi_range gphi_fill_range(const gph_memset_params *fill);

static inline bool gphi_ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b,
                                    uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}
#endif
