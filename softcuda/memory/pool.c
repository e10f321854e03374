// SPDX-License-Identifier: Apache-2.0
/* Stream-ordered pools: a heap that keeps its segments, and a list of blocks that were
 * freed at a point of a queue that may not be reached yet.
 *
 *   in use ──cuMemFreeAsync──▶ pending(point) ──point reached──▶ free
 *      ▲                          │ same queue, or a queue that waits for the point
 *      └──────────────────────────┘ */
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/memory/import.h"

#define POOL_SEGMENT_SLOTS 16u /* 32 MiB, the step in which an H100 reserves */

/* With the mutex; read without it: who orders the two orders this, too. */
static void unsettle(soft_memory *memory)
{
    atomic_store_explicit(&memory->unsettled, true, memory_order_relaxed);
}

/* Takes over `file`. */
gph_status soft_pool_make(soft_memory *memory, const soft_pool_policy *policy, int file,
                          soft_pool **out, gph_error *error)
{
    soft_pool *pool = gphi_heap_alloc(memory->heap, sizeof(*pool));
    if (!pool && file >= 0)
        close(file);
    GPHI_TRY(gphi_made(error, pool, "a memory pool"));
    pool->policy = *policy;
    soft_heap_init(&pool->heap, memory, pool, POOL_SEGMENT_SLOTS, true);
    pool->heap.file = file;
    pool->heap.is_shown = policy->is_managed || policy->of_host;
    pthread_mutex_lock(&memory->mutex);
    pool->after = memory->pools;
    memory->pools = pool;
    unsettle(memory);
    pthread_mutex_unlock(&memory->mutex);
    *out = pool;
    return GPH_OK;
}

gph_status soft_pool_create(soft_memory *memory, const soft_pool_policy *policy,
                            soft_pool **out, gph_error *error)
{
    return soft_pool_make(memory, policy, -1, out, error);
}

static void pending_add(soft_pool *pool, struct soft_block *block)
{
    block->bin_before = pool->youngest;
    block->bin_behind = NULL;
    if (pool->youngest)
        pool->youngest->bin_behind = block;
    else
        pool->oldest = block;
    pool->youngest = block;
}

static void pending_remove(soft_pool *pool, struct soft_block *block)
{
    if (block->bin_before)
        block->bin_before->bin_behind = block->bin_behind;
    else
        pool->oldest = block->bin_behind;
    if (block->bin_behind)
        block->bin_behind->bin_before = block->bin_before;
    else
        pool->youngest = block->bin_before;
    block->pending = false;
}

static void drain_locked(soft_pool *pool)
{
    for (struct soft_block *block = pool->oldest; block;) {
        struct soft_block *next = block->bin_behind;
        if (soft_point_reached(block->freed)) {
            pending_remove(pool, block);
            soft_heap_give(&pool->heap, block);
        }
        block = next;
    }
}

static void end(soft_pool *pool)
{
    soft_memory *memory = pool->heap.memory;
    soft_heap_fini(&pool->heap);
    if (pool->heap.file >= 0)
        close(pool->heap.file);
    gphi_heap_free(memory->heap, pool, sizeof(*pool));
}

/* Frees pools that were destroyed with work outstanding, once nothing is. */
static void reap_locked(soft_memory *memory)
{
    soft_imports_reap(memory);
    for (soft_pool **at = &memory->pools; *at;) {
        soft_pool *pool = *at;
        if (!pool->dying || pool->live_count > 0 || pool->oldest) {
            at = &pool->after;
            continue;
        }
        *at = pool->after;
        end(pool);
    }
}

void soft_pool_destroy(soft_pool *pool)
{
    soft_memory *memory = pool->heap.memory;
    pthread_mutex_lock(&memory->mutex);
    pool->dying = true;
    unsettle(memory);
    drain_locked(pool);
    reap_locked(memory);
    pthread_mutex_unlock(&memory->mutex);
}

void soft_pools_drop(soft_memory *memory)
{
    while (memory->pools) {
        soft_pool *pool = memory->pools;
        memory->pools = pool->after;
        end(pool);
    }
}

void soft_pool_get_policy(soft_pool *pool, soft_pool_policy *out)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    *out = pool->policy;
    pthread_mutex_unlock(&pool->heap.memory->mutex);
}

void soft_pool_set_policy(soft_pool *pool, const soft_pool_policy *policy)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    pool->policy = *policy;
    unsettle(pool->heap.memory);
    pthread_mutex_unlock(&pool->heap.memory->mutex);
}

void soft_pool_get_stats(soft_pool *pool, soft_pool_stats *out)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    *out = (soft_pool_stats){.reserved_bytes = pool->heap.slot_count * SOFT_CHUNK_BYTES,
                             .reserved_high_bytes = pool->reserved_high,
                             .used_bytes = pool->used_bytes,
                             .used_high_bytes = pool->used_high};
    pthread_mutex_unlock(&pool->heap.memory->mutex);
}

void soft_pool_reset_high(soft_pool *pool, bool reserved, bool used)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    if (reserved)
        pool->reserved_high = pool->heap.slot_count * SOFT_CHUNK_BYTES;
    if (used)
        pool->used_high = pool->used_bytes;
    pthread_mutex_unlock(&pool->heap.memory->mutex);
}

struct request {
    uint64_t bytes, granules;
    soft_queue *queue;
    bool (*follows)(void *user, soft_point point);
    void *user;
};

/* The smallest pending block that fits and may be used: by this queue as things are, or,
 * if `wait`, by anyone who waits for its point. Not one more than twice too large. */
static struct soft_block *take_pending(soft_pool *pool, const struct request *request,
                                       bool wait)
{
    struct soft_block *best = NULL;
    for (struct soft_block *b = pool->oldest; b; b = b->bin_behind) {
        if (b->granules < request->granules || b->granules > 2 * request->granules ||
            (best && b->granules >= best->granules))
            continue;
        const bool ordered =
            b->freed.queue == request->queue ||
            (pool->policy.follow_event_dependencies && request->follows &&
             request->follows(request->user, b->freed));
        if (ordered || wait)
            best = b;
    }
    if (best)
        pending_remove(pool, best);
    return best;
}

static struct soft_block *take_locked(soft_pool *pool, const struct request *request,
                                      soft_point *wait)
{
    *wait = (soft_point){0};
    struct soft_block *block = take_pending(pool, request, false);
    if (block)
        return block;
    if (pool->policy.allow_opportunistic)
        drain_locked(pool);
    const uint64_t grown = pool->heap.slot_count * SOFT_CHUNK_BYTES + request->bytes;
    const bool may_grow = pool->policy.max_bytes == 0 || grown <= pool->policy.max_bytes;
    block = soft_heap_take(&pool->heap, request->bytes, may_grow);
    if (block)
        return block;
    drain_locked(pool);
    block = soft_heap_take(&pool->heap, request->bytes, false);
    if (block || !pool->policy.allow_internal_dependencies)
        return block;
    block = take_pending(pool, request, true);
    if (block)
        *wait = block->freed;
    return block;
}

gph_status soft_pool_alloc(soft_pool *pool, uint64_t bytes, soft_queue *queue,
                           bool (*follows)(void *user, soft_point point), void *user,
                           uint64_t *out, soft_point *wait, gph_error *error)
{
    if (bytes == 0)
        return gphi_fail(error, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    soft_memory *memory = pool->heap.memory;
    const struct request request = {.bytes = bytes,
                                    .granules = bytes / SOFT_GRANULE_BYTES +
                                                (bytes % SOFT_GRANULE_BYTES != 0),
                                    .queue = queue,
                                    .follows = follows,
                                    .user = user};
    pthread_mutex_lock(&memory->mutex);
    unsettle(memory);
    struct soft_block *block = take_locked(pool, &request, wait);
    if (block) {
        block->info = (soft_allocation){.base = soft_block_address(block),
                                        .bytes = bytes,
                                        .kind = SOFT_MEMORY_POOL,
                                        .device = memory->device,
                                        .buffer_id = soft_next_buffer_id(),
                                        .pool = pool,
                                        .is_managed = pool->policy.is_managed,
                                        .of_host = pool->policy.of_host};
        pool->live_count++;
        pool->used_bytes += bytes;
        if (pool->used_bytes > pool->used_high)
            pool->used_high = pool->used_bytes;
        if (pool->heap.slot_count * SOFT_CHUNK_BYTES > pool->reserved_high)
            pool->reserved_high = pool->heap.slot_count * SOFT_CHUNK_BYTES;
        soft_memory_count(memory, (int64_t)bytes);
        *out = block->info.base;
    }
    const uint64_t left = memory->free_chunk_count * SOFT_CHUNK_BYTES;
    pthread_mutex_unlock(&memory->mutex);
    if (!block)
        return gphi_fail(
            error, CUDA_ERROR_OUT_OF_MEMORY,
            "no room for %llu bytes in the pool: %llu MiB are left on the device",
            (unsigned long long)bytes, (unsigned long long)(left >> 20));
    return GPH_OK;
}

gph_status soft_pool_free(soft_memory *memory, uint64_t address, soft_point freed,
                          gph_error *error)
{
    pthread_mutex_lock(&memory->mutex);
    unsettle(memory);
    struct soft_block *block = soft_block_at(memory, address);
    bool ours = soft_import_free(memory, address, freed);
    if (!ours && block && block->used && !block->pending && block->info.base == address &&
        block->info.pool) {
        ours = true;
        soft_pool *pool = block->info.pool;
        pool->live_count--;
        pool->used_bytes -= block->info.bytes;
        soft_memory_count(memory, -(int64_t)block->info.bytes);
        soft_memory_note_freed(memory, address, block->info.bytes);
        if (soft_point_reached(block->freed) || block->former_bytes < block->info.bytes)
            block->former_bytes = block->info.bytes;
        block->pending = true;
        block->freed = freed;
        pending_add(pool, block);
        if (pool->dying)
            drain_locked(pool);
        reap_locked(memory);
    }
    pthread_mutex_unlock(&memory->mutex);
    if (ours)
        return GPH_OK;

    char text[256];
    soft_memory_describe(memory, address, text, sizeof(text));
    return gphi_fail(error, CUDA_ERROR_INVALID_VALUE,
                     "0x%llx cannot be freed in stream order: it is %s",
                     (unsigned long long)address, text);
}

void soft_pool_trim(soft_pool *pool, uint64_t keep_bytes)
{
    pthread_mutex_lock(&pool->heap.memory->mutex);
    drain_locked(pool);
    soft_heap_trim(&pool->heap,
                   keep_bytes / SOFT_CHUNK_BYTES + (keep_bytes % SOFT_CHUNK_BYTES != 0));
    pthread_mutex_unlock(&pool->heap.memory->mutex);
}

/* Whether something waits for a point, or for the last pointer into it. */
static bool is_unsettled(const soft_memory *memory)
{
    for (const soft_pool *pool = memory->pools; pool; pool = pool->after)
        if (pool->oldest || pool->dying)
            return true;
    for (const struct soft_import *import = memory->imports; import;
         import = import->next)
        if (import->pending)
            return true;
    return false;
}

void soft_memory_synchronized(soft_memory *memory)
{
    if (!atomic_load_explicit(&memory->unsettled, memory_order_relaxed))
        return;
    pthread_mutex_lock(&memory->mutex);
    for (soft_pool *pool = memory->pools; pool; pool = pool->after) {
        drain_locked(pool);
        soft_heap_trim(&pool->heap,
                       pool->policy.release_threshold_bytes / SOFT_CHUNK_BYTES);
    }
    reap_locked(memory);
    atomic_store_explicit(&memory->unsettled, is_unsettled(memory), memory_order_relaxed);
    pthread_mutex_unlock(&memory->mutex);
}
