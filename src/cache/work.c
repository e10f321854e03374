// SPDX-License-Identifier: Apache-2.0
/* What is due between two steps: one thing at a time, so that no step waits long. */
#include "base/fail.h"
#include "cache/cache.h"
#include "cuda/status.h"

/* The key that was missed most often since it was last tried; GPH_CACHE_NONE if none was
 * missed often enough. */
static uint32_t most_missed(const gph_cache *cache) GPHI_REQUIRES(&cache->mutex)
{
    uint32_t best = GPH_CACHE_NONE;
    for (uint32_t k = 0; k < cache->layout.key_count; k++) {
        const gphi_bucket *bucket = &cache->buckets[k];
        const gph_cache_reason state = gphi_layout_state(&cache->layout, k);
        if (bucket->asked < cache->options.lazy_misses || state == GPH_CACHE_FITS ||
            state == GPH_CACHE_FAILED || state == GPH_CACHE_NOT_WANTED)
            continue;
        if (best == GPH_CACHE_NONE || bucket->asked > cache->buckets[best].asked)
            best = k;
    }
    return best;
}

/* The oldest key goes: first its own executable, if another one can replay it. */
static gph_status evict(gph_cache *cache, uint32_t key, CUstream stream,
                        gph_cache_work_kind *kind, gph_error *error)
{
    gph_status status = GPH_OK;
    GPHI_TRY(gphi_cuda_check(error, cache->runtime->cu.cuStreamSynchronize(stream),
                             "cuStreamSynchronize", "%s, before key %u is evicted",
                             cache->name, key));
    *kind = GPH_CACHE_WORK_EVICT;
    gphi_mutex_lock(&cache->mutex);
    const gphi_entry *entry = cache->buckets[key].entry;
    const gphi_class *class = entry->class_index == GPHI_CLASS_NONE
                                  ? NULL
                                  : gphi_class_at(cache, entry->class_index);
    if (entry->own_exec_bytes > 0 && class && (class->exec || class->patch)) {
        status = gphi_cache_unown(cache, key, error);
        *kind = GPH_CACHE_WORK_SHARE;
    }
    gphi_mutex_unlock(&cache->mutex);
    if (*kind != GPH_CACHE_WORK_EVICT)
        return status;
    gphi_cache_evict(cache, key);
    return GPH_OK;
}

/* Finds what is due; own executables are given and taken here. */
static gph_status look(gph_cache *cache, CUstream stream, gph_cache_work_kind *kind,
                       uint32_t *key, gph_error *error)
{
    gphi_mutex_lock(&cache->mutex);
    gphi_cache_reap(cache, false);
    gph_status status = gphi_cache_over(cache, GPH_CACHE_NONE, key, error);
    if (status == GPH_OK && *key != GPH_CACHE_NONE) {
        *kind = GPH_CACHE_WORK_EVICT;
    } else if (status == GPH_OK) {
        *key = cache->options.lazy == GPH_CACHE_LAZY_OFF ? GPH_CACHE_NONE
                                                         : most_missed(cache);
        if (*key != GPH_CACHE_NONE)
            *kind = GPH_CACHE_WORK_CAPTURE;
        else
            status = gphi_cache_decide(cache, kind, key, error);
    }
    if (status == GPH_OK && *kind == GPH_CACHE_WORK_OWN)
        status = gphi_cache_own(cache, *key, stream, error);
    else if (status == GPH_OK && *kind == GPH_CACHE_WORK_SHARE)
        status = gphi_cache_unown(cache, *key, error);
    gphi_cache_reap(cache, false);
    gphi_mutex_unlock(&cache->mutex);
    return status;
}

gph_status gph_cache_work(gph_cache *cache, CUstream stream, gph_cache_work_kind *done,
                          uint32_t *key, gph_error *error)
{
    GPHI_TRY(gphi_need(error, cache, stream));
    GPHI_TRY(gphi_cache_busy(cache, error));
    gph_cache_work_kind kind = GPH_CACHE_WORK_NONE;
    uint32_t at = GPH_CACHE_NONE;
    gph_status status = look(cache, stream, &kind, &at, error);
    if (status == GPH_OK && kind == GPH_CACHE_WORK_EVICT)
        status = evict(cache, at, stream, &kind, error);
    if (status == GPH_OK && kind == GPH_CACHE_WORK_CAPTURE) {
        gphi_mutex_lock(&cache->call);
        status = gphi_cache_capture_lazy(cache, at, stream, error);
        gphi_mutex_unlock(&cache->call);
    }
    gphi_cache_idle(cache);
    if (status == GPH_OK && done)
        *done = kind;
    if (status == GPH_OK && key)
        *key = at;
    return status;
}
