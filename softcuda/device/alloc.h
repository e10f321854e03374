// SPDX-License-Identifier: Apache-2.0
/* The driver's own heap objects. A test makes the nth allocation from now fail, in this
 * process, with gph_softcuda_fail_allocation(). */
#ifndef SOFT_DEVICE_ALLOC_H
#define SOFT_DEVICE_ALLOC_H
#include <gph/base.h>

/* Zeroed; NULL when memory is exhausted. */
void *soft_new(size_t bytes) GPH_CHECKED;

/* The same, not zeroed: for arrays that are written whole. */
void *soft_new_unset(size_t bytes) GPH_CHECKED;

/* NULL is fine. */
void soft_delete(void *block);

/* For what large graphs are made of: on a cache line, not zeroed. What is given back is
 * kept for the next one, up to 128 MiB that the system may take when it is short: to fresh
 * pages a write costs several times what it costs otherwise. */
void *soft_room_new(size_t bytes) GPH_CHECKED;
void soft_room_delete(void *room, size_t bytes); /* takes NULL; `bytes` as they were */

/* The same as an allocator: of the folders below and of src/base. */
const gph_allocator *soft_allocator(void);

/* Exported. nth < 0: none fails (the start value); 0: the next one. Returns the value as
 * it is: below 0 once the failing allocation was reached. */
GPH_API long gph_softcuda_fail_allocation(long nth);
#endif
