// SPDX-License-Identifier: Apache-2.0
/* The addresses of a graph's memory: given when an alloc node is added, used again by
 * nodes that come after the free.
 *
 * Blocks of an arena are a sorted array. A request takes the tightest run of neighboring
 * blocks that are virgin, or whose free comes before the request. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/memory/grapharena.h"

#define FEW_ARENAS 256u
#define ROOM_SLOTS (4 * SOFT_SEGMENT_CHUNKS)

/* ---- growing ----------------------------------------------------------------------- */

static bool grow_segments(soft_graph_arena *arena, uint32_t slot_count)
{
    const uint32_t count = (slot_count + SOFT_SEGMENT_CHUNKS - 1) / SOFT_SEGMENT_CHUNKS;
    if (count <= arena->segment_capacity)
        return true;
    const gph_allocator heap = arena->memory->heap;
    const uint32_t old = arena->segment_capacity;
    const uint32_t more = count > 2 * old ? count : 2 * old;
    uint8_t *holds = gphi_heap_array(heap, more, 1); /* scratch: nothing to keep */
    uint32_t *growths = gphi_heap_array(heap, more, sizeof(*growths));
    struct graph_segment **segments = gphi_heap_array(heap, more, sizeof(*segments));
    const bool made = holds && growths && segments;
    if (made && old > 0) {
        memcpy(growths, arena->growths, old * sizeof(*growths));
        memcpy(segments, arena->segments, old * sizeof(*segments));
    }
    const uint32_t drop = made ? old : more; /* the old ones go, or the new ones */
    gphi_heap_free(heap, made ? arena->holds : holds, drop);
    gphi_heap_free(heap, made ? arena->growths : growths, drop * sizeof(*growths));
    gphi_heap_free(heap, made ? arena->segments : segments, drop * sizeof(*segments));
    if (!made)
        return false;
    arena->holds = holds;
    arena->growths = growths;
    arena->segments = segments;
    arena->segment_capacity = more;
    return true;
}

/* Room for one more block. */
static bool reserve_block(soft_graph_arena *arena)
{
    struct graph_block *blocks =
        gphi_array_room(arena->memory->heap, arena->blocks, &arena->block_capacity,
                        arena->block_count + 1ull, sizeof(*blocks));
    if (blocks)
        arena->blocks = blocks;
    return blocks;
}

static bool add_block(soft_graph_arena *arena, const struct graph_block *block)
{
    if (!reserve_block(arena))
        return false;
    uint32_t at = arena->block_count++;
    for (; at > 0 && arena->blocks[at - 1].start > block->start; at--)
        arena->blocks[at] = arena->blocks[at - 1];
    arena->blocks[at] = *block;
    return true;
}

/* After the addresses that the arena has; for its first ones where an arena began that
 * went, the last one first, as on an H100; else with room after them. */
static uint32_t take_slots(const soft_graph_arena *arena, uint32_t count)
{
    soft_memory *memory = arena->memory;
    struct graph_pool *pool = memory->graphs;
    if (arena->region_count > 0) {
        const struct graph_region *last = &arena->regions[arena->region_count - 1];
        const uint32_t after = last->slot + last->count;
        if (soft_slots_take_at(memory, after, count, SOFT_SLOT_GRAPH))
            return after;
    }
    while (arena->region_count == 0 && pool->hole_count > 0) {
        const uint32_t slot = pool->holes[--pool->hole_count];
        if (soft_slots_take_at(memory, slot, count, SOFT_SLOT_GRAPH))
            return slot;
    }
    const uint32_t slot =
        soft_slots_take_behind(memory, pool->top, count, SOFT_SLOT_GRAPH);
    if (slot != SOFT_NO_CHUNK) {
        pool->top = slot + (count > ROOM_SLOTS ? count : ROOM_SLOTS);
        if (pool->top >= memory->slot_count)
            pool->top = memory->slot_count / 2;
    }
    return slot;
}

/* Powers of two, of a segment at least unless there are many graphs. */
static uint32_t region_size(const struct graph_pool *pool, uint32_t slots)
{
    uint32_t count = pool->arena_count > FEW_ARENAS ? 4 : SOFT_SEGMENT_CHUNKS;
    while (count < slots)
        count *= 2;
    return count;
}

/* Addresses right after those that the arena got last make its region longer. */
static bool extend_region(soft_graph_arena *arena, uint32_t slot, uint32_t count)
{
    const uint32_t last = arena->region_count - 1;
    if (arena->region_count == 0 ||
        arena->regions[last].slot + arena->regions[last].count != slot)
        return false;
    const uint64_t start = soft_slot_address(arena->memory, slot);
    for (uint32_t i = 0; i < arena->block_count; i++) {
        struct graph_block *block = &arena->blocks[i];
        if (block->state != GRAPH_VIRGIN || block->start + block->bytes != start)
            continue;
        block->bytes += count * SOFT_CHUNK_BYTES;
        arena->regions[last].count += count;
        return true;
    }
    return false;
}

/* The segments that an allocation of so many slots asked for belong together. */
static void note_growth(soft_graph_arena *arena, uint32_t slots)
{
    const uint32_t first = arena->slot_count / SOFT_SEGMENT_CHUNKS;
    const uint32_t count = (slots + SOFT_SEGMENT_CHUNKS - 1) / SOFT_SEGMENT_CHUNKS;
    arena->growth_count++;
    for (uint32_t i = first; i < first + count && i < arena->segment_capacity; i++)
        if (arena->growths[i] == 0)
            arena->growths[i] = arena->growth_count;
}

/* More addresses, `slots` in a row at least. */
static bool add_region(soft_graph_arena *arena, uint32_t slots)
{
    soft_memory *memory = arena->memory;
    struct graph_region *regions =
        gphi_array_room(memory->heap, arena->regions, &arena->region_capacity,
                        arena->region_count + 1ull, sizeof(*regions));
    if (!regions)
        return false;
    arena->regions = regions;
    uint32_t count = region_size(memory->graphs, slots);
    uint32_t slot = take_slots(arena, count);
    if (slot == SOFT_NO_CHUNK) {
        count = slots;
        slot = take_slots(arena, count);
    }
    if (slot == SOFT_NO_CHUNK)
        return false;
    const struct graph_block block = {.start = soft_slot_address(memory, slot),
                                      .bytes = count * SOFT_CHUNK_BYTES,
                                      .region = arena->region_count};
    const bool room = grow_segments(arena, arena->slot_count + count);
    const bool extended = room && extend_region(arena, slot, count);
    if (!room || (!extended && !add_block(arena, &block))) {
        soft_slots_give(memory, slot, count);
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        memory->slots[slot + i].arena = arena;
    if (!extended)
        arena->regions[arena->region_count++] = (struct graph_region){
            .slot = slot, .count = count, .first = arena->slot_count};
    note_growth(arena, slots);
    arena->slot_count += count;
    return true;
}

/* ---- allocations ------------------------------------------------------------------- */

static bool was_freed(const struct graph_block *block, const soft_reach *before)
{
    return block->state == GRAPH_FREED && before && block->chain < before->chains &&
           block->number <= before->frees[block->chain];
}

/* The tightest run of neighbors that were freed before: its first block; else the
 * tightest block that nobody has had; else UINT32_MAX. As on an H100 the two are not
 * joined. */
static uint32_t find_run(const soft_graph_arena *arena, uint64_t bytes,
                         const soft_reach *before)
{
    uint32_t best = UINT32_MAX, fresh = UINT32_MAX;
    uint64_t best_bytes = UINT64_MAX, fresh_bytes = UINT64_MAX;
    for (uint32_t i = 0; i < arena->block_count;) {
        const struct graph_block *block = &arena->blocks[i];
        const uint32_t first = i;
        uint64_t run = 0;
        for (; i < arena->block_count && was_freed(&arena->blocks[i], before) &&
               arena->blocks[i].region == block->region;
             i++)
            run += arena->blocks[i].bytes;
        if (run >= bytes && run < best_bytes) {
            best = first;
            best_bytes = run;
        }
        if (run > 0)
            continue;
        if (block->state == GRAPH_VIRGIN && block->bytes >= bytes &&
            block->bytes < fresh_bytes) {
            fresh = i;
            fresh_bytes = block->bytes;
        }
        i++;
    }
    return best != UINT32_MAX ? best : fresh;
}

/* Makes [start, start + bytes) of a run one block of `alloc`. There is room for one. */
static void take_run(soft_graph_arena *arena, uint32_t first, uint64_t bytes,
                     soft_graph_alloc *alloc)
{
    struct graph_block *blocks = arena->blocks;
    const struct graph_block taken = {.start = blocks[first].start,
                                      .bytes = bytes,
                                      .region = blocks[first].region,
                                      .state = GRAPH_USED,
                                      .alloc = alloc};
    uint32_t end = first;
    uint64_t left = bytes;
    while (left >= blocks[end].bytes && left > 0)
        left -= blocks[end++].bytes;
    if (left > 0) {
        blocks[end].start += left;
        blocks[end].bytes -= left;
    }
    /* [first, end) become one. */
    memmove(&blocks[first + 1], &blocks[end],
            (arena->block_count - end) * sizeof(*blocks));
    arena->block_count = arena->block_count - (end - first) + 1;
    blocks[first] = taken;

    struct graph_region *region = &arena->regions[taken.region];
    const uint64_t offset =
        taken.start + bytes - soft_slot_address(arena->memory, region->slot);
    const uint32_t touched =
        (uint32_t)((offset + SOFT_CHUNK_BYTES - 1) / SOFT_CHUNK_BYTES);
    if (touched > region->touched) {
        region->touched = touched;
        arena->grown = true;
    }
}

static soft_graph_alloc *add_locked(soft_graph_arena *arena, uint64_t bytes,
                                    const soft_reach *before)
{
    soft_memory *memory = arena->memory;
    if (bytes > memory->range_bytes)
        return NULL;
    const uint64_t rounded =
        (bytes + SOFT_GRANULE_BYTES - 1) / SOFT_GRANULE_BYTES * SOFT_GRANULE_BYTES;
    soft_graph_alloc *alloc = gphi_heap_alloc(memory->heap, sizeof(*alloc));
    if (!alloc)
        return NULL;
    uint32_t first = find_run(arena, rounded, before);
    const uint32_t slots =
        (uint32_t)((rounded + SOFT_CHUNK_BYTES - 1) / SOFT_CHUNK_BYTES);
    if (first == UINT32_MAX && add_region(arena, slots))
        first = find_run(arena, rounded, before);
    if (first == UINT32_MAX || !reserve_block(arena)) {
        gphi_heap_free(memory->heap, alloc, sizeof(*alloc));
        return NULL;
    }
    *alloc = (soft_graph_alloc){.arena = arena, .region = arena->blocks[first].region};
    alloc->info = (soft_allocation){.base = arena->blocks[first].start,
                                    .bytes = bytes,
                                    .kind = SOFT_MEMORY_GRAPH,
                                    .device = memory->device,
                                    .buffer_id = soft_next_buffer_id()};
    take_run(arena, first, rounded, alloc);
    alloc->next = arena->allocs;
    arena->allocs = alloc;
    return alloc;
}

gph_status soft_graph_alloc_add(soft_graph_arena *arena, uint64_t bytes, uint32_t access,
                                const soft_reach *before, soft_graph_alloc **out,
                                gph_error *error)
{
    soft_memory *memory = arena->memory;
    pthread_mutex_lock(&memory->mutex);
    soft_graph_alloc *alloc = add_locked(arena, bytes, before);
    if (alloc)
        alloc->info.flags = alloc->access = access;
    pthread_mutex_unlock(&memory->mutex);
    if (!alloc)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no addresses for %llu bytes are left on device %u",
                         (unsigned long long)bytes, memory->device);
    *out = alloc;
    return GPH_OK;
}

/* The block that holds an address, or NULL. */
static struct graph_block *block_of(const soft_graph_arena *arena, uint64_t address)
{
    size_t low;
    GPHI_HALVE(low, arena->block_count, at, arena->blocks[at].start <= address);
    struct graph_block *block = low > 0 ? &arena->blocks[low - 1] : NULL;
    return block && address - block->start < block->bytes ? block : NULL;
}

void soft_graph_alloc_end(soft_graph_alloc *alloc, uint32_t chain, uint32_t number)
{
    soft_memory *memory = alloc->arena->memory;
    pthread_mutex_lock(&memory->mutex);
    struct graph_block *block = block_of(alloc->arena, alloc->info.base);
    if (block && block->alloc == alloc && block->state == GRAPH_USED) {
        block->state = GRAPH_FREED;
        block->chain = chain;
        block->number = number;
    }
    alloc->ended = true;
    pthread_mutex_unlock(&memory->mutex);
}

void soft_graph_arena_settle(soft_graph_arena *arena)
{
    pthread_mutex_lock(&arena->memory->mutex);
    for (uint32_t r = 0; r < arena->region_count; r++) {
        struct graph_region *region = &arena->regions[r];
        if (region->needed == region->touched)
            continue;
        region->needed = region->touched;
        arena->ready = false;
    }
    pthread_mutex_unlock(&arena->memory->mutex);
}

uint64_t soft_graph_alloc_base(const soft_graph_alloc *alloc)
{
    return alloc->info.base;
}

uint64_t soft_graph_alloc_bytes(const soft_graph_alloc *alloc)
{
    return alloc->info.bytes;
}

soft_graph_arena *soft_graph_alloc_arena(const soft_graph_alloc *alloc)
{
    return alloc->arena;
}

bool soft_graph_alloc_is_live(soft_graph_alloc *alloc)
{
    pthread_mutex_lock(&alloc->arena->memory->mutex);
    const bool live = alloc->live;
    pthread_mutex_unlock(&alloc->arena->memory->mutex);
    return live;
}

/* ---- look-up ----------------------------------------------------------------------- */

static soft_graph_arena *arena_of(const soft_memory *memory, uint64_t address)
{
    uint32_t slot;
    return soft_slot_of(memory, address, &slot) ? memory->slots[slot].arena : NULL;
}

static bool holds(const soft_graph_alloc *alloc, uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - alloc->info.base;
    return offset < alloc->info.bytes && bytes <= alloc->info.bytes - offset;
}

bool soft_graph_alloc_find(soft_memory *memory, uint64_t address, soft_graph_alloc **out)
{
    pthread_mutex_lock(&memory->mutex);
    soft_graph_arena *arena = arena_of(memory, address);
    soft_graph_alloc *alloc = arena ? arena->allocs : NULL;
    while (alloc && alloc->info.base != address)
        alloc = alloc->next;
    if (alloc) {
        arena->references++;
        *out = alloc;
    }
    pthread_mutex_unlock(&memory->mutex);
    return alloc;
}

bool soft_graph_alloc_find_live(soft_memory *memory, uint64_t address,
                                soft_graph_alloc **out)
{
    pthread_mutex_lock(&memory->mutex);
    soft_graph_arena *arena = arena_of(memory, address);
    soft_graph_alloc *alloc = arena ? arena->allocs : NULL;
    while (alloc && !(alloc->live && alloc->info.base == address))
        alloc = alloc->next;
    if (alloc) {
        arena->references++;
        *out = alloc;
    }
    pthread_mutex_unlock(&memory->mutex);
    return alloc;
}

soft_graph_marks *soft_graph_alloc_marks(soft_graph_alloc *alloc)
{
    return &alloc->marks;
}

void soft_graph_alloc_open(soft_graph_alloc *alloc, bool open)
{
    soft_memory *memory = alloc->arena->memory;
    pthread_mutex_lock(&memory->mutex);
    alloc->open = open;
    if (open)
        /* Partner: the acquire loads in check.c. */
        atomic_fetch_add_explicit(&memory->changes, 1, memory_order_release);
    else
        soft_memory_note_freed(memory, alloc->info.base, alloc->info.bytes);
    pthread_mutex_unlock(&memory->mutex);
}

/* Check mode knows which of those that share addresses has them now. */
static const soft_graph_alloc *find_open_locked(const soft_graph_arena *arena,
                                                uint64_t address)
{
    const soft_graph_alloc *alloc = arena ? arena->allocs : NULL;
    while (alloc && !(alloc->open && holds(alloc, address, 1)))
        alloc = alloc->next;
    return alloc;
}

bool soft_graph_find_open(soft_memory *memory, uint64_t address, bool *is_graph,
                          soft_allocation *out)
{
    pthread_mutex_lock(&memory->mutex);
    const soft_graph_arena *arena = arena_of(memory, address);
    const soft_graph_alloc *alloc = find_open_locked(arena, address);
    if (alloc)
        *out = alloc->info;
    *is_graph = arena;
    pthread_mutex_unlock(&memory->mutex);
    return alloc;
}

/* An allocation that holds a range, if `unended` one that no node of its graph frees. */
static bool find_known(soft_memory *memory, uint64_t address, uint64_t bytes,
                       bool unended, soft_allocation *out)
{
    pthread_mutex_lock(&memory->mutex);
    const soft_graph_arena *arena = arena_of(memory, address);
    const struct graph_block *block = arena ? block_of(arena, address) : NULL;
    const soft_graph_alloc *alloc = find_open_locked(arena, address);
    if (!alloc && block)
        alloc = block->alloc;
    /* Other allocations have had the address, and a node may still name it. */
    if (!alloc || !holds(alloc, address, bytes) || (unended && alloc->ended))
        for (alloc = arena ? arena->allocs : NULL;
             alloc && (!holds(alloc, address, bytes) || (unended && alloc->ended));)
            alloc = alloc->next;
    if (alloc)
        *out = alloc->info;
    pthread_mutex_unlock(&memory->mutex);
    return alloc;
}

bool soft_graph_known(soft_memory *memory, uint64_t address, uint64_t bytes,
                      soft_allocation *out)
{
    return find_known(memory, address, bytes, false, out);
}

bool soft_graph_nameable(soft_memory *memory, uint64_t address, uint64_t bytes,
                         soft_allocation *out)
{
    return find_known(memory, address, bytes, true, out);
}

bool soft_graph_find_live(const soft_memory *memory, uint64_t address,
                          soft_allocation *out)
{
    const soft_graph_arena *arena = arena_of(memory, address);
    if (!arena || arena->live_count == 0)
        return false;
    for (const soft_graph_alloc *alloc = arena->allocs; alloc; alloc = alloc->next)
        if (alloc->live && holds(alloc, address, 1)) {
            *out = alloc->info;
            return true;
        }
    return false;
}

/* The allocation that has the byte, one that is allocated now before others; else the one
 * that ends closest before it. */
static const soft_graph_alloc *nearest(const soft_graph_arena *arena, uint64_t address)
{
    const soft_graph_alloc *best = NULL;
    for (const soft_graph_alloc *alloc = arena->allocs; alloc; alloc = alloc->next) {
        if (holds(alloc, address, 1)) {
            if (alloc->open || alloc->live)
                return alloc;
            best = alloc;
        } else if (alloc->info.base + alloc->info.bytes <= address &&
                   (!best ||
                    (!holds(best, address, 1) && best->info.base < alloc->info.base))) {
            best = alloc;
        }
    }
    return best;
}

bool soft_graph_describe(const soft_memory *memory, uint64_t address, char *text,
                         size_t bytes)
{
    const soft_graph_arena *arena = arena_of(memory, address);
    if (!arena)
        return false;
    const soft_graph_alloc *alloc = nearest(arena, address);
    if (!alloc) {
        snprintf(text, bytes, "memory of a graph that no alloc node has");
        return true;
    }
    const uint64_t offset = address - alloc->info.base;
    const bool into = offset < alloc->info.bytes;
    snprintf(text, bytes, "%llu bytes %s the graph allocation of %llu bytes at 0x%llx%s",
             (unsigned long long)(into ? offset : offset - alloc->info.bytes),
             into ? "into" : "past the end of", (unsigned long long)alloc->info.bytes,
             (unsigned long long)alloc->info.base,
             alloc->open || alloc->live ? "" : ", which is not allocated now");
    return true;
}
