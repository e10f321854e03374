// SPDX-License-Identifier: Apache-2.0
/* Recordings: what a capture allocated, freed and read, and the way back if it failed. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "memory/pool.h"
#include "memory/rounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static gph_pool_range *range_at(const struct gphi_recording *r, size_t i)
{
    return gphi_vec_at(&r->ranges, i);
}

/* Also one that was never listed. The order of the others stays: ids rise. */
static void destroy_recording(gph_pool *pool, struct gphi_recording *r)
{
    const gph_allocator heap = pool->arena->heap;
    for (size_t i = pool->recordings.count; i-- > 0;)
        if (gphi_recording_at(pool, i) == r)
            gphi_vec_remove(&pool->recordings, i);
    gphi_walk_fini(r);
    gphi_vec_fini(&r->ranges);
    gphi_vec_fini(&r->saved);
    gphi_vec_fini(&r->writes);
    gphi_vec_fini(&r->overwrites);
    gphi_heap_text_free(heap, r->name);
    gphi_heap_free(heap, r, sizeof(*r));
}

/* Ids are never given twice in a pool, since graphs keep them for long. */
static gph_status new_recording(gph_pool *pool, const char *name,
                                struct gphi_recording **out, gph_error *error)
{
    const gph_allocator heap = pool->arena->heap;
    char text[32];
    snprintf(text, sizeof(text), "recording %u", pool->next_id);
    struct gphi_recording *r = gphi_heap_alloc(heap, sizeof(*r));
    GPHI_TRY(gphi_made(error, r, "a recording of pool %s", pool->name));
    r->id = pool->next_id;
    gphi_vec_init(&r->ranges, heap, sizeof(gph_pool_range));
    gphi_vec_init(&r->captured, heap, sizeof(struct gphi_captured));
    gphi_vec_init(&r->saved, heap, sizeof(struct gphi_block));
    gphi_vec_init(&r->scratch, heap, sizeof(CUgraphNode));
    gphi_vec_init(&r->writes, heap, sizeof(struct gphi_span));
    gphi_vec_init(&r->overwrites, heap, sizeof(struct gphi_overwrite));
    r->name = gphi_heap_text(heap, name ? name : text);
    struct gphi_recording **place = r->name ? gphi_vec_add(&pool->recordings, 1) : NULL;
    if (!place) {
        destroy_recording(pool, r);
        return gphi_fail(error, GPH_E_NO_MEMORY, "a recording of pool %s", pool->name);
    }
    *place = r;
    pool->next_id++;
    *out = r;
    return GPH_OK;
}

/* ---- begin ---- */

/* One recording a pool, and one pool a stream: else an allocation in the capture would
 * have two homes. */
static gph_status check_bound(const gph_pool *pool, CUstream stream, gph_error *error)
{
    if (pool->open)
        return gphi_fail(error, GPH_E_STATE, "pool %s has an open recording, %s",
                         pool->name, pool->open->name);
    for (const gph_pool *p = pool->arena->pools; p; p = p->next)
        if (p->open && p->open->stream == stream)
            return gphi_fail(error, GPH_E_STATE, "stream %p is bound to pool %s",
                             (void *)stream, p->name);
    return GPH_OK;
}

/* Before the driver captures, when streams may still be asked what has ended. */
static gph_status begin_locked(gph_pool *pool, CUstream stream, const char *name,
                               gph_recording_id *out, gph_error *error)
{
    struct gphi_recording *r = NULL;
    GPHI_TRY(check_bound(pool, stream, error));
    GPHI_TRY(gphi_route_eager(pool, stream, error));
    GPHI_TRY(new_recording(pool, name, &r, error));
    r->stream = stream;
    r->is_open = true;
    pool->open = r;
    pool->arena->open_recordings++;
    gphi_pool_drain(pool);
    *out = r->id;
    return GPH_OK;
}

gph_status gph_pool_record_begin(gph_pool *pool, CUstream stream, const char *name,
                                 gph_recording_id *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool, out));
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, begin_locked(pool, stream, name, out, error));
}

/* ---- in the capture ---- */

gph_status gphi_recording_reserve(gph_pool *pool, struct gphi_recording *r)
{
    GPHI_TRY(gphi_pool_reserve(pool, 6)); /* 2 of them for the block saved now */
    GPHI_TRY(gphi_vec_reserve(&r->ranges, 2));
    return gphi_vec_reserve(&r->saved, 1);
}

/* `first` and `last` count allocations and frees, which is the order of the capture. */
void gphi_recording_allocated(gph_pool *pool, struct gphi_recording *r, uint32_t block,
                              CUstream stream)
{
    struct gphi_block *b = gphi_block_at(&pool->blocks, block);
    b->owner = r->id;
    b->range = (uint32_t)r->ranges.count;
    *(gph_pool_range *)gphi_vec_add(&r->ranges, 1) =
        (gph_pool_range){.address = b->address,
                         .bytes = b->bytes,
                         .recording = r->id,
                         .maker = r->id,
                         .kind = GPH_RANGE_KEPT, /* until it is freed, or declared */
                         .first = ++r->event_count,
                         .last = UINT32_MAX,
                         .stream = stream};
}

/* Once a recording: who reads more than once needs it no more than that. */
void gphi_recording_reads(struct gphi_recording *r, struct gphi_block *block)
{
    if (block->owner == r->id || block->read_by == r->id)
        return;
    block->read_by = r->id;
    block->read_range = (uint32_t)r->ranges.count;
    /* Eager memory is filled again before each replay: the recording is its maker. */
    *(gph_pool_range *)gphi_vec_add(&r->ranges, 1) =
        (gph_pool_range){.address = block->address,
                         .bytes = block->bytes,
                         .recording = r->id,
                         .maker = block->owner != 0 ? block->owner : r->id,
                         .kind = GPH_RANGE_INPUT,
                         .last = UINT32_MAX,
                         .stream = block->stream};
}

/* The other captured streams that use a block, by place, and their terminal nodes after
 * each other in `scratch`. Uses before the capture get a ticket: `is_held`. */
struct users {
    uint32_t places[16];
    uint32_t count;
    bool is_held;
};

/* At most as many as there is room for in `places`. */
static bool has_place(const struct users *users, uint32_t place)
{
    for (uint32_t i = 0; i < users->count; i++)
        if (users->places[i] == place)
            return true;
    return false;
}

static gph_status add_nodes(struct gphi_recording *r, const struct gphi_route *route)
{
    for (size_t i = 0; i < route->node_count; i++)
        GPHI_TRY(gphi_vec_push(&r->scratch, &route->nodes[i]));
    return GPH_OK;
}

/* Places stay sorted, so that the same set of streams is found again. */
static gph_status add_user(gph_pool *pool, struct gphi_recording *r, CUstream stream,
                           struct users *users, gph_error *error)
{
    struct gphi_route other;
    GPHI_TRY(gphi_route_find(pool, stream, &other, error));
    if (!other.recording) {
        uint64_t ticket = 0;
        users->is_held = true;
        return gphi_stream_mark(pool->arena, other.stream, stream, &ticket, error);
    }
    if (has_place(users, other.stream))
        return GPH_OK;
    if (users->count == sizeof(users->places) / sizeof(*users->places)) {
        users->is_held = true; /* too many to wait for: not again in this capture */
        return GPH_OK;
    }
    GPHI_TRY(gphi_made(error, add_nodes(r, &other) == GPH_OK, "recording %s", r->name));
    uint32_t at = users->count++;
    for (; at > 0 && users->places[at - 1] > other.stream; at--)
        users->places[at] = users->places[at - 1];
    users->places[at] = other.stream;
    return GPH_OK;
}

/* The lane and position of a free in the capture. */
static gph_status place_free(gph_pool *pool, const struct gphi_route *route,
                             uint32_t block, uint32_t *lane, uint64_t *position,
                             gph_error *error)
{
    struct gphi_blocks *b = &pool->blocks;
    struct gphi_recording *r = route->recording;
    struct users users = {.places = {route->stream}, .count = 1};
    gph_status status = GPH_OK;
    uint32_t place = route->stream;
    *position = 0;
    r->scratch.count = 0;
    if (!route->is_invalid) {
        GPHI_TRY(
            gphi_made(error, add_nodes(r, route) == GPH_OK, "recording %s", r->name));
        for (uint32_t i = gphi_block_at(b, block)->uses; i != GPHI_NIL;
             i = gphi_use_at(b, i)->next)
            if (gphi_use_at(b, i)->stream != route->handle)
                GPHI_TRY(add_user(pool, r, gphi_use_at(b, i)->stream, &users, error));
    }
    const struct gphi_block *freed = gphi_block_at(b, block);
    const bool is_outside = r->loop > 0 && (freed->owner != r->id ||
                                            range_at(r, freed->range)->first < r->loop);
    if (route->is_invalid || users.is_held || is_outside) {
        status = gphi_blocks_lane(b, GPHI_LANE_HELD, GPHI_NIL, lane);
    } else {
        if (users.count > 1)
            status = gphi_walk_set(r, users.places, users.count, &place);
        GPHI_THEN(status, gphi_walk_position(r, place, r->scratch.items, r->scratch.count,
                                             position));
        GPHI_THEN(status, gphi_blocks_lane(b, GPHI_LANE_CAPTURED, place, lane));
    }
    GPHI_TRY(gphi_made(error, status == GPH_OK, "recording %s", r->name));
    return GPH_OK;
}

/* Its own memory is temporary then; that of others comes back if the capture is thrown
 * away, hence the copy in `saved`. */
gph_status gphi_recording_free(gph_pool *pool, const struct gphi_route *route,
                               uint32_t block, gph_error *error)
{
    struct gphi_recording *r = route->recording;
    uint32_t lane = 0;
    uint64_t position = 0;
    GPHI_TRY(place_free(pool, route, block, &lane, &position, error));
    struct gphi_block *b = gphi_block_at(&pool->blocks, block);
    if (b->owner == r->id) {
        range_at(r, b->range)->last = ++r->event_count;
        range_at(r, b->range)->kind = GPH_RANGE_TEMPORARY;
    } else {
        gphi_recording_reads(r, b);
        range_at(r, b->read_range)->last = ++r->event_count;
        *(struct gphi_block *)gphi_vec_add(&r->saved, 1) = *b;
        b->uses = GPHI_NIL; /* kept in `saved` */
        if (b->owner == 0)
            gphi_proof_eager(pool, b->address, b->bytes, -1, false);
    }
    gphi_blocks_put(&pool->blocks, block, lane, position);
    return GPH_OK;
}

uint32_t gphi_pool_loop(gph_pool *pool, uint32_t begin)
{
    uint32_t before = 0;
    gphi_mutex_lock(&pool->arena->mutex);
    if (pool->open) {
        before = pool->open->loop;
        pool->open->loop = begin == GPHI_LOOP_HERE ? pool->open->event_count + 1 : begin;
    }
    gphi_mutex_unlock(&pool->arena->mutex);
    return before;
}

/* ---- the end ---- */

/* The recording is no longer open: what it freed goes to a lane for all. */
static void close_recording(gph_pool *pool, struct gphi_recording *r)
{
    struct gphi_blocks *b = &pool->blocks;
    for (uint32_t i = 0; i < b->items.count; i++) {
        struct gphi_block *block = gphi_block_at(b, i);
        if (block->state != GPHI_BLOCK_LIVE)
            continue;
        gphi_blocks_drop_use_list(b, &block->uses, true);
        block->read_by = 0;
        block->read_range = GPHI_NIL;
    }
    for (uint32_t i = 0; i < b->lanes.count; i++)
        if (gphi_lane_at(b, i)->kind == GPHI_LANE_CAPTURED)
            gphi_blocks_move(b, i, GPHI_ANY, GPHI_LANE_FREE, 0);
    GPHI_EACH (struct gphi_block, saved, &r->saved)
        gphi_blocks_drop_use_list(b, &saved->uses, false);
    r->saved.count = 0;
    gphi_walk_fini(r);
    r->is_open = false;
    pool->open = NULL;
    pool->arena->open_recordings--;
}

/* After an abort no graph of the capture will run: what it freed is free for all. */
static void merge_captured(struct gphi_blocks *b, uint32_t into)
{
    for (uint32_t i = 0; i < b->lanes.count; i++) {
        const enum gphi_lane_kind kind = gphi_lane_at(b, i)->kind;
        if (i != into && (kind == GPHI_LANE_CAPTURED || kind == GPHI_LANE_HELD))
            gphi_blocks_move(b, i, GPHI_ANY, into, 0);
    }
}

/* Whatever it allocated and still has goes to a lane. */
static void free_own(gph_pool *pool, const struct gphi_recording *r, uint32_t lane)
{
    struct gphi_blocks *b = &pool->blocks;
    for (uint32_t i = 0; i < b->items.count; i++)
        if (gphi_block_at(b, i)->state == GPHI_BLOCK_LIVE &&
            gphi_block_at(b, i)->owner == r->id)
            gphi_blocks_put(b, i, lane, 0);
}

void gphi_recording_abort(gph_pool *pool, struct gphi_recording *r)
{
    struct gphi_blocks *b = &pool->blocks;
    uint32_t any = GPHI_LANE_FREE;
    for (uint32_t i = 0; i < b->lanes.count; i++) /* there is one if anything was freed */
        if (gphi_lane_at(b, i)->kind == GPHI_LANE_CAPTURED)
            any = i;
    free_own(pool, r, any);
    merge_captured(b, any);
    for (size_t i = r->saved.count; i-- > 0;) {
        struct gphi_block *was = gphi_vec_at(&r->saved, i);
        const uint32_t at = gphi_blocks_take_at(b, gphi_blocks_holding(b, was->address),
                                                was->address, was->bytes, was->requested);
        struct gphi_block *now = gphi_block_at(b, at);
        now->stream = was->stream;
        now->owner = was->owner;
        now->range = was->range;
        now->uses = was->uses;
        was->uses = GPHI_NIL;
        if (now->owner == 0)
            gphi_proof_eager(pool, now->address, now->bytes, 1, false);
    }
    gphi_log("memory", GPH_LOG_DEBUG, "pool %s: %s is thrown away", pool->name, r->name);
    close_recording(pool, r);
    destroy_recording(pool, r);
}

void gph_pool_record_abort(gph_pool *pool, gph_recording_id id)
{
    if (!pool)
        return;
    gphi_mutex_lock(&pool->arena->mutex);
    if (pool->open && pool->open->id == id)
        gphi_recording_abort(pool, pool->open);
    gphi_mutex_unlock(&pool->arena->mutex);
}

static void pin(const gph_pool *pool, const struct gphi_recording *r, int by)
{
    for (size_t i = 0; i < r->ranges.count; i++)
        gphi_arena_pin(pool->arena, range_at(r, i)->address, range_at(r, i)->bytes, by);
}

void gphi_recording_forget(gph_pool *pool, struct gphi_recording *r)
{
    free_own(pool, r, GPHI_LANE_FREE);
    pin(pool, r, -1);
    gphi_proof_remove(pool, r);
    destroy_recording(pool, r);
}

void gph_pool_record_forget(gph_pool *pool, gph_recording_id id)
{
    if (!pool)
        return;
    gphi_mutex_lock(&pool->arena->mutex);
    struct gphi_recording *r = gphi_recording_find(pool, id);
    if (r && r->is_open)
        gphi_recording_abort(pool, r);
    else if (r)
        gphi_recording_forget(pool, r);
    gphi_mutex_unlock(&pool->arena->mutex);
}

/* What it allocated, as spans that do not touch. */
static gph_status find_writes(struct gphi_recording *r)
{
    size_t kept = 0;
    r->writes.count = 0;
    for (size_t i = 0; i < r->ranges.count; i++) {
        const gph_pool_range *range = range_at(r, i);
        if (range->kind == GPH_RANGE_INPUT)
            continue;
        const struct gphi_span span = {range->address, range->address + range->bytes};
        GPHI_TRY(gphi_vec_push(&r->writes, &span));
    }
    struct gphi_span *spans = r->writes.items;
    if (r->writes.count == 0)
        return GPH_OK;
    qsort(spans, r->writes.count, sizeof(*spans), gphi_by_first);
    for (size_t i = 1; i < r->writes.count; i++) {
        if (spans[i].first > spans[kept].end)
            spans[++kept] = spans[i];
        else if (spans[i].end > spans[kept].end)
            spans[kept].end = spans[i].end;
    }
    r->writes.count = kept + 1;
    return GPH_OK;
}

static gph_status check_outputs(const gph_pool *pool, const struct gphi_recording *r,
                                const CUdeviceptr *outputs, uint32_t count,
                                gph_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = gphi_blocks_live(&pool->blocks, outputs[i]);
        if (at == GPHI_NIL || gphi_block_at(&pool->blocks, at)->owner != r->id)
            return gphi_fail(error, GPH_E_INVALID,
                             "output %u, 0x%llx, is not a live allocation of %s", i,
                             outputs[i], r->name);
    }
    return GPH_OK;
}

static uint32_t tell_kept(const gph_pool *pool, const struct gphi_recording *r)
{
    uint32_t kept = 0;
    for (size_t i = 0; i < r->ranges.count; i++) {
        const gph_pool_range *range = range_at(r, i);
        if (range->kind != GPH_RANGE_KEPT)
            continue;
        kept++;
        gphi_log("memory", GPH_LOG_WARN,
                 "%s of pool %s keeps %" PRIu64
                 " bytes at 0x%llx (event %u, stream %p), which are not an output: "
                 "whoever caches them must not use them outside this graph",
                 r->name, pool->name, range->bytes, range->address, range->first,
                 (void *)range->stream);
    }
    return kept;
}

static gph_status end_locked(gph_pool *pool, gph_recording_id id,
                             const CUdeviceptr *outputs, uint32_t output_count,
                             uint32_t *kept_count, gph_error *error)
{
    struct gphi_blocks *b = &pool->blocks;
    struct gphi_recording *r = pool->open;
    uint32_t all = 0;
    if (!r || r->id != id)
        return gphi_fail(error, GPH_E_INVALID, "pool %s has no open recording %u",
                         pool->name, id);
    GPHI_TRY(check_outputs(pool, r, outputs, output_count, error));
    GPHI_TRY(gphi_made(error,
                       gphi_blocks_lane(b, GPHI_LANE_EAGER, GPHI_NIL, &all) == GPH_OK &&
                           find_writes(r) == GPH_OK,
                       "ending %s", r->name));
    GPHI_TRY(gphi_proof_add(pool, r, error));

    for (uint32_t i = 0; i < output_count; i++)
        range_at(r, gphi_block_at(b, gphi_blocks_live(b, outputs[i]))->range)->kind =
            GPH_RANGE_OUTPUT;
    for (uint32_t i = 0; i < b->lanes.count; i++)
        if (gphi_lane_at(b, i)->kind == GPHI_LANE_HELD)
            gphi_blocks_move(b, i, GPHI_ANY, all, pool->arena->ticket);
    close_recording(pool, r);
    pin(pool, r, 1);
    const uint32_t kept = tell_kept(pool, r);
    if (kept_count)
        *kept_count = kept;
    gphi_log("memory", GPH_LOG_DEBUG, "pool %s: %s ends, %zu ranges", pool->name, r->name,
             r->ranges.count);
    return GPH_OK;
}

gph_status gph_pool_record_end(gph_pool *pool, gph_recording_id id,
                               const CUdeviceptr *outputs, uint32_t output_count,
                               uint32_t *kept_count, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool));
    GPHI_TRY(gphi_need_named(error, __func__, outputs || output_count == 0, "outputs"));
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(
        pool, end_locked(pool, id, outputs, output_count, kept_count, error));
}

/* ---- ranges ---- */

gph_status gph_pool_ranges(const gph_pool *pool, gph_recording_id id,
                           gph_pool_range *ranges, uint32_t capacity, uint32_t *count,
                           gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool, count));
    GPHI_TRY(gphi_need_named(error, __func__, ranges || capacity == 0, "ranges"));
    gph_status status = GPH_OK;
    gphi_mutex_lock(&pool->arena->mutex);
    const struct gphi_recording *r = gphi_recording_find(pool, id);
    if (!r) {
        status = gphi_fail(error, GPH_E_INVALID, "pool %s has no recording %u",
                           pool->name, id);
    } else {
        for (uint32_t i = 0; i < r->ranges.count && i < capacity; i++)
            ranges[i] = *range_at(r, i);
        *count = (uint32_t)r->ranges.count;
    }
    gphi_mutex_unlock(&pool->arena->mutex);
    return status;
}

static gph_status input_locked(gph_pool *pool, gph_recording_id id, CUdeviceptr address,
                               uint64_t bytes, gph_error *error)
{
    struct gphi_recording *r = gphi_recording_find(pool, id);
    if (!r)
        return gphi_fail(error, GPH_E_INVALID, "pool %s has no recording %u", pool->name,
                         id);
    const uint32_t at = gphi_blocks_holding(&pool->blocks, address);
    const struct gphi_block *block =
        at != GPHI_NIL ? gphi_block_at(&pool->blocks, at) : NULL;
    if (bytes == 0 || !block || block->state != GPHI_BLOCK_LIVE ||
        bytes > block->bytes - (address - block->address))
        return gphi_fail(error, GPH_E_INVALID,
                         "%" PRIu64 " bytes at 0x%llx are not part of a live allocation "
                         "of pool %s",
                         bytes, address, pool->name);
    if (block->owner == r->id)
        return gphi_fail(error, GPH_E_INVALID, "0x%llx is %s's own", address, r->name);
    const gph_pool_range range = {.address = address,
                                  .bytes = bytes,
                                  .recording = r->id,
                                  .maker = block->owner,
                                  .kind = GPH_RANGE_INPUT,
                                  .last = UINT32_MAX,
                                  .stream = block->stream};
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&r->ranges, 1) == GPH_OK, "an input of %s",
                       r->name));
    if (!r->is_open) {
        GPHI_TRY(gphi_proof_input(pool, r, &range, error));
        gphi_arena_pin(pool->arena, address, bytes, 1);
    }
    *(gph_pool_range *)gphi_vec_add(&r->ranges, 1) = range;
    return GPH_OK;
}

gph_status gph_pool_record_input(gph_pool *pool, gph_recording_id id, CUdeviceptr address,
                                 uint64_t bytes, gph_error *error)
{
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, input_locked(pool, id, address, bytes, error));
}

/* ---- a recording from elsewhere ---- */

static gph_status check_saved(const gph_pool *pool, const gph_pool_range *range,
                              uint32_t index, gph_error *error)
{
    const gph_arena *arena = pool->arena;
    const uint64_t size = arena->page_count * arena->page_bytes;
    if (range->kind < GPH_RANGE_TEMPORARY || range->kind > GPH_RANGE_INPUT)
        return gphi_fail(error, GPH_E_INVALID, "ranges[%u].kind is %d", index,
                         (int)range->kind);
    if (range->bytes == 0 || range->bytes > size || range->address < arena->base ||
        range->address - arena->base > size - range->bytes)
        return gphi_fail(error, GPH_E_INVALID,
                         "ranges[%u], %" PRIu64
                         " bytes at 0x%llx, is not in the arena, 0x%" PRIx64
                         " bytes from 0x%llx",
                         index, range->bytes, range->address, size, arena->base);
    return GPH_OK;
}

/* What the recording wrote and gave back takes no block, only pages: it was free again at
 * its end. */
static gph_status restore_range(gph_pool *pool, struct gphi_recording *r,
                                const gph_pool_range *saved, gph_error *error)
{
    uint32_t block = GPHI_NIL;
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&r->ranges, 1) == GPH_OK, "restoring %s",
                       r->name));
    if (saved->kind == GPH_RANGE_OUTPUT || saved->kind == GPH_RANGE_KEPT) {
        GPHI_TRY(gphi_pool_place(pool, saved->address, saved->bytes, &block, error));
        struct gphi_block *b = gphi_block_at(&pool->blocks, block);
        b->owner = r->id;
        b->range = (uint32_t)r->ranges.count;
    } else {
        GPHI_TRY(gphi_pool_claim(pool, saved->address, saved->bytes, error));
    }
    gph_pool_range *range = gphi_vec_add(&r->ranges, 1);
    *range = *saved;
    range->recording = r->id;
    if (saved->kind != GPH_RANGE_INPUT || saved->maker == saved->recording)
        range->maker = r->id;
    range->stream = NULL;
    if (range->first > r->event_count)
        r->event_count = range->first;
    return GPH_OK;
}

/* The same end as a recorded one. On failure blocks that were placed are free again. */
static gph_status restore_locked(gph_pool *pool, const char *name,
                                 const gph_pool_range *ranges, uint32_t count,
                                 gph_recording_id *out, gph_error *error)
{
    struct gphi_recording *r = NULL;
    if (pool->open)
        return gphi_fail(error, GPH_E_STATE, "pool %s has an open recording, %s",
                         pool->name, pool->open->name);
    for (uint32_t i = 0; i < count; i++)
        GPHI_TRY(check_saved(pool, &ranges[i], i, error));
    GPHI_TRY(new_recording(pool, name, &r, error));
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < count && status == GPH_OK; i++)
        status = restore_range(pool, r, &ranges[i], error);
    if (status == GPH_OK && find_writes(r) != GPH_OK)
        status = gphi_fail(error, GPH_E_NO_MEMORY, "restoring %s", r->name);
    GPHI_THEN(status, gphi_proof_add(pool, r, error));
    if (status == GPH_OK) {
        pin(pool, r, 1);
        *out = r->id;
        return GPH_OK;
    }
    free_own(pool, r, GPHI_LANE_FREE);
    destroy_recording(pool, r);
    return status;
}

gph_status gph_pool_record_restore(gph_pool *pool, const char *name,
                                   const gph_pool_range *ranges, uint32_t count,
                                   gph_recording_id *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool, out));
    GPHI_TRY(gphi_need_named(error, __func__, ranges || count == 0, "ranges"));
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, restore_locked(pool, name, ranges, count, out, error));
}
