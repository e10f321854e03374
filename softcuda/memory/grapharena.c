// SPDX-License-Identifier: Apache-2.0
/* The life of a graph's addresses (an arena) and of their binding to segments, the points
 * of launches, and where a device keeps it all. How addresses are given
 * is in graphmem.c, what is bound to them in graphpool.c. All with the mutex of the
 * memory held, but for the calls of memory/graphmem.h. */
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/memory/grapharena.h"

/* ---- points ------------------------------------------------------------------------ */

/* ---- points ------------------------------------------------------------------------ */

void soft_graph_use_drop_reached(struct graph_use *use)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < use->count; i++)
        if (!soft_point_reached(use->points[i].point))
            use->points[kept++] = use->points[i];
    use->count = kept;
}

bool soft_graph_use_reached(struct graph_use *use)
{
    soft_graph_use_drop_reached(use);
    return use->count == 0;
}

void soft_graph_use_fini(soft_memory *memory, struct graph_use *use)
{
    gphi_heap_free(memory->heap, use->points, use->capacity * sizeof(*use->points));
    *use = (struct graph_use){0};
}

/* ---- where addresses are ----------------------------------------------------------- */

uint32_t soft_arena_slot(const soft_graph_arena *arena, uint32_t at, bool *needed)
{
    uint32_t r = 0;
    while (at - arena->regions[r].first >= arena->regions[r].count)
        r++;
    const struct graph_region *region = &arena->regions[r];
    *needed = at - region->first < region->needed;
    return region->slot + (at - region->first);
}

void soft_alloc_segments(const soft_graph_alloc *alloc, uint32_t *first, uint32_t *end)
{
    const soft_graph_arena *arena = alloc->arena;
    const struct graph_region *region = &arena->regions[alloc->region];
    const uint64_t offset =
        alloc->info.base - soft_slot_address(arena->memory, region->slot);
    const uint64_t last = offset + (alloc->info.bytes ? alloc->info.bytes - 1 : 0);
    *first = (uint32_t)(region->first + offset / SOFT_CHUNK_BYTES) / SOFT_SEGMENT_CHUNKS;
    *end = (uint32_t)(region->first + last / SOFT_CHUNK_BYTES) / SOFT_SEGMENT_CHUNKS + 1;
}

/* Takes the slots [16 index, 16 index + 16) of an arena out of its segment. */
void soft_arena_unbind_segment(soft_graph_arena *arena, uint32_t index)
{
    soft_memory *memory = arena->memory;
    if (!arena->segments[index])
        return;
    uint32_t first = 0, run = 0; /* mapped slots that follow each other */
    for (uint32_t i = 0; i <= SOFT_SEGMENT_CHUNKS; i++) {
        const uint32_t at = index * SOFT_SEGMENT_CHUNKS + i;
        uint32_t slot = SOFT_NO_CHUNK;
        bool needed;
        if (i < SOFT_SEGMENT_CHUNKS && at < arena->slot_count)
            slot = soft_arena_slot(arena, at, &needed);
        const bool mapped =
            slot != SOFT_NO_CHUNK && memory->slots[slot].chunk != SOFT_NO_CHUNK;
        if (run > 0 && mapped && slot == first + run) {
            run++;
            continue;
        }
        if (run > 0)
            soft_slots_unmap(memory, first, run);
        first = slot;
        run = mapped;
    }
    arena->segments[index]->binders--;
    arena->segments[index] = NULL;
    arena->ready = false;
    /* Partner: the acquire loads in check.c. */
    atomic_fetch_add_explicit(&memory->changes, 1, memory_order_release);
}

void soft_arena_unbind(soft_graph_arena *arena)
{
    for (uint32_t i = 0; i < soft_arena_segments(arena); i++)
        soft_arena_unbind_segment(arena, i);
}

/* ---- life -------------------------------------------------------------------------- */

/* ---- segments ---------------------------------------------------------------------- */

gph_status soft_graph_pool_create(soft_memory *memory)
{
    if (memory->graphs)
        return GPH_OK;
    memory->graphs = gphi_heap_alloc(memory->heap, sizeof(*memory->graphs));
    if (!memory->graphs)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->graphs->top = memory->slot_count / 2; /* the heaps grow from below */
    return GPH_OK;
}

static void keep_hole(struct graph_pool *pool, uint32_t slot)
{
    if (pool->hole_count == GRAPH_HOLES_MAX)
        memmove(&pool->holes[0], &pool->holes[1], --pool->hole_count * sizeof(slot));
    pool->holes[pool->hole_count++] = slot;
}

static void free_arena(soft_graph_arena *arena)
{
    soft_memory *memory = arena->memory;
    const gph_allocator heap = memory->heap;
    soft_arena_unbind(arena);
    for (uint32_t r = arena->region_count; r-- > 0;) {
        const struct graph_region *region = &arena->regions[r];
        soft_slots_give(memory, region->slot, region->count);
        if (r == 0)
            keep_hole(memory->graphs, region->slot);
    }
    memory->graphs->arena_count--;
    if (arena->before)
        arena->before->after = arena->after;
    else
        memory->graphs->arenas = arena->after;
    if (arena->after)
        arena->after->before = arena->before;
    while (arena->allocs) {
        soft_graph_alloc *alloc = arena->allocs;
        arena->allocs = alloc->next;
        gphi_heap_free(heap, alloc, sizeof(*alloc));
    }
    soft_graph_use_fini(memory, &arena->use);
    gphi_heap_free(heap, arena->regions,
                   arena->region_capacity * sizeof(*arena->regions));
    gphi_heap_free(heap, arena->blocks, arena->block_capacity * sizeof(*arena->blocks));
    gphi_heap_free(heap, arena->segments,
                   arena->segment_capacity * sizeof(struct graph_segment *));
    gphi_heap_free(heap, arena->holds, arena->segment_capacity);
    gphi_heap_free(heap, arena->growths, arena->segment_capacity * sizeof(uint32_t));
    gphi_heap_free(heap, arena, sizeof(*arena));
}

void soft_arena_drop_reference(soft_graph_arena *arena)
{
    if (--arena->references == 0)
        free_arena(arena);
}

/* ---- arenas ------------------------------------------------------------------------ */

gph_status soft_graph_arena_create(soft_memory *memory, soft_graph_arena **out,
                                   gph_error *error)
{
    pthread_mutex_lock(&memory->mutex);
    gph_status status = soft_graph_pool_create(memory);
    soft_graph_arena *arena =
        status == GPH_OK ? gphi_heap_alloc(memory->heap, sizeof(*arena)) : NULL;
    if (arena) {
        arena->memory = memory;
        arena->references = 1;
        arena->after = memory->graphs->arenas;
        if (arena->after)
            arena->after->before = arena;
        memory->graphs->arenas = arena;
        memory->graphs->arena_count++;
        *out = arena;
    }
    pthread_mutex_unlock(&memory->mutex);
    if (!arena)
        return gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY,
                         "no host memory for the memory of a graph");
    return GPH_OK;
}

void soft_graph_arena_retain(soft_graph_arena *arena)
{
    pthread_mutex_lock(&arena->memory->mutex);
    arena->references++;
    pthread_mutex_unlock(&arena->memory->mutex);
}

void soft_graph_arena_release(soft_graph_arena *arena)
{
    if (!arena)
        return;
    soft_memory *memory = arena->memory;
    pthread_mutex_lock(&memory->mutex);
    soft_arena_drop_reference(arena);
    pthread_mutex_unlock(&memory->mutex);
}
