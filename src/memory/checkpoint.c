// SPDX-License-Identifier: Apache-2.0
/* Checkpoints: the live blocks of a pool in one array, by address. What lies between them
 * was free. Restoring edits the books in one pass over blocks and array; whatever memory
 * that needs is reserved before the first edit, so that it fails as a whole or not. */
#include "base/fail.h"
#include "base/heap.h"
#include "memory/pool.h"

#include <inttypes.h>

struct entry {
    uint64_t address, bytes, requested;
    CUstream stream;
    gph_recording_id owner;
    uint32_t range;
    bool stays; /* while restoring: it still has an owner */
};

struct gph_checkpoint {
    const gph_pool *pool;
    uint64_t pool_number;
    gph_allocator heap;
    size_t count;
    struct entry *entries;
};

void gph_checkpoint_destroy(gph_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    const gph_allocator heap = checkpoint->heap;
    gphi_heap_free(heap, checkpoint->entries,
                   checkpoint->count * sizeof(*checkpoint->entries));
    gphi_heap_free(heap, checkpoint, sizeof(*checkpoint));
}

/* By segment and block, so the entries rise by address. */
static void fill(const struct gphi_blocks *b, struct entry *entries)
{
    for (uint32_t s = 0; s < b->segments.count; s++)
        for (uint32_t i = gphi_segment_at(b, s)->first; i != GPHI_NIL;
             i = gphi_block_at(b, i)->next) {
            const struct gphi_block *block = gphi_block_at(b, i);
            if (block->state == GPHI_BLOCK_LIVE)
                *entries++ = (struct entry){.address = block->address,
                                            .bytes = block->bytes,
                                            .requested = block->requested,
                                            .stream = block->stream,
                                            .owner = block->owner,
                                            .range = block->range};
        }
}

/* Not during a recording, whose blocks are not settled yet. */
static gph_status take_locked(const gph_pool *pool, gph_checkpoint **out,
                              gph_error *error)
{
    const gph_allocator heap = pool->arena->heap;
    const size_t count = pool->blocks.live.count;
    if (pool->open)
        return gphi_fail(error, GPH_E_STATE, "recording %s of pool %s is open",
                         pool->open->name, pool->name);
    gph_checkpoint *checkpoint = gphi_heap_alloc(heap, sizeof(*checkpoint));
    GPHI_TRY(gphi_made(error, checkpoint, "a checkpoint of pool %s", pool->name));
    *checkpoint =
        (gph_checkpoint){.pool = pool, .pool_number = pool->number, .heap = heap};
    if (count > 0) {
        checkpoint->entries = gphi_heap_array(heap, count, sizeof(struct entry));
        if (!checkpoint->entries) {
            gph_checkpoint_destroy(checkpoint);
            return gphi_fail(error, GPH_E_NO_MEMORY, "a checkpoint of %zu blocks", count);
        }
        checkpoint->count = count;
        fill(&pool->blocks, checkpoint->entries);
    }
    *out = checkpoint;
    return GPH_OK;
}

gph_status gph_checkpoint_take(gph_pool *pool, gph_checkpoint **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool, out));
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(pool, take_locked(pool, out, error));
}

/* ---- restore ---- */

/* By halves: entries are sorted by address. */
static struct entry *find_entry(struct entry *entries, size_t count, uint64_t address)
{
    size_t low;
    GPHI_HALVE(low, count, at, entries[at].address < address);
    return low < count && entries[low].address == address ? &entries[low] : NULL;
}

/* A copy of the entries that stay, in which `count` of them are. */
static gph_status choose(const gph_checkpoint *checkpoint, const CUdeviceptr *live,
                         uint32_t live_count, int all, struct entry *chosen,
                         gph_error *error)
{
    for (size_t i = 0; i < checkpoint->count; i++) {
        chosen[i] = checkpoint->entries[i];
        chosen[i].stays = all != 0;
    }
    for (uint32_t i = 0; i < live_count; i++) {
        struct entry *entry = find_entry(chosen, checkpoint->count, live[i]);
        if (!entry)
            return gphi_fail(error, GPH_E_INVALID,
                             "live[%u], 0x%llx, was not allocated at the checkpoint", i,
                             live[i]);
        entry->stays = true;
    }
    return GPH_OK;
}

/* Pages may have gone since: then there is nothing to put back to. */
static gph_status check_segments(const gph_pool *pool, const struct entry *chosen,
                                 size_t count, gph_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct entry *e = &chosen[i];
        const uint32_t at = gphi_blocks_segment(&pool->blocks, e->address);
        const struct gphi_segment *s =
            at != GPHI_NIL ? gphi_segment_at(&pool->blocks, at) : NULL;
        if (e->stays && (!s || e->address + e->bytes > s->address + s->bytes))
            return gphi_fail(error, GPH_E_STATE,
                             "the pages at 0x%" PRIx64
                             ", allocated at the checkpoint, have been given up",
                             e->address);
    }
    return GPH_OK;
}

/* Same place and size: the block survived, or was allocated again the same way. */
static bool is_same(const struct gphi_block *block, const struct entry *entry)
{
    return entry && entry->stays && entry->address == block->address &&
           entry->bytes == block->bytes;
}

/* Frees what is live now and was not then. Frees go backwards through the numbers, so
 * that merging, which drops later blocks, disturbs nothing. */
static void free_others(gph_pool *pool, struct entry *chosen, size_t count)
{
    struct gphi_blocks *b = &pool->blocks;
    for (uint32_t i = 0; i < b->items.count; i++) {
        const struct gphi_block block = *gphi_block_at(b, i);
        if (block.state != GPHI_BLOCK_LIVE ||
            is_same(&block, find_entry(chosen, count, block.address)))
            continue;
        if (block.owner == 0)
            gphi_proof_eager(pool, block.address, block.bytes, -1, false);
        gphi_blocks_put(b, i, GPHI_LANE_FREE, 0);
    }
}

/* The owner of an entry, if it still is known. */
static gph_recording_id owner_of(const gph_pool *pool, const struct entry *entry)
{
    return gphi_recording_find(pool, entry->owner) ? entry->owner : 0;
}

static void revive(gph_pool *pool, const struct entry *entry, uint32_t *hint)
{
    struct gphi_blocks *b = &pool->blocks;
    uint32_t i = gphi_blocks_live(b, entry->address);
    const bool was_live = i != GPHI_NIL;
    const gph_recording_id owner = owner_of(pool, entry);
    const gph_recording_id had = was_live ? gphi_block_at(b, i)->owner : 0;
    if (!was_live) {
        /* Entries come by address: the search goes on where the last one ended. */
        uint32_t at = *hint;
        if (at == GPHI_NIL || gphi_blocks_segment(b, gphi_block_at(b, at)->address) !=
                                  gphi_blocks_segment(b, entry->address))
            at = gphi_segment_at(b, gphi_blocks_segment(b, entry->address))->first;
        while (gphi_block_at(b, at)->address + gphi_block_at(b, at)->bytes <=
               entry->address)
            at = gphi_block_at(b, at)->next;
        i = gphi_blocks_take_at(b, at, entry->address, entry->bytes, entry->requested);
    }
    *hint = i;
    struct gphi_block *block = gphi_block_at(b, i);
    b->requested_bytes += entry->requested - block->requested;
    block->requested = entry->requested;
    block->stream = entry->stream;
    block->owner = owner;
    block->range = owner != 0 ? entry->range : GPHI_NIL;
    if (owner == 0 && (!was_live || had != 0))
        gphi_proof_eager(pool, entry->address, entry->bytes, 1, false);
    else if (owner != 0 && was_live && had == 0)
        gphi_proof_eager(pool, entry->address, entry->bytes, -1, false);
}

static gph_status restore_locked(gph_pool *pool, const gph_checkpoint *checkpoint,
                                 const CUdeviceptr *live, uint32_t live_count, int all,
                                 gph_error *error)
{
    const size_t count = checkpoint->count;
    if (checkpoint->pool != pool || checkpoint->pool_number != pool->number)
        return gphi_fail(error, GPH_E_INVALID, "the checkpoint is not of pool %s",
                         pool->name);
    if (pool->open)
        return gphi_fail(error, GPH_E_STATE, "recording %s of pool %s is open",
                         pool->open->name, pool->name);
    struct entry *chosen = gphi_heap_array(checkpoint->heap, count + 1, sizeof(*chosen));
    if (!chosen || count > UINT32_MAX / 4 ||
        gphi_blocks_reserve(&pool->blocks, 2 * (uint32_t)count + 2) != GPH_OK) {
        gphi_heap_free(checkpoint->heap, chosen, (count + 1) * sizeof(*chosen));
        return gphi_fail(error, GPH_E_NO_MEMORY, "restoring %zu blocks", count);
    }
    gph_status status = choose(checkpoint, live, live_count, all, chosen, error);
    GPHI_THEN(status, check_segments(pool, chosen, count, error));
    if (status == GPH_OK) {
        uint32_t hint = GPHI_NIL;
        free_others(pool, chosen, count);
        for (size_t i = 0; i < count; i++)
            if (chosen[i].stays)
                revive(pool, &chosen[i], &hint);
    }
    gphi_heap_free(checkpoint->heap, chosen, (count + 1) * sizeof(*chosen));
    return status;
}

gph_status gph_checkpoint_restore(gph_pool *pool, const gph_checkpoint *checkpoint,
                                  const CUdeviceptr *live, uint32_t live_count, int all,
                                  gph_error *error)
{
    GPHI_TRY(gphi_need(error, pool, checkpoint));
    GPHI_TRY(gphi_need_named(error, __func__, live || live_count == 0, "live"));
    GPHI_TRY(gphi_pool_lock(pool, error));
    return gphi_pool_unlock(
        pool, restore_locked(pool, checkpoint, live, live_count, all, error));
}
