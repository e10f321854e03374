// SPDX-License-Identifier: Apache-2.0
/* What a context's launches share: device heap, time limit, death. */
#ifndef SOFT_KERNEL_RUN_ENV_H
#define SOFT_KERNEL_RUN_ENV_H

#include <pthread.h>

#include "softcuda/kernel/run/launch.h"

/* The heap that kernels allocate from with malloc():
 *
 *   region   [head | block][head | block] ... [end: never used yet]
 *
 * First fit over a list of free blocks by size class; a head before each block says its
 * size and whether it is in use, so that a wild free() is found out. */
typedef struct soft_device_heap {
    pthread_mutex_t mutex;
    unsigned char *base; /* NULL: nothing allocated yet */
    uint64_t bytes, used;
    uint64_t free_lists[40]; /* by power of two: offset of the first free block + 1 */
} soft_device_heap;

struct soft_kernel_env {
    gph_allocator allocator;
    soft_kernel_env_options options;
    soft_device_heap heap;
    atomic_bool dead;
    soft_nested *nested; /* all that are there; under the heap's mutex */
    uint32_t nested_serial;
    atomic_uint_fast64_t pending, pending_most; /* launches by kernels */
};

void soft_device_heap_init(soft_device_heap *heap, uint64_t bytes);
void soft_device_heap_fini(soft_device_heap *heap);
/* 0: none left. 16-byte aligned. */
uint64_t soft_device_heap_alloc(soft_device_heap *heap, uint64_t bytes);
/* False: the address is none that is allocated. 0 is fine. */
bool soft_device_heap_free(soft_device_heap *heap, uint64_t address);
bool soft_device_heap_holds(const soft_device_heap *heap, uint64_t address,
                            uint64_t bytes);

#endif
