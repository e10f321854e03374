// SPDX-License-Identifier: Apache-2.0
/* Allocations of other processes: slots that show places of their files.
 *
 *   slot  ->  import  ->  place in a file of the other process
 *
 * The mapping keeps the bytes, so the file need not stay open, and the process may end. What
 * is freed in stream order is found no more, and mapped until the work is done. */
#include "softcuda/memory/import.h"

#include <string.h>
#include <sys/mman.h>

#include "base/heap.h"

struct soft_import *soft_import_add(soft_memory *memory, const struct soft_places *places,
                                    uint64_t offset, uint64_t bytes,
                                    const soft_share_handle *source)
{
    const uint32_t count =
        (uint32_t)((offset + bytes + SOFT_CHUNK_BYTES - 1) / SOFT_CHUNK_BYTES);
    struct soft_import *import = gphi_heap_alloc(memory->heap, sizeof(*import));
    if (!import)
        return NULL;
    const uint32_t slot = soft_slots_take(memory, count, SOFT_SLOT_IMPORT);
    if (slot == SOFT_NO_CHUNK)
        goto free_import;
    if (!soft_slots_map_places(memory, slot, count, places, PROT_READ | PROT_WRITE))
        goto give_slots;
    *import = (struct soft_import){.next = memory->imports,
                                   .slot = slot,
                                   .slot_count = count,
                                   .source = *source,
                                   .opens = 1};
    import->info = (soft_allocation){.base = soft_slot_address(memory, slot) + offset,
                                     .bytes = bytes,
                                     .device = memory->device,
                                     .buffer_id = soft_next_buffer_id()};
    for (uint32_t i = 0; i < count; i++)
        memory->slots[slot + i].import = import;
    memory->imports = import;
    return import;

give_slots:
    soft_slots_give(memory, slot, count);
free_import:
    gphi_heap_free(memory->heap, import, sizeof(*import));
    return NULL;
}

struct soft_import *soft_import_of(const soft_memory *memory,
                                   const soft_share_handle *source)
{
    struct soft_import *import = memory->imports;
    while (import && /* one that was freed may be opened again, at another address */
           (import->pending || memcmp(&import->source, source, sizeof(*source)) != 0))
        import = import->next;
    return import;
}

struct soft_import *soft_import_at(const soft_memory *memory, uint64_t address)
{
    uint32_t slot;
    if (!soft_slot_of(memory, address, &slot) ||
        memory->slots[slot].state != SOFT_SLOT_IMPORT)
        return NULL;
    struct soft_import *import = memory->slots[slot].import;
    return import && !import->pending ? import : NULL;
}

bool soft_import_find(const soft_memory *memory, uint64_t address, soft_allocation *out)
{
    const struct soft_import *import = soft_import_at(memory, address);
    if (!import || address - import->info.base >= import->info.bytes)
        return false;
    *out = import->info;
    return true;
}

void soft_import_drop(soft_memory *memory, struct soft_import *import)
{
    struct soft_import **link = &memory->imports;
    while (*link != import)
        link = &(*link)->next;
    *link = import->next;
    soft_slots_unmap(memory, import->slot, import->slot_count);
    soft_slots_give(memory, import->slot, import->slot_count);
    if (import->info.pool) /* which waits for its last pointer before it goes */
        import->info.pool->live_count--;
    gphi_heap_free(memory->heap, import, sizeof(*import));
}

bool soft_import_free(soft_memory *memory, uint64_t address, soft_point freed)
{
    struct soft_import *import = soft_import_at(memory, address);
    if (!import || !import->info.pool || import->info.base != address)
        return false;
    soft_memory_note_freed(memory, address, import->info.bytes);
    import->pending = true;
    import->freed = freed;
    return true;
}

void soft_imports_reap(soft_memory *memory)
{
    for (struct soft_import *import = memory->imports; import;) {
        struct soft_import *next = import->next;
        if (import->pending && soft_point_reached(import->freed))
            soft_import_drop(memory, import);
        import = next;
    }
}

void soft_imports_drop(soft_memory *memory)
{
    while (memory->imports) {
        memory->imports->info.pool = NULL; /* gone before */
        soft_import_drop(memory, memory->imports);
    }
}
