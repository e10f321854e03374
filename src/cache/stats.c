// SPDX-License-Identifier: Apache-2.0
/* Figures, and the table of them. Counters are relaxed atomics, which replays raise
 * without a lock, so a reading is of no single moment: sums may be ahead of their parts
 * by the calls under way. */
#include "base/fail.h"
#include "base/text.h"
#include "cache/cache.h"

#include <gph/cache_figures.h>

#include <stdio.h>

static uint64_t get(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void read_key(gph_cache *cache, uint32_t key, gph_cache_key_info *out)
    GPHI_REQUIRES(&cache->mutex)
{
    const gphi_bucket *bucket = &cache->buckets[key];
    const gphi_entry *entry = bucket->entry;
    *out = (gph_cache_key_info){.reason = gphi_layout_state(&cache->layout, key),
                                .warmup_ms = bucket->warmup_ms,
                                .capture_ms = bucket->capture_ms,
                                .exact = get(&bucket->exact),
                                .padded = get(&bucket->padded),
                                .misses = get(&bucket->misses),
                                .waste = get(&bucket->waste),
                                .captures = bucket->captures,
                                .evictions = bucket->evictions,
                                .status = bucket->status};
    gphi_layout_values(&cache->layout, key, out->values);
    if (bucket->message && bucket->status != GPH_OK)
        snprintf(out->message, sizeof(out->message), "%s", bucket->message);
    if (!entry)
        return;
    const bool is_own = atomic_load_explicit(&bucket->own, memory_order_relaxed);
    out->exec = is_own ? GPH_CACHE_EXEC_OWN : GPH_CACHE_EXEC_SHARED;
    out->node_count = entry->node_count;
    out->own_bytes = entry->own_bytes;
    out->shared_bytes = entry->shared_bytes;
    out->exec_bytes = entry->own_exec_bytes;
    for (uint32_t k = 0; k < cache->layout.key_count && !is_own; k++) {
        const gphi_bucket *other = &cache->buckets[k];
        out->shared_with += other->entry &&
                            other->entry->class_index == entry->class_index &&
                            !atomic_load_explicit(&other->own, memory_order_relaxed);
    }
}

gph_status gph_cache_key_get(const gph_cache *cache, uint32_t key,
                             gph_cache_key_info *out, gph_error *error)
{
    if (!cache || !out || key >= cache->layout.key_count)
        return gphi_fail(error, GPH_E_INVALID, "key %u: there is none", key);
    gph_cache *self = (gph_cache *)cache; /* for the lock, and for what is counted */
    gph_cache_key_info info;
    uint64_t bytes = 0;
    gphi_mutex_lock(&self->mutex);
    const gph_status status =
        cache->buckets[key].entry ? gphi_cache_count(self, &bytes, error) : GPH_OK;
    if (status == GPH_OK)
        read_key(self, key, &info);
    gphi_mutex_unlock(&self->mutex);
    if (status == GPH_OK)
        gphi_struct_write(out, &info, sizeof(info));
    return status;
}

static void read_stats(gph_cache *cache, gph_cache_stats *out)
    GPHI_REQUIRES(&cache->mutex)
{
    *out = (gph_cache_stats){.updates = get(&cache->updates),
                             .captures = get(&cache->captures),
                             .evictions = get(&cache->evictions),
                             .real_units = get(&cache->real_units),
                             .padded_units = get(&cache->padded_units),
                             .exec_bytes = gphi_cache_exec_bytes(cache),
                             .input_bytes = cache->input_bytes};
    out->verdicts[GPH_CACHE_EAGER] = get(&cache->eager);
    out->verdicts[GPH_CACHE_MISS] = get(&cache->missed);
    for (int i = 0; i < GPH_CACHE_REASON_COUNT; i++)
        out->reasons[i] = get(&cache->reasons[i]);
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        const gphi_bucket *bucket = &cache->buckets[k];
        out->verdicts[GPH_CACHE_EXACT] += get(&bucket->exact);
        out->verdicts[GPH_CACHE_PADDED] += get(&bucket->padded);
        out->captured_count += bucket->entry != NULL;
        out->own_count +=
            atomic_load_explicit(&bucket->own, memory_order_relaxed) != NULL;
    }
    for (uint32_t i = 0; i < cache->classes.count; i++) {
        const gphi_class *class = gphi_class_at(cache, i);
        out->shared_count += class->exec || class->patch;
        out->patched_count += class->patch != NULL;
    }
    gph_error ignored;
    if (gphi_cache_count(cache, &out->tensor_bytes, &ignored) != GPH_OK)
        out->tensor_bytes = 0;
}

void gph_cache_stats_get(const gph_cache *cache, gph_cache_stats *out)
{
    gph_cache *self = (gph_cache *)cache; /* for the lock */
    gph_cache_stats stats = {0};
    if (!out)
        return;
    if (cache) {
        gphi_mutex_lock(&self->mutex);
        read_stats(self, &stats);
        gphi_mutex_unlock(&self->mutex);
    }
    gphi_struct_write(out, &stats, sizeof(stats));
}

/* ---- text ---- */

static void put_key(gphi_text *text, const gph_cache *cache,
                    const gph_cache_key_info *info)
{
    static const char *const execs[] = {"-", "own", "shared"};
    char name[64];
    gphi_layout_name(&cache->layout, info->values, name, sizeof(name));
    gphi_text_add(
        text, "%-28s %-6s %6u %8.2f %8.2f %10llu %10llu %9llu %9llu %7llu %9llu", name,
        execs[info->exec], info->node_count, info->warmup_ms, info->capture_ms,
        (unsigned long long)(info->own_bytes + info->shared_bytes),
        (unsigned long long)info->exec_bytes, (unsigned long long)info->exact,
        (unsigned long long)info->padded, (unsigned long long)info->misses,
        (unsigned long long)info->waste);
    if (info->reason != GPH_CACHE_FITS)
        gphi_text_add(text, "  %s", gph_cache_reason_text(info->reason));
    if (info->message[0] != '\0')
        gphi_text_add(text, ": %s", info->message);
    gphi_text_put(text, "\n");
}

/* Of all calls, since a table of keys does not show those that no key served. */
static void put_totals(gphi_text *text, const gph_cache_stats *stats)
{
    gphi_text_add(
        text,
        "%u captured, %u executables of their own, %u shared; replays: %llu exact, %llu "
        "padded; without: %llu eager, %llu missed\n",
        stats->captured_count, stats->own_count, stats->shared_count,
        (unsigned long long)stats->verdicts[GPH_CACHE_EXACT],
        (unsigned long long)stats->verdicts[GPH_CACHE_PADDED],
        (unsigned long long)stats->verdicts[GPH_CACHE_EAGER],
        (unsigned long long)stats->verdicts[GPH_CACHE_MISS]);
    for (int i = 1; i < GPH_CACHE_REASON_COUNT; i++)
        if (stats->reasons[i] > 0)
            gphi_text_add(text, "  %llu calls: %s\n",
                          (unsigned long long)stats->reasons[i],
                          gph_cache_reason_text((gph_cache_reason)i));
    gphi_text_add(
        text,
        "bytes: %llu tensors (%llu of them inputs), %llu executables; %llu updates, %llu "
        "evictions; padding %.1f %%\n",
        (unsigned long long)stats->tensor_bytes, (unsigned long long)stats->input_bytes,
        (unsigned long long)stats->exec_bytes, (unsigned long long)stats->updates,
        (unsigned long long)stats->evictions,
        stats->padded_units > 0
            ? 100.0 * (double)(stats->padded_units - stats->real_units) /
                  (double)stats->padded_units
            : 0.0);
}

/* Keys that were never wanted are left out: of a product of axes they are the most. */
gph_status gph_cache_write(const gph_cache *cache, gph_write_fn *write, void *user,
                           gph_error *error)
{
    GPHI_TRY(gphi_need(error, cache, write));
    gph_cache *self = (gph_cache *)cache; /* for the lock */
    gph_cache_stats stats = {0};
    /* put together under the lock, handed over without: `write` may call the cache */
    char buffer[64];
    gphi_text text, out;
    gphi_text_init(&text, cache->runtime->heap);
    gphi_text_stream(&out, buffer, sizeof(buffer), write, user);
    gphi_mutex_lock(&self->mutex);
    read_stats(self, &stats);
    gphi_text_add(&text,
                  "%s: %u keys\n%-28s %-6s %6s %8s %8s %10s %10s %9s %9s %7s %9s\n",
                  cache->name, cache->layout.key_count, "key", "exec", "nodes", "warm ms",
                  "capt ms", "tensors", "exec", "exact", "padded", "missed", "waste");
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        gph_cache_key_info info;
        read_key(self, k, &info);
        if (info.reason != GPH_CACHE_NOT_WANTED)
            put_key(&text, cache, &info);
    }
    gphi_mutex_unlock(&self->mutex);
    put_totals(&text, &stats);
    gph_status status = gphi_text_end(&text, error);
    if (status == GPH_OK) {
        gphi_text_put_bytes(&out, text.bytes, text.length);
        status = gphi_text_end(&out, error);
    }
    gphi_text_fini(&text);
    return status;
}
