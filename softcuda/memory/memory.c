// SPDX-License-Identifier: Apache-2.0
/* Allocations of cuMemAlloc, the lookup of any device address, counters. */
#include "softcuda/memory/memory.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "softcuda/memory/filemem.h"
#include "softcuda/memory/grapharena.h"
#include "softcuda/memory/import.h"

void soft_memory_get_info(soft_memory *memory, soft_memory_info *out)
{
    pthread_mutex_lock(&memory->mutex);
    *out = (soft_memory_info){
        .limit_bytes = memory->chunk_count * SOFT_CHUNK_BYTES,
        .range_bytes = memory->range_bytes,
        .free_bytes = memory->free_chunk_count * SOFT_CHUNK_BYTES,
        .used_bytes = memory->used_bytes,
        .peak_bytes = memory->peak_bytes,
        .map_calls = memory->map_calls,
    };
    pthread_mutex_unlock(&memory->mutex);
}

bool soft_memory_contains(const soft_memory *memory, uint64_t address)
{
    return address - soft_memory_base(memory) < memory->range_bytes;
}

uint64_t soft_memory_base(const soft_memory *memory)
{
    return (uint64_t)(uintptr_t)memory->base;
}

uint64_t soft_memory_reach(const soft_memory *memory, uint64_t address)
{
    return address + memory->shift;
}

/* Where the host is kept out, pages are either the host's, too, or not. */
static struct soft_heap *heap_of(soft_memory *memory, soft_memory_kind kind)
{
    return memory->alias && kind == SOFT_MEMORY_MANAGED ? &memory->managed_heap
                                                        : &memory->device_heap;
}

gph_status soft_memory_alloc(soft_memory *memory, soft_memory_kind kind, uint64_t bytes,
                             uint32_t flags, void *owner, uint64_t *out, gph_error *error)
{
    if (bytes == 0)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");

    pthread_mutex_lock(&memory->mutex);
    struct soft_heap *heap = heap_of(memory, kind);
    struct soft_block *block = soft_heap_take(heap, bytes, true);
    if (!block) {
        const uint64_t left = memory->free_chunk_count * SOFT_CHUNK_BYTES;
        pthread_mutex_unlock(&memory->mutex);
        return gphi_fail(
            error, CUDA_ERROR_OUT_OF_MEMORY,
            "no room for %llu bytes: %llu MiB of %llu MiB are left on device "
            "%u (SOFTCUDA_MEMORY)",
            (unsigned long long)bytes, (unsigned long long)(left >> 20),
            (unsigned long long)(memory->chunk_count * SOFT_CHUNK_BYTES >> 20),
            memory->device);
    }
    block->info = (soft_allocation){.base = soft_block_address(block),
                                    .bytes = bytes,
                                    .kind = kind,
                                    .device = memory->device,
                                    .flags = flags,
                                    .is_managed = kind == SOFT_MEMORY_MANAGED,
                                    .buffer_id = soft_next_buffer_id(),
                                    .owner = owner};
    soft_memory_count(memory, (int64_t)bytes);
    const uint64_t address = block->info.base;
    pthread_mutex_unlock(&memory->mutex);
    *out = address;
    return GPH_OK;
}

static void free_block_locked(soft_memory *memory, struct soft_block *block)
{
    soft_memory_note_freed(memory, block->info.base, block->info.bytes);
    soft_memory_count(memory, -(int64_t)block->info.bytes);
    soft_ledger_forget(memory, block);
    soft_heap_give(block->segment->heap, block);
}

gph_status soft_memory_free(soft_memory *memory, uint64_t address, gph_error *error)
{
    pthread_mutex_lock(&memory->mutex);
    struct soft_block *block = soft_block_at(memory, address);
    const bool of_heap = block && block->used && block->info.base == address &&
                         (block->info.kind == SOFT_MEMORY_DEVICE ||
                          block->info.kind == SOFT_MEMORY_MANAGED);
    if (of_heap)
        free_block_locked(memory, block);
    const bool ours = of_heap || soft_external_free(memory, address);
    pthread_mutex_unlock(&memory->mutex);
    if (ours)
        return GPH_OK;

    char text[256];
    soft_memory_describe(memory, address, text, sizeof(text));
    return gphi_fail(error, CUDA_ERROR_INVALID_VALUE, "0x%llx cannot be freed: it is %s",
                     (unsigned long long)address, text);
}

static void free_owner_locked(soft_memory *memory, struct soft_heap *heap, void *owner)
{
    struct soft_segment *segment = heap->segments;
    while (segment) {
        struct soft_segment *next = segment->after;
        /* Merging changes the list, and the last free may drop the segment: begin again.
         */
        struct soft_block *block = segment->first;
        while (block && !(block->used && block->info.owner == owner))
            block = block->after;
        if (block) {
            free_block_locked(memory, block);
            next = heap->segments;
        }
        segment = next;
    }
}

void soft_memory_free_owner(soft_memory *memory, void *owner)
{
    pthread_mutex_lock(&memory->mutex);
    free_owner_locked(memory, &memory->device_heap, owner);
    free_owner_locked(memory, &memory->managed_heap, owner);
    soft_external_free_owner(memory, owner);
    pthread_mutex_unlock(&memory->mutex);
}

static bool find_locked(soft_memory *memory, uint64_t address, soft_allocation *out)
{
    const struct soft_block *block = soft_block_at(memory, address);
    if (block && block->used && !block->pending &&
        address - block->info.base < block->info.bytes) {
        *out = block->info;
        return true;
    }
    return soft_range_find(memory, address, out) ||
           soft_graph_find_live(memory, address, out) ||
           soft_import_find(memory, address, out);
}

bool soft_memory_find(soft_memory *memory, uint64_t address, soft_allocation *out)
{
    if (!soft_memory_contains(memory, address))
        return false;
    pthread_mutex_lock(&memory->mutex);
    const bool found = find_locked(memory, address, out);
    pthread_mutex_unlock(&memory->mutex);
    return found;
}

/* Memory that was freed in stream order: what was queued before lives with it until that
 * point is reached, even where a later request has got the block. */
static bool find_held_locked(const soft_memory *memory, uint64_t address,
                             soft_allocation *out)
{
    const struct soft_block *block = soft_block_at(memory, address);
    if (!block || !block->used || soft_point_reached(block->freed) ||
        address - block->info.base >= block->former_bytes)
        return false;
    *out = block->info;
    out->bytes = block->former_bytes;
    return true;
}

bool soft_memory_find_held(soft_memory *memory, uint64_t address, soft_allocation *out)
{
    pthread_mutex_lock(&memory->mutex);
    const bool found = find_held_locked(memory, address, out);
    pthread_mutex_unlock(&memory->mutex);
    return found;
}

/* The youngest entry counts: addresses are used again. */
static bool describe_freed(const soft_memory *memory, uint64_t address, char *text,
                           size_t bytes)
{
    const uint64_t kept =
        memory->freed_count < SOFT_FREED_KEPT ? memory->freed_count : SOFT_FREED_KEPT;
    for (uint64_t i = 1; i <= kept; i++) {
        const uint64_t at = (memory->freed_count - i) % SOFT_FREED_KEPT;
        const uint64_t offset = address - memory->freed[at].base;
        if (offset >= memory->freed[at].bytes)
            continue;
        snprintf(text, bytes,
                 "%llu bytes into an allocation of %llu bytes at 0x%llx that was freed",
                 (unsigned long long)offset, (unsigned long long)memory->freed[at].bytes,
                 (unsigned long long)memory->freed[at].base);
        return true;
    }
    return false;
}

void soft_memory_describe(soft_memory *memory, uint64_t address, char *text, size_t bytes)
{
    soft_allocation found;
    if (!soft_memory_contains(memory, address)) {
        snprintf(text, bytes, "not in the memory of device %u", memory->device);
        return;
    }
    pthread_mutex_lock(&memory->mutex);
    const struct soft_block *block = soft_block_at(memory, address);
    while (block && !(block->used && !block->pending))
        block = block->before;
    if (find_locked(memory, address, &found))
        snprintf(text, bytes, "%llu bytes into the allocation of %llu bytes at 0x%llx",
                 (unsigned long long)(address - found.base),
                 (unsigned long long)found.bytes, (unsigned long long)found.base);
    else if (soft_graph_describe(memory, address, text, bytes) ||
             describe_freed(memory, address, text, bytes))
        ; /* said */
    else if (block)
        snprintf(text, bytes,
                 "%llu bytes past the end of the allocation of %llu bytes at 0x%llx",
                 (unsigned long long)(address - block->info.base - block->info.bytes),
                 (unsigned long long)block->info.bytes,
                 (unsigned long long)block->info.base);
    else
        snprintf(text, bytes, "device memory that was never allocated");
    pthread_mutex_unlock(&memory->mutex);
}
