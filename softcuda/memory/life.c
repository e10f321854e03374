// SPDX-License-Identifier: Apache-2.0
/* Birth and death of a device's memory: the top of this folder, which ends pools, graphs
 * and ranges before the heaps and the arena that they lie in. */
#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/memory/grapharena.h"
#include "softcuda/memory/import.h"
#include "softcuda/memory/memory.h"

void soft_memory_destroy(soft_memory *memory)
{
    if (!memory)
        return;

    const gph_allocator heap = memory->heap;
    soft_pools_drop(memory);
    soft_graph_pool_drop(memory);
    soft_ranges_drop(memory);
    soft_imports_drop(memory);
    soft_ledger_drop(memory);
    soft_heap_fini(&memory->device_heap);
    soft_heap_fini(&memory->managed_heap);
    soft_arena_fini(memory);
    gphi_map_fini(&memory->blocks);
    pthread_mutex_destroy(&memory->mutex);
    gphi_heap_free(heap, memory, sizeof(*memory));
}

gph_status soft_memory_create(const soft_memory_options *options, soft_memory **out,
                              gph_error *error)
{
    const gph_allocator heap = gphi_heap(options->allocator);
    soft_memory *memory = gphi_heap_alloc(heap, sizeof(*memory));
    GPHI_TRY(gphi_made(error, memory, "memory of device %u", options->device));

    memory->heap = heap;
    memory->device = options->device;
    memory->physical = options->physical;
    pthread_mutex_init(&memory->mutex, NULL);
    gphi_map_init(&memory->blocks, heap);
    soft_heap_init(&memory->device_heap, memory, NULL, 1, false);
    soft_heap_init(&memory->managed_heap, memory, NULL, 1, false);
    memory->managed_heap.is_shown = true;
    const gph_status status = soft_arena_init(memory, options, error);
    if (status != GPH_OK) {
        soft_memory_destroy(memory);
        return status;
    }
    *out = memory;
    return GPH_OK;
}
