// SPDX-License-Identifier: Apache-2.0
/* Bytes: of tensors, which lie over each other, and of executables. */
#include "base/fail.h"
#include "base/heap.h"
#include "cache/cache.h"
#include "memory/pool.h"

#include <gph/memory_ledger.h>

#include <stdlib.h>

/* Lines that the ledger may gain between the two looks at it. */
enum { SLACK = 16 };

struct span {
    uint64_t first, end;
};

static int by_first(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Bytes that spans cover together. Sorts them. */
static uint64_t cover(struct span *spans, size_t count)
{
    uint64_t bytes = 0, end = 0;
    if (count > 0) /* `spans` may be NULL else */
        qsort(spans, count, sizeof(*spans), by_first);
    for (size_t i = 0; i < count; i++) {
        const uint64_t first = spans[i].first > end ? spans[i].first : end;
        if (spans[i].end > first) {
            bytes += spans[i].end - first;
            end = spans[i].end;
        }
    }
    return bytes;
}

/* The ranges of one recording, inputs left out: those are the cache's buffers. `ranges`:
 * room for them. */
static gph_status add_ranges(const gph_cache *cache, const gphi_record *record,
                             gphi_vec *ranges, gphi_vec *spans, gph_error *error)
{
    GPHI_TRY(gphi_pool_list(cache->pool, record->id, 0, ranges, error));
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(spans, ranges->count) == GPH_OK,
                       "%zu ranges", ranges->count));
    for (size_t i = 0; i < ranges->count; i++) {
        const gph_pool_range *range = gphi_vec_at(ranges, i);
        if (range->kind != GPH_RANGE_INPUT)
            *(struct span *)gphi_vec_add(spans, 1) =
                (struct span){range->address, range->address + range->bytes};
    }
    return GPH_OK;
}

/* Own and shared bytes of each entry, as the ledger has them. */
static gph_status read_ledger(gph_cache *cache, gph_ledger_entry **out, uint32_t *count,
                              uint32_t *capacity, gph_error *error)
{
    gph_arena *arena = gph_pool_arena(cache->pool);
    GPHI_TRY(gph_ledger_get(arena, NULL, 0, count, NULL, error));
    *capacity = *count + SLACK;
    *out = gphi_heap_array(cache->runtime->heap, *capacity, sizeof(**out));
    GPHI_TRY(gphi_made(error, *out, "a ledger of %u lines", *count));
    const gph_status status = gph_ledger_get(arena, *out, *capacity, count, NULL, error);
    *count = *count < *capacity ? *count : *capacity;
    if (status != GPH_OK) {
        gphi_heap_free(cache->runtime->heap, *out, *capacity * sizeof(**out));
        *out = NULL;
    }
    return status;
}

/* By pool and number: the ledger knows recordings, not keys. */
static void note_bytes(gph_cache *cache, const gph_ledger_entry *lines, uint32_t count)
{
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        gphi_entry *entry = cache->buckets[k].entry;
        for (uint32_t i = 0; i < count && entry; i++)
            if (lines[i].kind == GPH_LEDGER_RECORDING && lines[i].object == cache->pool &&
                lines[i].id == entry->record->id) {
                entry->own_bytes = lines[i].own_bytes;
                entry->shared_bytes = lines[i].shared_bytes;
                break;
            }
    }
}

gph_status gphi_cache_count(gph_cache *cache, uint64_t *out, gph_error *error)
{
    gphi_vec spans, ranges;
    gph_ledger_entry *lines = NULL;
    uint32_t line_count = 0, capacity = 0;
    if (cache->is_counted) {
        *out = cache->covered;
        return GPH_OK;
    }
    gphi_vec_init(&spans, cache->runtime->heap, sizeof(struct span));
    gphi_vec_init(&ranges, cache->runtime->heap, sizeof(gph_pool_range));
    gph_status status = GPH_OK;
    for (uint32_t k = 0; k < cache->layout.key_count && status == GPH_OK; k++)
        if (cache->buckets[k].entry)
            status = add_ranges(cache, cache->buckets[k].entry->record, &ranges, &spans,
                                error);
    GPHI_THEN(status, read_ledger(cache, &lines, &line_count, &capacity, error));
    if (status == GPH_OK) {
        note_bytes(cache, lines, line_count);
        cache->covered = cache->input_bytes + cover(spans.items, spans.count);
        cache->is_counted = true;
        *out = cache->covered;
    }
    gphi_heap_free(cache->runtime->heap, lines, capacity * sizeof(*lines));
    gphi_vec_fini(&ranges);
    gphi_vec_fini(&spans);
    return status;
}

/* What would be free without the key. */
static uint64_t gain(const gph_cache *cache, uint32_t key)
{
    const gphi_entry *entry = cache->buckets[key].entry;
    uint64_t bytes = entry->own_bytes + entry->own_exec_bytes;
    if (entry->class_index != GPHI_CLASS_NONE &&
        gphi_class_at(cache, entry->class_index)->users == 1)
        bytes += gphi_class_at(cache, entry->class_index)->bytes;
    return bytes;
}

gph_status gphi_cache_over(gph_cache *cache, uint32_t spared, uint32_t *key,
                           gph_error *error)
{
    uint64_t bytes = 0;
    *key = GPH_CACHE_NONE;
    if (cache->options.budget_bytes == 0)
        return GPH_OK;
    GPHI_TRY(gphi_cache_count(cache, &bytes, error));
    bytes += gphi_cache_exec_bytes(cache);
    if (bytes <= cache->options.budget_bytes)
        return GPH_OK;
    uint32_t oldest = 0;
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        gphi_bucket *bucket = &cache->buckets[k];
        if (!bucket->entry || k == spared || gain(cache, k) == 0)
            continue;
        const uint32_t used = atomic_load_explicit(&bucket->used, memory_order_relaxed);
        const uint32_t now = atomic_load_explicit(&cache->tick, memory_order_relaxed);
        if (*key == GPH_CACHE_NONE || now - used > oldest) {
            *key = k;
            oldest = now - used;
        }
    }
    return GPH_OK;
}
