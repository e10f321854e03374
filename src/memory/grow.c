// SPDX-License-Identifier: Apache-2.0
/* Where more memory comes from: runs of free neighbors, pages at the end of a segment,
 * pages elsewhere, pages that others can spare, and at last a message. */
#include "base/fail.h"
#include "base/log.h"
#include "base/text.h"
#include "event/note.h"
#include "memory/ledger.h"
#include "memory/pool.h"

#include <inttypes.h>

/* Throwing the open recording away may split two blocks for each that it freed. */
gph_status gphi_pool_reserve(gph_pool *pool, uint32_t blocks)
{
    const struct gphi_recording *r = pool->open;
    return gphi_blocks_reserve(&pool->blocks,
                               blocks + (r ? 2 * (uint32_t)r->saved.count : 0));
}

void gphi_pool_drain(gph_pool *pool)
{
    struct gphi_blocks *b = &pool->blocks;
    gphi_streams_poll(pool->arena);
    for (uint32_t i = 0; i < b->lanes.count; i++) {
        const struct gphi_lane *lane = gphi_lane_at(b, i);
        if (lane->kind != GPHI_LANE_EAGER || lane->root == GPHI_NIL)
            continue;
        const struct gphi_stream *s =
            lane->stream == GPHI_NIL ? NULL
                                     : gphi_vec_at(&pool->arena->streams, lane->stream);
        const uint64_t ended = s ? s->ended : gphi_streams_all_ended(pool->arena);
        gphi_blocks_move(b, i, ended, GPHI_LANE_FREE, 0);
    }
}

/* Held blocks are nobody's until the capture ends. */
bool gphi_pool_may_use(const gph_pool *pool, const struct gphi_route *route,
                       const struct gphi_block *block)
{
    if (block->state != GPHI_BLOCK_FREE)
        return false;
    const struct gphi_lane *lane = gphi_lane_at(&pool->blocks, block->lane);
    switch (lane->kind) {
    case GPHI_LANE_ANY: return true;
    case GPHI_LANE_EAGER: return !route->recording && lane->stream == route->stream;
    case GPHI_LANE_CAPTURED:
        return route->recording &&
               (lane->stream == GPHI_NIL || lane->stream == route->stream ||
                block->position <=
                    gphi_walk_joined(route->recording, route->stream, lane->stream));
    case GPHI_LANE_HELD: break;
    }
    return false;
}

/* ---- pages ---- */

/* Takes pages [first, first + count) into the books. */
static gph_status take_pages(gph_pool *pool, uint64_t first, uint64_t count,
                             const struct gphi_block *tail, gph_error *error)
{
    const uint64_t page = pool->arena->page_bytes;
    const uint64_t address = pool->arena->base + first * page;
    GPHI_TRY(gphi_made(error,
                       gphi_pool_reserve(pool, 4) == GPH_OK &&
                           gphi_vec_reserve(&pool->blocks.segments, 1) == GPH_OK,
                       "pool %s grows", pool->name));
    const uint32_t lane = tail ? tail->lane : (uint32_t)GPHI_LANE_FREE;
    const uint64_t position = tail ? tail->position : 0;
    GPHI_TRY(gphi_arena_take(pool->arena, pool->number, first, count, error));
    gphi_blocks_add_pages(&pool->blocks, address, count * page, lane, position);
    pool->mapped_pages += count;
    const uint64_t words[] = {(uint64_t)(uintptr_t)pool, pool->mapped_pages * page,
                              pool->blocks.live_bytes};
    gphi_note(GPHI_NOTE_POOL, pool->name, words, 3);
    gphi_log("memory", GPH_LOG_DEBUG, "pool %s takes %llu pages at 0x%llx", pool->name,
             (unsigned long long)count, (unsigned long long)address);
    return GPH_OK;
}

/* A place to grow: after a segment, whose last block counts if it is usable. */
struct place {
    uint64_t first;
    uint64_t need, room; /* pages */
    uint32_t tail;       /* block, or NIL */
};

static uint64_t pages_of(const gph_pool *pool, uint64_t bytes)
{
    return (bytes + pool->arena->page_bytes - 1) / pool->arena->page_bytes;
}

/* The least that has to come: most of the need may be free at a segment's end. */
static bool find_place_behind(const gph_pool *pool, const struct gphi_route *route,
                              uint64_t bytes, struct place *out)
{
    const gph_arena *arena = pool->arena;
    bool found = false;
    for (uint32_t i = 0; i < pool->blocks.segments.count; i++) {
        const struct gphi_segment *s = gphi_segment_at(&pool->blocks, i);
        const struct gphi_block *last = gphi_block_at(&pool->blocks, s->last);
        const bool counts = gphi_pool_may_use(pool, route, last);
        struct place place = {.first = (s->address + s->bytes - arena->base) /
                                       arena->page_bytes,
                              .need = pages_of(pool, bytes - (counts ? last->bytes : 0)),
                              .tail = counts ? s->last : GPHI_NIL};
        if (found && place.need >= out->need)
            continue;
        const uint64_t wish =
            place.need > pool->growth_pages ? place.need : pool->growth_pages;
        place.room = gphi_arena_room(arena, place.first, wish);
        if (place.room >= place.need) {
            *out = place;
            found = true;
        }
    }
    return found;
}

static gph_status no_room(const gph_pool *pool, uint64_t need, gph_error *error)
{
    return gphi_fail(
        error, CUDA_ERROR_OUT_OF_MEMORY,
        "%llu pages have no room in the addresses of the arena or in pool %s",
        (unsigned long long)need, pool->name);
}

static gph_status grow_once(gph_pool *pool, const struct gphi_route *route,
                            uint64_t bytes, gph_error *error)
{
    struct place place = {.tail = GPHI_NIL};
    uint64_t wish = 0;
    if (find_place_behind(pool, route, bytes, &place)) {
        wish = place.room;
    } else {
        place.need = pages_of(pool, bytes);
        wish = place.need > pool->growth_pages ? place.need : pool->growth_pages;
        if (!gphi_arena_place(pool->arena, wish, &place.first)) {
            wish = place.need;
            if (!gphi_arena_place(pool->arena, wish, &place.first))
                return no_room(pool, place.need, error);
        }
    }
    const uint64_t left = pool->max_pages - pool->mapped_pages;
    if (place.need > left)
        return no_room(pool, place.need, error);
    if (wish > left)
        wish = left;
    /* A copy: the books move while they grow. */
    struct gphi_block tail = {0};
    if (place.tail != GPHI_NIL)
        tail = *gphi_block_at(&pool->blocks, place.tail);
    const struct gphi_block *last = place.tail != GPHI_NIL ? &tail : NULL;
    gph_status status = take_pages(pool, place.first, wish, last, error);
    if (status == CUDA_ERROR_OUT_OF_MEMORY && wish > place.need)
        status = take_pages(pool, place.first, place.need, last, error);
    return status;
}

gph_status gphi_pool_grow(gph_pool *pool, const struct gphi_route *route, uint64_t bytes,
                          gph_error *error)
{
    gph_arena *arena = pool->arena;
    gphi_arena_settle(arena);
    gph_status status = grow_once(pool, route, bytes, error);
    if (status != CUDA_ERROR_OUT_OF_MEMORY)
        return status;
    uint64_t spared = 0;
    for (gph_pool *other = arena->pools; other; other = other->next)
        spared += gphi_pool_shed(other);
    gphi_log("memory", GPH_LOG_INFO,
             "pool %s wants %llu bytes: pools gave up %llu free pages", pool->name,
             (unsigned long long)bytes, (unsigned long long)spared);
    return spared > 0 ? grow_once(pool, route, bytes, error) : status;
}

gph_status gphi_pool_claim(gph_pool *pool, uint64_t address, uint64_t bytes,
                           gph_error *error)
{
    const gph_arena *arena = pool->arena;
    const uint64_t first = (address - arena->base) / arena->page_bytes;
    const uint64_t end = (address + bytes - 1 - arena->base) / arena->page_bytes + 1;
    for (uint64_t i = first; i < end; i++) {
        const uint32_t owner = arena->pages[i].owner;
        if (owner == pool->number)
            continue;
        if (owner != 0)
            return gphi_fail(error, GPH_E_STATE, "the page at 0x%llx is another pool's",
                             (unsigned long long)(arena->base + i * arena->page_bytes));
        uint64_t count = 1;
        while (i + count < end && arena->pages[i + count].owner == 0)
            count++;
        if (count > pool->max_pages - pool->mapped_pages)
            return no_room(pool, count, error);
        GPHI_TRY(take_pages(pool, i, count, NULL, error));
    }
    return GPH_OK;
}

/* ---- what can be spared ---- */

static bool is_pinned(const gph_arena *arena, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        if (arena->pages[i].pins > 0)
            return true;
    return false;
}

/* Whole pages at the end of a segment that are free for all, and no recording's. */
static uint64_t spare_pages(const gph_pool *pool, uint32_t segment)
{
    const gph_arena *arena = pool->arena;
    const struct gphi_segment *s = gphi_segment_at(&pool->blocks, segment);
    const struct gphi_block *last = gphi_block_at(&pool->blocks, s->last);
    if (last->state != GPHI_BLOCK_FREE || last->lane != GPHI_LANE_FREE)
        return 0;
    const uint64_t end = (s->address + s->bytes - arena->base) / arena->page_bytes;
    uint64_t count = last->bytes / arena->page_bytes;
    while (count > 0 && is_pinned(arena, end - count, count))
        count--;
    return count;
}

uint64_t gphi_pool_shed(gph_pool *pool)
{
    gph_arena *arena = pool->arena;
    uint64_t shed = 0;
    gphi_pool_drain(pool);
    for (uint32_t i = (uint32_t)pool->blocks.segments.count; i-- > 0;) {
        const uint64_t count = spare_pages(pool, i);
        if (count == 0)
            continue;
        const struct gphi_segment *s = gphi_segment_at(&pool->blocks, i);
        const uint64_t end = (s->address + s->bytes - arena->base) / arena->page_bytes;
        gphi_blocks_drop_pages(&pool->blocks, i, count * arena->page_bytes);
        gphi_arena_give(arena, end - count, count, false);
        pool->mapped_pages -= count;
        shed += count;
    }
    return shed;
}

/* ---- a given place ---- */

/* The grain is that of blocks: a place between two grains cannot be in the books. */
static gph_status check_range(const gph_arena *arena, CUdeviceptr address, uint64_t bytes,
                              gph_error *error)
{
    const uint64_t size = arena->page_count * arena->page_bytes;
    if (bytes == 0 || address < arena->base || bytes > size ||
        address - arena->base > size - bytes || (address - arena->base) % GPHI_GRAIN != 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "%" PRIu64 " bytes at 0x%llx are not in the arena, "
                         "0x%" PRIx64 " bytes from 0x%llx",
                         bytes, address, size, arena->base);
    return GPH_OK;
}

gph_status gphi_pool_place(gph_pool *pool, CUdeviceptr address, uint64_t bytes,
                           uint32_t *out, gph_error *error)
{
    struct gphi_blocks *b = &pool->blocks;
    const uint64_t rounded = (bytes + GPHI_GRAIN - 1) / GPHI_GRAIN * GPHI_GRAIN;
    GPHI_TRY(check_range(pool->arena, address, bytes, error));
    GPHI_TRY(gphi_pool_claim(pool, address, rounded, error));
    gphi_pool_drain(pool);
    GPHI_TRY(gphi_made(error, gphi_pool_reserve(pool, 4) == GPH_OK,
                       "the bookkeeping of pool %s", pool->name));
    const uint32_t i = gphi_blocks_holding(b, address);
    for (uint32_t k = i;
         k != GPHI_NIL && gphi_block_at(b, k)->address < address + rounded;
         k = gphi_block_at(b, k)->next) {
        const struct gphi_block *block = gphi_block_at(b, k);
        if (block->state == GPHI_BLOCK_LIVE || block->lane != GPHI_LANE_FREE)
            return gphi_fail(error, GPH_E_STATE,
                             "0x%llx lies in pool %s's %s block of %" PRIu64
                             " bytes at 0x%" PRIx64,
                             address, pool->name,
                             block->state == GPHI_BLOCK_LIVE ? "allocated" : "waiting",
                             block->bytes, block->address);
    }
    *out = gphi_blocks_take_at(b, i, address, rounded, bytes);
    return GPH_OK;
}

/* ---- the last word ---- */

/* So many pools are named, the largest first. */
enum { TOP = 4 };

/* Insertion into a short list, the largest first. */
static void rank(const gph_pool *top[TOP], const gph_pool *pool)
{
    for (int i = 0; i < TOP && pool; i++)
        if (!top[i] || pool->mapped_pages > top[i]->mapped_pages) {
            const gph_pool *smaller = top[i];
            top[i] = pool;
            pool = smaller;
        }
}

/* Who else has memory is what a reader of the message needs next. */
gph_status gphi_pool_exhausted(gph_pool *pool, uint64_t bytes, gph_error *error)
{
    const gph_arena *arena = pool->arena;
    char words[400];
    gphi_text text;
    size_t device_free = 0, device_total = 0;
    const gph_pool *top[TOP] = {NULL};
    gphi_text_fix(&text, words, sizeof(words));
    for (const gph_pool *p = arena->pools; p; p = p->next)
        rank(top, p);
    for (int i = 0; i < TOP && top[i]; i++)
        gphi_text_add(&text, "; pool %s holds %" PRIu64 " bytes, %" PRIu64 " allocated",
                      top[i]->name, top[i]->mapped_pages * arena->page_bytes,
                      top[i]->blocks.live_bytes);
    gphi_text_add(&text, "; executables %" PRIu64 ", cached pages %" PRIu64,
                  gphi_ledger_exec_bytes(arena->device),
                  gphi_arena_cached(arena) * arena->page_bytes);
    if (arena->runtime->cu.cuMemGetInfo(&device_free, &device_total) == CUDA_SUCCESS)
        gphi_text_add(&text, "; the device has %zu of %zu free", device_free,
                      device_total);
    gphi_fail(error, CUDA_ERROR_OUT_OF_MEMORY, "no %llu bytes for pool %s%s",
              (unsigned long long)bytes, pool->name, words);
    if (arena->budget_pages != UINT64_MAX)
        gphi_hint(error, "the arena's budget is %llu bytes",
                  (unsigned long long)(arena->budget_pages * arena->page_bytes));
    return CUDA_ERROR_OUT_OF_MEMORY;
}
