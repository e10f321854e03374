// SPDX-License-Identifier: Apache-2.0
/* Pools: making them, allocating, freeing. */
#include "memory/pool.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "event/note.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- create and release ---- */

/* The list is short: a program has few pools, and they live long. */
static void unlink_pool(gph_pool *pool)
{
    gph_pool **link = &pool->arena->pools;
    while (*link && *link != pool)
        link = &(*link)->next;
    if (*link == pool)
        *link = pool->next;
}

/* Takes a half-built one. Its pages are the arena's again by now. */
static void fini_pool(gph_pool *pool)
{
    const gph_allocator heap = pool->arena->heap;
    gphi_proof_fini(pool);
    gphi_vec_fini(&pool->recordings);
    gphi_blocks_fini(&pool->blocks);
    gphi_heap_text_free(heap, pool->name);
    gphi_heap_free(heap, pool, sizeof(*pool));
}

/* Distinguishes pools without a name in messages. */
static char *name_pool(const gph_arena *arena, const char *name, uint32_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "pool%u", number);
    return gphi_heap_text(arena->heap, name ? name : text);
}

gph_status gph_pool_create(gph_arena *arena, const gph_pool_options *options,
                           gph_pool **out, gph_error *error)
{
    gph_pool_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_pool_options", options, error));
    GPHI_TRY(gphi_need(error, arena, out));
    if (opt.reserved != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.reserved is %u, not 0",
                         opt.reserved);
    gph_pool *pool = gphi_heap_alloc(arena->heap, sizeof(*pool));
    GPHI_TRY(gphi_made(error, pool, "a pool"));
    const uint64_t page = arena->page_bytes;
    pool->arena = arena;
    pool->users = 1;
    pool->next_id = 1;
    pool->growth_pages = opt.growth_bytes != 0 ? (opt.growth_bytes + page - 1) / page
                                               : ((2u << 20) + page - 1) / page;
    pool->max_pages = opt.max_bytes != 0 ? opt.max_bytes / page : UINT64_MAX;
    gphi_vec_init(&pool->recordings, arena->heap, sizeof(struct gphi_recording *));
    gphi_vec_init(&pool->proof.inputs, arena->heap, sizeof(struct gphi_input));
    atomic_flag_clear(&pool->proof.busy);

    gphi_mutex_lock(&arena->mutex);
    pool->number = ++arena->next_pool;
    gphi_mutex_unlock(&arena->mutex);
    pool->name = name_pool(arena, opt.name, pool->number);
    if (gphi_blocks_init(&pool->blocks, arena->heap) != GPH_OK || !pool->name) {
        fini_pool(pool);
        return gphi_fail(error, GPH_E_NO_MEMORY, "a pool");
    }
    gphi_mutex_lock(&arena->mutex);
    pool->next = arena->pools;
    arena->pools = pool;
    gphi_mutex_unlock(&arena->mutex);
    *out = pool;
    return GPH_OK;
}

/* Under the lock and not atomic: release looks at more than the count. */
gph_pool *gph_pool_retain(gph_pool *pool)
{
    if (pool) {
        gphi_mutex_lock(&pool->arena->mutex);
        pool->users++;
        gphi_mutex_unlock(&pool->arena->mutex);
    }
    return pool;
}

gph_arena *gph_pool_arena(const gph_pool *pool)
{
    return pool ? pool->arena : NULL;
}

/* Whether a segment has memory whose work may not have ended. */
static bool is_pending(const struct gphi_blocks *b, const struct gphi_segment *s)
{
    for (uint32_t i = s->first; i != GPHI_NIL; i = gphi_block_at(b, i)->next) {
        const struct gphi_block *block = gphi_block_at(b, i);
        if (block->state == GPHI_BLOCK_FREE && block->lane != GPHI_LANE_FREE)
            return true;
    }
    return false;
}

/* Up to eight by name: one forgotten loop would fill the log. */
static void tell_leaks(const gph_pool *pool)
{
    const struct gphi_blocks *b = &pool->blocks;
    uint32_t named = 0;
    for (uint32_t i = 0; i < b->items.count && named < 8; i++) {
        const struct gphi_block *block = gphi_block_at(b, i);
        if (block->state != GPHI_BLOCK_LIVE)
            continue;
        gphi_log("memory", GPH_LOG_WARN,
                 "pool %s goes with %" PRIu64 " bytes at 0x%" PRIx64
                 " allocated in stream %p",
                 pool->name, block->requested, block->address, (void *)block->stream);
        named++;
    }
    if (b->live.count > named)
        gphi_log("memory", GPH_LOG_WARN, "and %zu more", b->live.count - named);
}

/* Recordings go first, since what they own is freed into the books; pages that work may
 * still use wait in limbo for the streams. */
void gph_pool_release(gph_pool *pool)
{
    if (!pool)
        return;
    gph_arena *arena = pool->arena;
    gphi_mutex_lock(&arena->mutex);
    if (--pool->users > 0) {
        gphi_mutex_unlock(&arena->mutex);
        return;
    }
    if (pool->open)
        gphi_recording_abort(pool, pool->open);
    while (pool->recordings.count > 0)
        gphi_recording_forget(pool, gphi_recording_at(pool, 0));
    tell_leaks(pool);
    gphi_pool_drain(pool);
    for (uint32_t i = 0; i < pool->blocks.segments.count; i++) {
        const struct gphi_segment *s = gphi_segment_at(&pool->blocks, i);
        gphi_arena_give(arena, (s->address - arena->base) / arena->page_bytes,
                        s->bytes / arena->page_bytes, is_pending(&pool->blocks, s));
    }
    unlink_pool(pool);
    gphi_mutex_unlock(&arena->mutex);
    fini_pool(pool);
}

/* Not while a recording is open: its graph has the addresses of what looks idle. */
gph_status gph_arena_trim(gph_arena *arena, uint64_t keep_bytes, uint64_t *freed_bytes,
                          gph_error *error)
{
    GPHI_TRY(gphi_need(error, arena));
    uint64_t released = 0;
    gphi_mutex_lock(&arena->mutex);
    gph_status status = GPH_OK;
    if (arena->open_recordings == 0) {
        gphi_arena_settle(arena);
        for (gph_pool *pool = arena->pools; pool; pool = pool->next)
            gphi_pool_shed(pool);
        status =
            gphi_arena_release(arena, keep_bytes / arena->page_bytes, &released, error);
    }
    gphi_mutex_unlock(&arena->mutex);
    if (freed_bytes && status == GPH_OK)
        *freed_bytes = released * arena->page_bytes;
    return status;
}

/* ---- allocating ---- */

/* Best fit, and of equals the first: what was freed last is warm. */
static bool is_smaller(const struct gphi_blocks *b, uint32_t i, uint32_t best)
{
    return i != GPHI_NIL && (best == GPHI_NIL ||
                             gphi_block_at(b, i)->bytes < gphi_block_at(b, best)->bytes);
}

/* The best fit among what the route may use without asking anybody. */
static uint32_t fit_own(const gph_pool *pool, const struct gphi_route *route,
                        uint64_t bytes)
{
    const struct gphi_blocks *b = &pool->blocks;
    uint32_t best = gphi_blocks_fit(b, route->lane, bytes, GPHI_ANY);
    const uint32_t any = gphi_blocks_fit(b, GPHI_LANE_FREE, bytes, GPHI_ANY);
    if (is_smaller(b, any, best))
        best = any;
    for (uint32_t i = 0; route->recording && i < b->lanes.count; i++) {
        const struct gphi_lane *lane = gphi_lane_at(b, i);
        if (lane->kind != GPHI_LANE_CAPTURED || lane->stream != GPHI_NIL)
            continue;
        const uint32_t fit = gphi_blocks_fit(b, i, bytes, GPHI_ANY);
        if (is_smaller(b, fit, best))
            best = fit;
    }
    return best;
}

/* The best fit among what other streams of the capture freed before this one's
 * position. */
static uint32_t fit_others(const gph_pool *pool, const struct gphi_route *route,
                           uint64_t bytes)
{
    const struct gphi_blocks *b = &pool->blocks;
    uint32_t best = GPHI_NIL;
    for (uint32_t i = 0; i < b->lanes.count; i++) {
        const struct gphi_lane *lane = gphi_lane_at(b, i);
        if (lane->kind != GPHI_LANE_CAPTURED || lane->stream == GPHI_NIL ||
            lane->stream == route->stream || lane->root == GPHI_NIL)
            continue;
        const uint64_t upto =
            gphi_walk_joined(route->recording, route->stream, lane->stream);
        const uint32_t fit =
            upto > 0 ? gphi_blocks_fit(b, i, bytes, upto) : (uint32_t)GPHI_NIL;
        if (is_smaller(b, fit, best))
            best = fit;
    }
    return best;
}

/* Neighbors that the route may use, each in a lane of its own, made one block. */
static uint32_t fit_run(gph_pool *pool, const struct gphi_route *route, uint64_t bytes,
                        uint64_t position)
{
    struct gphi_blocks *b = &pool->blocks;
    for (uint32_t s = 0; s < b->segments.count; s++) {
        uint32_t first = GPHI_NIL;
        uint64_t sum = 0;
        for (uint32_t i = gphi_segment_at(b, s)->first; i != GPHI_NIL;
             i = gphi_block_at(b, i)->next) {
            const struct gphi_block *block = gphi_block_at(b, i);
            if (!gphi_pool_may_use(pool, route, block)) {
                first = GPHI_NIL;
                sum = 0;
                continue;
            }
            if (first == GPHI_NIL)
                first = i;
            sum += block->bytes;
            if (block->lane == route->lane && block->position > position)
                position = block->position;
            if (sum >= bytes)
                return gphi_blocks_join(b, first, i, route->lane, position);
        }
    }
    return GPHI_NIL;
}

/* Finds out what has ended, or what is ordered before the stream. */
static uint32_t fit_after_asking(gph_pool *pool, const struct gphi_route *route,
                                 uint64_t bytes)
{
    uint64_t position = 0;
    if (!route->recording) {
        gphi_pool_drain(pool);
        const uint32_t fit = fit_own(pool, route, bytes);
        return fit != GPHI_NIL ? fit : fit_run(pool, route, bytes, 0);
    }
    gphi_walk_look(&pool->arena->runtime->cu, route->recording, route->stream,
                   route->nodes, route->node_count);
    const uint32_t fit = fit_others(pool, route, bytes);
    if (fit != GPHI_NIL)
        return fit;
    /* What is joined is ordered before the stream's present position. */
    if (gphi_walk_position(route->recording, route->stream, route->nodes,
                           route->node_count, &position) != GPH_OK)
        return GPHI_NIL;
    return fit_run(pool, route, bytes, position);
}

/* The cheap look first, then what asking the driver finds, at last new pages. Growth may
 * have made room anywhere, hence the second look at both. */
static gph_status find_block(gph_pool *pool, const struct gphi_route *route,
                             uint64_t bytes, uint32_t *out, gph_error *error)
{
    *out = fit_own(pool, route, bytes);
    if (*out == GPHI_NIL)
        *out = fit_after_asking(pool, route, bytes);
    if (*out != GPHI_NIL)
        return GPH_OK;
    const gph_status status = gphi_pool_grow(pool, route, bytes, error);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        return gphi_pool_exhausted(pool, bytes, error);
    GPHI_TRY(status);
    *out = fit_own(pool, route, bytes);
    if (*out == GPHI_NIL)
        *out = fit_after_asking(pool, route, bytes);
    return *out != GPHI_NIL ? GPH_OK : gphi_pool_exhausted(pool, bytes, error);
}

/* Room in the books for one allocation or one free. */
static gph_status reserve_books(gph_pool *pool, const struct gphi_route *route,
                                gph_error *error)
{
    const gph_status status = route->recording
                                  ? gphi_recording_reserve(pool, route->recording)
                                  : gphi_pool_reserve(pool, 4);
    GPHI_TRY(
        gphi_made(error, status == GPH_OK, "the bookkeeping of pool %s", pool->name));
    return GPH_OK;
}

static void note_block(CUdeviceptr address, uint64_t bytes,
                       const struct gphi_route *route)
{
    const uint64_t words[] = {address, bytes, route->recording != NULL};
    gphi_note(GPHI_NOTE_BLOCK, NULL, words, 3);
}

/* Takes from the books only what was reserved, so that nothing is to be undone. */
static gph_status alloc_locked(gph_pool *pool, uint64_t bytes, CUstream stream,
                               CUdeviceptr *out, gph_error *error)
{
    const gph_arena *arena = pool->arena;
    if (bytes > arena->page_count * arena->page_bytes)
        return gphi_pool_exhausted(pool, bytes, error);
    const uint64_t rounded = (bytes + GPHI_GRAIN - 1) / GPHI_GRAIN * GPHI_GRAIN;
    struct gphi_route route;
    uint32_t i = GPHI_NIL;
    GPHI_TRY(gphi_route_find(pool, stream, &route, error));
    if (route.is_invalid)
        return gphi_fail(error, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                         "the capture of stream %p is invalid", (void *)stream);
    GPHI_TRY(gphi_route_check(pool, &route, error));
    GPHI_TRY(find_block(pool, &route, rounded, &i, error));
    GPHI_TRY(reserve_books(pool, &route, error)); /* after growth, which took from it */
    gphi_blocks_take(&pool->blocks, i, rounded, bytes);
    gphi_block_at(&pool->blocks, i)->stream = stream;
    *out = gphi_block_at(&pool->blocks, i)->address;
    if (route.recording)
        gphi_recording_allocated(pool, route.recording, i, stream);
    else
        gphi_proof_eager(pool, *out, rounded, 1, true);
    note_block(*out, rounded, &route);
    return GPH_OK;
}

/* A callback that always says it freed something is not believed forever. */
enum { OOM_ROUNDS = 1000 };

/* The callback runs without the lock: it frees into this very pool. */
gph_status gph_pool_alloc(gph_pool *pool, uint64_t bytes, CUstream stream,
                          CUdeviceptr *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool, out));
    if (bytes == 0)
        return gphi_fail(error, GPH_E_INVALID, "0 bytes of pool %s", pool->name);
    gph_arena *arena = pool->arena;
    for (int asked = 0;; asked++) {
        gphi_mutex_lock(&arena->mutex);
        const gph_status status = alloc_locked(pool, bytes, stream, out, error);
        gphi_mutex_unlock(&arena->mutex);
        if (status != CUDA_ERROR_OUT_OF_MEMORY || !arena->oom || asked == OOM_ROUNDS ||
            arena->oom(arena->oom_user, bytes) == 0)
            return status;
    }
}

/* The block is live for all that its streams did before: only the place was asked for. */
static gph_status alloc_at_locked(gph_pool *pool, CUdeviceptr address, uint64_t bytes,
                                  CUstream stream, gph_error *error)
{
    struct gphi_route route;
    uint32_t i = GPHI_NIL;
    GPHI_TRY(gphi_route_find(pool, stream, &route, error));
    if (route.recording)
        return gphi_fail(error, GPH_E_STATE, "stream %p is captured", (void *)stream);
    GPHI_TRY(gphi_route_check(pool, &route, error));
    GPHI_TRY(gphi_pool_place(pool, address, bytes, &i, error));
    gphi_block_at(&pool->blocks, i)->stream = stream;
    gphi_proof_eager(pool, address, gphi_block_at(&pool->blocks, i)->bytes, 1, true);
    return GPH_OK;
}

gph_status gph_pool_alloc_at(gph_pool *pool, CUdeviceptr address, uint64_t bytes,
                             CUstream stream, gph_error *error)
{
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, alloc_at_locked(pool, address, bytes, stream, error));
}

/* ---- freeing ---- */

/* The live block that begins at an address; the message says what is there instead. */
static gph_status find_live(const gph_pool *pool, CUdeviceptr address, uint32_t *out,
                            gph_error *error)
{
    const struct gphi_blocks *b = &pool->blocks;
    *out = gphi_blocks_live(b, address);
    if (*out != GPHI_NIL)
        return GPH_OK;
    const uint32_t i = gphi_blocks_holding(b, address);
    if (i == GPHI_NIL)
        return gphi_fail(error, GPH_E_INVALID, "0x%llx is not in pool %s", address,
                         pool->name);
    const struct gphi_block *block = gphi_block_at(b, i);
    return gphi_fail(
        error, GPH_E_INVALID,
        "0x%llx is %s of pool %s, of %" PRIu64 " bytes at 0x%" PRIx64, address,
        block->state == GPHI_BLOCK_LIVE ? "inside an allocation" : "in a free block",
        pool->name, block->bytes, block->address);
}

/* Eager memory that an open recording allocated or reads is the recording's affair. */
static gph_status check_owner(const gph_pool *pool, const struct gphi_block *block,
                              gph_error *error)
{
    const struct gphi_recording *r = pool->open;
    if (r && (block->owner == r->id || block->read_by == r->id))
        return gphi_fail(error, GPH_E_STATE,
                         "0x%" PRIx64 " belongs to recording %s, which is open",
                         block->address, r->name);
    return GPH_OK;
}

/* Tickets for every stream that uses the block; its lane and position then. */
static gph_status mark_eager(gph_pool *pool, const struct gphi_route *route,
                             uint32_t block, uint32_t *lane, uint64_t *position,
                             gph_error *error)
{
    struct gphi_blocks *b = &pool->blocks;
    gph_arena *arena = pool->arena;
    *lane = route->lane;
    GPHI_TRY(gphi_stream_mark(arena, route->stream, route->handle, position, error));
    for (uint32_t i = gphi_block_at(b, block)->uses; i != GPHI_NIL;
         i = gphi_use_at(b, i)->next) {
        const CUstream stream = gphi_use_at(b, i)->stream;
        struct gphi_route other;
        if (stream == route->handle)
            continue;
        GPHI_TRY(gphi_route_find(pool, stream, &other, error));
        if (other.recording)
            return gphi_fail(error, GPH_E_STATE,
                             "stream %p, which uses 0x%" PRIx64 ", is captured",
                             (void *)stream, gphi_block_at(b, block)->address);
        GPHI_TRY(gphi_stream_mark(arena, other.stream, stream, position, error));
        GPHI_TRY(gphi_made(error,
                           gphi_blocks_lane(b, GPHI_LANE_EAGER, GPHI_NIL, lane) == GPH_OK,
                           "freeing in pool %s", pool->name));
    }
    return GPH_OK;
}

/* Lane and ticket say which work must end before another stream has the memory. */
static gph_status free_eager(gph_pool *pool, const struct gphi_route *route,
                             uint32_t block, gph_error *error)
{
    uint32_t lane = 0;
    uint64_t position = 0;
    const struct gphi_block was = *gphi_block_at(&pool->blocks, block);
    GPHI_TRY(check_owner(pool, &was, error));
    GPHI_TRY(mark_eager(pool, route, block, &lane, &position, error));
    if (was.owner == 0)
        gphi_proof_eager(pool, was.address, was.bytes, -1, false);
    gphi_blocks_put(&pool->blocks, block, lane, position);
    return GPH_OK;
}

/* Room in the books comes before the first change, so that a free fails as a whole. */
static gph_status free_locked(gph_pool *pool, CUdeviceptr address, CUstream stream,
                              gph_error *error)
{
    struct gphi_route route;
    uint32_t block = GPHI_NIL;
    GPHI_TRY(find_live(pool, address, &block, error));
    GPHI_TRY(gphi_route_find(pool, stream, &route, error));
    GPHI_TRY(reserve_books(pool, &route, error));
    GPHI_TRY(route.recording ? gphi_recording_free(pool, &route, block, error)
                             : free_eager(pool, &route, block, error));
    note_block(address, 0, &route);
    return GPH_OK;
}

gph_status gph_pool_free(gph_pool *pool, CUdeviceptr address, CUstream stream,
                         gph_error *error)
{
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, free_locked(pool, address, stream, error));
}

/* In a capture a use is also a reading: the recording depends on what is there. */
static gph_status use_locked(gph_pool *pool, CUdeviceptr address, CUstream stream,
                             gph_error *error)
{
    struct gphi_route route;
    uint32_t block = GPHI_NIL;
    GPHI_TRY(find_live(pool, address, &block, error));
    GPHI_TRY(gphi_route_find(pool, stream, &route, error));
    if (!route.recording)
        GPHI_TRY(check_owner(pool, gphi_block_at(&pool->blocks, block), error));
    GPHI_TRY(reserve_books(pool, &route, error));
    GPHI_TRY(gphi_made(
        error,
        gphi_blocks_use(&pool->blocks, block, stream, route.recording != NULL) == GPH_OK,
        "a use of 0x%llx", address));
    if (route.recording)
        gphi_recording_reads(route.recording, gphi_block_at(&pool->blocks, block));
    return GPH_OK;
}

gph_status gph_pool_use(gph_pool *pool, CUdeviceptr address, CUstream stream,
                        gph_error *error)
{
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, use_locked(pool, address, stream, error));
}

/* ---- looking ---- */

void gph_pool_stats_get(const gph_pool *pool, gph_pool_stats *out)
{
    if (!pool || !out)
        return;
    gphi_mutex_lock(&pool->arena->mutex);
    const gph_pool_stats stats = {
        .mapped_bytes = pool->mapped_pages * pool->arena->page_bytes,
        .allocated_bytes = pool->blocks.live_bytes,
        .peak_bytes = pool->blocks.peak_bytes,
        .requested_bytes = pool->blocks.requested_bytes,
        .allocation_count = (uint32_t)pool->blocks.live.count,
        .segment_count = (uint32_t)pool->blocks.segments.count,
        .recording_count = (uint32_t)pool->recordings.count,
        .users = pool->users,
    };
    gphi_mutex_unlock(&pool->arena->mutex);
    gphi_struct_write(out, &stats, sizeof(stats));
}

/* A live block as the header shows it. */
static gph_pool_range describe(const gph_pool *pool, const struct gphi_block *block)
{
    const struct gphi_recording *r =
        block->owner != 0 ? gphi_recording_find(pool, block->owner) : NULL;
    if (r && block->range != GPHI_NIL)
        return *(gph_pool_range *)gphi_vec_at(&r->ranges, block->range);
    return (gph_pool_range){.address = block->address,
                            .bytes = block->bytes,
                            .kind = GPH_RANGE_EAGER,
                            .last = UINT32_MAX,
                            .stream = block->stream};
}

void gph_pool_live(const gph_pool *pool, gph_pool_range *ranges, uint32_t capacity,
                   uint32_t *count)
{
    if (!pool || !count)
        return;
    uint32_t found = 0;
    gphi_mutex_lock(&pool->arena->mutex);
    const struct gphi_blocks *b = &pool->blocks;
    for (uint32_t s = 0; s < b->segments.count; s++)
        for (uint32_t i = gphi_segment_at(b, s)->first; i != GPHI_NIL;
             i = gphi_block_at(b, i)->next) {
            if (gphi_block_at(b, i)->state != GPHI_BLOCK_LIVE)
                continue;
            if (ranges && found < capacity)
                ranges[found] = describe(pool, gphi_block_at(b, i));
            found++;
        }
    gphi_mutex_unlock(&pool->arena->mutex);
    *count = found;
}

/* 0 is not an address of an arena, so it says that there is nothing. */
uint64_t gphi_pool_find(const gph_pool *pool, uint64_t address, uint64_t *bytes)
{
    uint64_t first = 0;
    gphi_mutex_lock(&pool->arena->mutex);
    const uint32_t i = gphi_blocks_holding(&pool->blocks, address);
    if (i != GPHI_NIL && gphi_block_at(&pool->blocks, i)->state == GPHI_BLOCK_LIVE) {
        first = gphi_block_at(&pool->blocks, i)->address;
        *bytes = gphi_block_at(&pool->blocks, i)->bytes;
    }
    gphi_mutex_unlock(&pool->arena->mutex);
    return first;
}
