// SPDX-License-Identifier: Apache-2.0
/* Which allocation of a pool a tensor lies in: functions return views. */
#ifndef GPHI_CALLABLE_OUTPUT_H
#define GPHI_CALLABLE_OUTPUT_H
#include "callable/record.h"

/* Live allocations of a pool before a function ran, or those of an open recording. */
typedef struct gphi_held {
    gph_allocator heap;
    gph_pool *pool;
    gph_pool_range *ranges; /* `count` of them; room for `room` */
    gph_pool_range *later;  /* room for as many: read once more afterwards */
    uint32_t count, room;
} gphi_held;

gph_status gphi_held_read(gphi_held *blocks, gph_allocator heap, gph_pool *pool,
                          gph_error *error);
gph_status gphi_held_read_recording(gphi_held *blocks, gph_allocator heap, gph_pool *pool,
                                    gph_recording_id id, gph_error *error);
void gphi_held_fini(gphi_held *blocks);

/* Frees the allocations that hold one of `made` (0: none) and none of `outputs` (NULL:
 * none counts), but for those that were there when `before` was read: inputs, and memory
 * of others. `count` of each. Goes on after a failure, and returns the first. */
gph_status gphi_held_free_new(const gphi_held *before, const CUdeviceptr *made,
                              const gph_tensor *outputs, uint32_t count, CUstream stream,
                              gph_error *error);

/* The allocation that `address` lies in and that is not freed, or NULL. */
const gph_pool_range *gphi_held_find(const gphi_held *blocks, CUdeviceptr address);

/* Adds the allocation of the recording that a tensor lies in to record->kept, once; one
 * that lies elsewhere is not kept. Fails if the function has freed it. */
gph_status gphi_held_keep(const gphi_held *own, const gph_tensor *tensor, uint32_t index,
                          gphi_record *record, gph_error *error);
/* Frees, in the capture, the allocations of the recording that hold one of `addresses`
 * (0: none) and that are not kept. */
gph_status gphi_held_drop(const gphi_held *own, const CUdeviceptr *addresses,
                          uint32_t count, const gphi_record *record, CUstream stream,
                          gph_error *error);
#endif
