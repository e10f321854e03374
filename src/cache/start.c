// SPDX-License-Identifier: Apache-2.0
/* Recording: all keys are run first, then all are captured, the largest first. Only then
 * is every workspace as large as it gets before an address of it is recorded, and every
 * graph lies in memory that the largest one has taken already.
 *
 *   start ── warm up all keys ── capture all, the largest first ── serve
 *      └── GPH_CACHE_WARM_LARGEST: warm up the largest only; if a capture then fails, or
 *          keeps memory, a run was needed: all is dropped and done the long way
 *      └── GPH_CACHE_WARM_KERNELS: as that, but what was captured is looked at; keys with
 *          kernels that no key has run are run, and all are captured once more
 *
 * One thread captures at a time (`busy`); others replay meanwhile, so a key becomes
 * visible by one store after everything it needs is in place. What a capture kept
 * allocated may be somebody's workspace: its recording is parked when its key goes,
 * never freed. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cache/cache.h"
#include "cuda/status.h"
#include "event/note.h"
#include "memory/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gph_status gphi_cache_busy(gph_cache *cache, gph_error *error)
{
    bool idle = false;
    if (!atomic_compare_exchange_strong_explicit(
            &cache->busy, &idle, true, memory_order_acquire, memory_order_relaxed))
        return gphi_fail(error, GPH_E_STATE, "%s: another thread captures keys",
                         cache->name);
    return GPH_OK;
}

void gphi_cache_idle(gph_cache *cache)
{
    atomic_store_explicit(&cache->busy, false, memory_order_release);
}

static gphi_record_spec make_spec(const gph_cache *cache, const gph_tensor *inputs,
                                  const uint8_t *modes, const int64_t *values,
                                  gphi_run *run, CUstream stream)
{
    return (gphi_record_spec){.function = gphi_cache_function,
                              .user = run,
                              .arguments = {.inputs = inputs,
                                            .input_count = cache->layout.input_count + 1,
                                            .key = values,
                                            .key_count = cache->layout.axis_count},
                              .modes = modes,
                              .name = cache->name,
                              .pool = cache->pool,
                              .stream = stream,
                              .rng = cache->options.rng,
                              .flags = GPHI_RECORD_NO_EXEC | GPHI_RECORD_KEEP_GRAPH};
}

/* What a recording or a run needs beside the cache: inputs, modes, outputs. */
struct scratch {
    gph_tensor *tensors; /* inputs, sizes, outputs */
    uint8_t *modes;
    uint32_t count, input_count;
};

static gph_status scratch_init(struct scratch *out, const gph_cache *cache,
                               gph_error *error)
{
    out->input_count = cache->layout.input_count + 1;
    out->count = out->input_count + cache->layout.output_count;
    out->tensors =
        gphi_heap_array(cache->runtime->heap, out->count, sizeof(*out->tensors));
    out->modes = gphi_heap_alloc(cache->runtime->heap, out->input_count);
    GPHI_TRY(gphi_made(error, out->tensors && out->modes, "%u tensors", out->count));
    memset(out->modes, GPH_INPUT_STATIC, out->input_count);
    return GPH_OK;
}

static void scratch_fini(struct scratch *scratch, const gph_cache *cache)
{
    gphi_heap_free(cache->runtime->heap, scratch->tensors,
                   scratch->count * sizeof(*scratch->tensors));
    gphi_heap_free(cache->runtime->heap, scratch->modes, scratch->input_count);
}

static gph_status synchronize(const gph_cache *cache, CUstream stream, const char *what,
                              gph_error *error)
{
    return gphi_cuda_check(error, cache->runtime->cu.cuStreamSynchronize(stream),
                           "cuStreamSynchronize", "%s %s", cache->name, what);
}

static gph_status run_warm(gph_cache *cache, uint32_t key, struct scratch *scratch,
                           CUstream stream, gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    int64_t values[GPH_CACHE_AXES_MAX], sizes[GPH_CACHE_AXES_MAX] = {0};
    gphi_layout_values(layout, key, values);
    for (uint32_t a = 0; a < layout->axis_count; a++)
        if (layout->axes[a].is_discrete)
            sizes[a] = values[a];
    GPHI_TRY(gphi_cache_fill(cache, key, sizes, stream, error));
    GPHI_TRY(gphi_cache_sizes_write(cache, values, stream, error));
    GPHI_TRY(gphi_cache_inputs(cache, values, scratch->tensors, error));
    gphi_run run = {.cache = cache, .outputs = scratch->tensors + scratch->input_count};
    const gphi_record_spec spec =
        make_spec(cache, scratch->tensors, scratch->modes, values, &run, stream);
    for (uint32_t i = 0; i < cache->options.warmup; i++)
        GPHI_TRY(gphi_function_run(cache->runtime, &spec, GPH_PHASE_WARMUP, stream, NULL,
                                   error));
    return synchronize(cache, stream, "after a warm-up", error);
}

gph_status gphi_cache_warm(gph_cache *cache, uint32_t key, CUstream stream,
                           gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    struct scratch scratch = {0};
    gph_status status = scratch_init(&scratch, cache, error);
    if (status == GPH_OK) {
        gphi_cache_unlend(cache);
        status = run_warm(cache, key, &scratch, stream, error);
    }
    scratch_fini(&scratch, cache);
    gphi_mutex_lock(&cache->mutex);
    cache->buckets[key].warmup_ms = (double)(gphi_clock_ns() - begin) * 1e-6;
    gphi_mutex_unlock(&cache->mutex);
    return status;
}

/* ---- capture ---- */

static void entry_destroy(gph_cache *cache, gphi_entry *entry)
{
    if (!entry)
        return;
    gphi_record_destroy(entry->record);
    gphi_heap_free(cache->runtime->heap, entry->outputs,
                   cache->layout.output_count * sizeof(*entry->outputs));
    gphi_heap_free(cache->runtime->heap, entry, sizeof(*entry));
}

/* Whether a recording left memory allocated beside outputs: a workspace that somebody
 * keeps, made after the first address was recorded. */
static gph_status keeps_memory(const gph_cache *cache, gph_recording_id id, bool *out,
                               gph_error *error)
{
    gphi_vec ranges;
    gphi_vec_init(&ranges, cache->runtime->heap, sizeof(gph_pool_range));
    const gph_status status = gphi_pool_list(cache->pool, id, 0, &ranges, error);
    *out = false;
    for (size_t i = 0; i < ranges.count; i++)
        *out |= ((const gph_pool_range *)gphi_vec_at(&ranges, i))->kind == GPH_RANGE_KEPT;
    gphi_vec_fini(&ranges);
    return status;
}

static gph_status count_graph(gph_cache *cache, gphi_entry *entry, gph_error *error)
{
    const gphi_cuda_table *cu = &cache->runtime->cu;
    size_t nodes = 0, edges = 0;
    CUresult result = cu->cuGraphGetNodes(entry->record->graph, NULL, &nodes);
    GPHI_THEN(result,
              cu->cuGraphGetEdges(entry->record->graph, NULL, NULL, NULL, &edges));
    GPHI_TRY(gphi_cuda_check(error, result, "cuGraphGetEdges", "graph %p",
                             (void *)entry->record->graph));
    entry->node_count = (uint32_t)nodes;
    entry->edge_count = (uint32_t)edges;
    /* so that what it keeps can always be kept on */
    GPHI_TRY(gphi_made(
        error, gphi_vec_reserve(&cache->parked, cache->layout.key_count) == GPH_OK,
        "%u recordings", cache->layout.key_count));
    return keeps_memory(cache, entry->record->id, &entry->keeps, error);
}

static gph_status record(gph_cache *cache, uint32_t key, gphi_entry *entry,
                         CUstream stream, gph_error *error)
{
    struct scratch scratch = {0};
    int64_t values[GPH_CACHE_AXES_MAX];
    char name[96], text[64];
    gphi_layout_values(&cache->layout, key, values);
    gphi_layout_name(&cache->layout, values, text, sizeof(text));
    snprintf(name, sizeof(name), "%.24s %s", cache->name, text);
    gph_status status = scratch_init(&scratch, cache, error);
    GPHI_THEN(status, gphi_cache_inputs(cache, values, scratch.tensors, error));
    if (status == GPH_OK) {
        gphi_run run = {.cache = cache, .outputs = entry->outputs};
        gphi_record_spec spec =
            make_spec(cache, scratch.tensors, scratch.modes, values, &run, stream);
        spec.name = name;
        status = gphi_record_create(cache->runtime, &spec, &entry->record, error);
    }
    scratch_fini(&scratch, cache);
    GPHI_THEN(status, count_graph(cache, entry, error));
    return status;
}

/* One that is destroyed by entry_destroy() at any point of its making. */
static gphi_entry *entry_create(const gph_cache *cache)
{
    gphi_entry *entry = gphi_heap_alloc(cache->runtime->heap, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->class_index = GPHI_CLASS_NONE;
    if (cache->layout.output_count == 0)
        return entry;
    entry->outputs = gphi_heap_array(cache->runtime->heap, cache->layout.output_count,
                                     sizeof(*entry->outputs));
    if (entry->outputs)
        return entry;
    gphi_heap_free(cache->runtime->heap, entry, sizeof(*entry));
    return NULL;
}

/* The key is the entry's from now on. */
static gph_status install(gph_cache *cache, uint32_t key, gphi_entry *entry,
                          CUstream stream, gph_error *error)
{
    gphi_bucket *bucket = &cache->buckets[key];
    gphi_mutex_lock(&cache->mutex);
    const gph_status status = gphi_cache_attach(cache, key, entry, stream, error);
    if (status == GPH_OK) {
        bucket->entry = entry;
        cache->is_counted = false;
        /* no key is evicted for what it could not do yet */
        atomic_store_explicit(&bucket->used,
                              atomic_load_explicit(&cache->tick, memory_order_relaxed),
                              memory_order_relaxed);
        bucket->asked = 0;
        bucket->seen = gphi_bucket_replays(bucket);
        bucket->status = GPH_OK;
        gphi_layout_mark(&cache->layout, key, GPH_CACHE_FITS);
    }
    gphi_mutex_unlock(&cache->mutex);
    return status;
}

gph_status gphi_cache_capture(gph_cache *cache, uint32_t key, CUstream stream,
                              gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    gphi_bucket *bucket = &cache->buckets[key];
    gphi_entry *entry = entry_create(cache);
    GPHI_TRY(gphi_made(error, entry, "key %u", key));
    gph_status status = record(cache, key, entry, stream, error);
    GPHI_THEN(status, install(cache, key, entry, stream, error));
    if (status != GPH_OK) {
        entry_destroy(cache, entry);
        return status;
    }
    const uint64_t ns = gphi_clock_ns() - begin;
    gphi_mutex_lock(&cache->mutex);
    bucket->captures++;
    bucket->capture_ms = (double)ns * 1e-6;
    const uint64_t bytes = entry->own_exec_bytes;
    gphi_mutex_unlock(&cache->mutex);
    const uint64_t words[] = {(uint64_t)(uintptr_t)cache, key, ns, bytes};
    gphi_note(GPHI_NOTE_CACHE_RECORD, cache->name, words, 4);
    atomic_fetch_add_explicit(&cache->captures, 1, memory_order_relaxed);
    return GPH_OK;
}

/* An entry whose graph was loaded instead of captured. On failure graph and recording
 * are the caller's again. */
gph_status gphi_cache_adopt(gph_cache *cache, uint32_t key, CUgraph graph,
                            gph_recording_id id, const gph_tensor *outputs,
                            CUstream stream, gph_error *error)
{
    gphi_entry *entry = entry_create(cache);
    GPHI_TRY(gphi_made(error, entry, "key %u", key));
    if (cache->layout.output_count > 0)
        memcpy(entry->outputs, outputs,
               cache->layout.output_count * sizeof(*entry->outputs));
    const gphi_record_spec spec = {.pool = cache->pool,
                                   .flags = GPHI_RECORD_NO_EXEC | GPHI_RECORD_KEEP_GRAPH};
    gph_status status =
        gphi_record_adopt(cache->runtime, &spec, NULL, graph, id, &entry->record, error);
    GPHI_THEN(status, count_graph(cache, entry, error));
    GPHI_THEN(status, install(cache, key, entry, stream, error));
    if (status == GPH_OK)
        return GPH_OK;
    if (entry->record) { /* they stay the caller's */
        entry->record->graph = NULL;
        entry->record->id = 0;
    }
    entry_destroy(cache, entry);
    return status;
}

void gphi_cache_drop(gph_cache *cache, uint32_t key, gph_cache_reason why)
{
    gphi_bucket *bucket = &cache->buckets[key];
    gphi_mutex_lock(&cache->mutex);
    gphi_entry *entry = bucket->entry;
    bucket->entry = NULL;
    cache->is_counted = false;
    if (entry) {
        gphi_layout_mark(&cache->layout, key, why);
        gphi_cache_detach(cache, key, entry);
    }
    if (entry && entry->keeps) { /* somebody uses what it allocated */
        gphi_record **place = gphi_vec_add(&cache->parked, 1);
        if (place)
            *place = entry->record;
        entry->record = place ? NULL : entry->record;
    }
    gphi_mutex_unlock(&cache->mutex);
    entry_destroy(cache, entry);
}

/* The message is kept for gph_cache_key_get(): the start goes on with the other keys,
 * and its own error is the first one alone. */
static void note_failure(gph_cache *cache, uint32_t key, gph_status status,
                         const gph_error *error)
{
    gphi_bucket *bucket = &cache->buckets[key];
    const gph_allocator heap = cache->runtime->heap;
    gphi_mutex_lock(&cache->mutex);
    gphi_heap_text_free(heap, bucket->message);
    bucket->message = gphi_heap_text(heap, error->message); /* NULL: no text, then */
    bucket->status = status;
    bucket->asked = 0;
    gphi_layout_mark(&cache->layout, key, GPH_CACHE_FAILED);
    gphi_mutex_unlock(&cache->mutex);
    gphi_log("cache", GPH_LOG_WARN, "%s: key %u is not captured: %s", cache->name, key,
             error->message);
}

gph_status gphi_cache_capture_lazy(gph_cache *cache, uint32_t key, CUstream stream,
                                   gph_error *error)
{
    gph_error own = {0};
    gph_error *why = error ? error : &own;
    gph_status status = gphi_cache_warm(cache, key, stream, why);
    GPHI_THEN(status, gphi_cache_capture(cache, key, stream, why));
    if (status != GPH_OK)
        note_failure(cache, key, status, why);
    gphi_layout_serve(&cache->layout);
    return status;
}

/* ---- start ---- */

struct start {
    gph_cache *cache;
    CUstream stream;
    uint32_t *keys; /* the largest first */
    uint8_t *failed;
    uint32_t count, capacity, failed_count;
    gph_cache_progress_fn *progress;
    void *user;
    uint64_t begin;
    bool is_quick;   /* only the largest was run */
    gph_error first; /* failure */
};

struct rank {
    double volume;
    uint32_t key;
};

static int larger(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->volume != y->volume)
        return x->volume < y->volume ? 1 : -1;
    return (x->key < y->key) - (x->key > y->key);
}

/* The keys to capture, the largest first; those captured already are left out. */
static gph_status order_keys(struct start *start, const uint32_t *keys, uint32_t count,
                             gph_error *error)
{
    gph_cache *cache = start->cache;
    const gph_allocator heap = cache->runtime->heap;
    start->capacity = keys ? count : cache->layout.key_count;
    if (start->capacity == 0)
        return GPH_OK;
    struct rank *ranks = gphi_heap_array(heap, start->capacity, sizeof(*ranks));
    start->keys = gphi_heap_array(heap, start->capacity, sizeof(*start->keys));
    start->failed = gphi_heap_alloc(heap, start->capacity);
    gph_status status = gphi_made(error, ranks && start->keys && start->failed, "%u keys",
                                  start->capacity);
    for (uint32_t i = 0; i < start->capacity && status == GPH_OK; i++) {
        const uint32_t key = keys ? keys[i] : i;
        if (key >= cache->layout.key_count)
            status = gphi_fail(error, GPH_E_INVALID, "keys[%u] is %u of %u", i, key,
                               cache->layout.key_count);
        else if (gphi_layout_state(&cache->layout, key) == GPH_CACHE_NOT_WANTED && keys)
            status = gphi_fail(error, GPH_E_INVALID, "keys[%u] is %u: %s", i, key,
                               gph_cache_reason_text(GPH_CACHE_NOT_WANTED));
        else if (gphi_layout_state(&cache->layout, key) != GPH_CACHE_NOT_WANTED &&
                 gphi_layout_state(&cache->layout, key) != GPH_CACHE_FITS)
            ranks[start->count++] = (struct rank){cache->layout.volume[key], key};
    }
    if (status == GPH_OK)
        qsort(ranks, start->count, sizeof(*ranks), larger);
    uint32_t used = 0; /* a key may occur twice in the caller's list */
    for (uint32_t i = 0; i < start->count && status == GPH_OK; i++)
        if (used == 0 || start->keys[used - 1] != ranks[i].key)
            start->keys[used++] = ranks[i].key;
    start->count = used;
    gphi_heap_free(heap, ranks, start->capacity * sizeof(*ranks));
    return status;
}

/* What is left is predicted from the mean of what is done: a capture costs about what a
 * warm-up does, and keys come from the largest down, so it errs upwards. */
static gph_status call_progress(const struct start *start, gph_phase phase, uint32_t done,
                                gph_error *error)
{
    const uint64_t ns = gphi_clock_ns() - start->begin;
    const uint32_t rest = start->count - done;
    gph_cache_progress now = {
        .phase = (uint32_t)phase,
        .done = done,
        .total = start->count,
        .key = start->keys[done - 1],
        .ns = ns,
        .left_ns = phase == GPH_PHASE_WARMUP ? ns / done * (start->count + rest)
                   : start->is_quick         ? ns / done * rest
                                             : ns / (start->count + done) * rest};
    if (!start->progress || start->progress(start->user, &now) == 0)
        return GPH_OK;
    return gphi_fail(error, GPH_E_STATE, "the start was ended after %u of %u keys (%s)",
                     done, start->count,
                     phase == GPH_PHASE_CAPTURE ? "capture" : "warm-up");
}

static void fail_key(struct start *start, uint32_t index, gph_status status,
                     const gph_error *error)
{
    start->failed[index] = 1;
    if (start->failed_count++ == 0)
        start->first = *error;
    note_failure(start->cache, start->keys[index], status, error);
}

/* Captured, but over the budget: the key is let go, the larger ones stay. */
static gph_status keep_budget(struct start *start, uint32_t index, gph_error *error)
{
    gph_cache *cache = start->cache;
    uint32_t other = GPH_CACHE_NONE;
    if (cache->options.budget_bytes == 0)
        return GPH_OK;
    gphi_mutex_lock(&cache->mutex);
    const gph_status status = gphi_cache_over(cache, GPH_CACHE_NONE, &other, error);
    gphi_mutex_unlock(&cache->mutex);
    if (status == GPH_OK && other != GPH_CACHE_NONE)
        gphi_cache_drop(cache, start->keys[index], GPH_CACHE_EVICTED);
    return status;
}

static gph_status run_phase(struct start *start, gph_phase phase, gph_error *error)
{
    for (uint32_t i = 0; i < start->count; i++) {
        gph_cache *cache = start->cache;
        gph_error own = {0};
        gph_status status = GPH_OK;
        gphi_mutex_lock(&cache->call); /* calls come in between two keys */
        if (phase == GPH_PHASE_WARMUP)
            status = gphi_cache_warm(cache, start->keys[i], start->stream, &own);
        else if (start->failed[i] == 0)
            status = gphi_cache_capture(cache, start->keys[i], start->stream, &own);
        gphi_mutex_unlock(&cache->call);
        if (phase == GPH_PHASE_CAPTURE && start->failed[i] == 0 && status == GPH_OK)
            status = keep_budget(start, i, &own);
        if (status != GPH_OK)
            fail_key(start, i, status, &own);
        GPHI_TRY(call_progress(start, phase, i + 1, error));
    }
    return GPH_OK;
}

static gph_status report(const struct start *start, gph_error *error)
{
    if (start->failed_count == 0)
        return GPH_OK;
    gphi_fail(error, start->first.code, "%u of %u keys failed, first: %.400s",
              start->failed_count, start->count, start->first.message);
    if (error)
        error->call = start->first.call;
    return start->first.code;
}

/* Captures a key that was not run before. False: that cannot be relied on. */
static bool capture_unwarmed(const struct start *start, uint32_t index, gph_error *why)
{
    gph_cache *cache = start->cache;
    gphi_mutex_lock(&cache->call);
    const gph_status status =
        gphi_cache_capture(cache, start->keys[index], start->stream, why);
    gphi_mutex_unlock(&cache->call);
    if (status != GPH_OK)
        return false;
    if (!cache->buckets[start->keys[index]].entry->keeps)
        return true;
    gphi_fail(why, GPH_E_STATE, "key %u keeps memory that it allocated in its capture",
              start->keys[index]);
    return false;
}

static bool warm_quickly(const struct start *start, uint32_t index, gph_error *why)
{
    gph_cache *cache = start->cache;
    gphi_mutex_lock(&cache->call);
    const gph_status status =
        gphi_cache_warm(cache, start->keys[index], start->stream, why);
    gphi_mutex_unlock(&cache->call);
    return status == GPH_OK;
}

static void drop_all(const struct start *start)
{
    for (uint32_t i = 0; i < start->count; i++)
        gphi_cache_drop(start->cache, start->keys[i], GPH_CACHE_NOT_CAPTURED);
}

/* Whatever a run would have brought about (a workspace, a kernel that is loaded) shows in
 * a capture: it fails, or keeps memory. Then `done` is false, and `why` says it. */
static gph_status capture_quickly(struct start *start, bool *done, gph_error *why,
                                  gph_error *error)
{
    for (uint32_t i = 0; i < start->count && *done; i++) {
        *done = capture_unwarmed(start, i, why);
        if (!*done)
            break;
        GPHI_TRY(keep_budget(start, i, error));
        GPHI_TRY(call_progress(start, GPH_PHASE_CAPTURE, i + 1, error));
    }
    return GPH_OK;
}

/* Marks the keys whose graphs have kernels that none of the marked ones before them has,
 * and counts them; a key that was let go has none. */
static gph_status mark_new(const struct start *start, uint8_t *marked, uint32_t *count,
                           gph_error *error)
{
    gph_cache *cache = start->cache;
    gphi_map seen;
    gph_status status = GPH_OK;
    gphi_map_init(&seen, cache->runtime->heap);
    for (int pass = 0; pass < 2; pass++) /* first those that were run */
        for (uint32_t i = 0; i < start->count && status == GPH_OK; i++) {
            const gphi_entry *entry = cache->buckets[start->keys[i]].entry;
            bool is_new = false;
            if (!entry || (marked[i] != 0) != (pass == 0))
                continue;
            status = gphi_cache_see(cache, entry->record->graph, &seen, &is_new, error);
            if (pass == 0 || !is_new)
                continue;
            marked[i] = 1;
            (*count)++;
        }
    gphi_map_fini(&seen);
    return status;
}

/* Runs what has kernels of its own, and captures all again: a workspace that grew in
 * these runs may lie in what was captured before. `marked`: a byte a key. */
static gph_status warm_kernels(struct start *start, uint8_t *marked, bool *done,
                               gph_error *why, gph_error *error)
{
    uint32_t fresh = 0;
    marked[0] = 1;
    GPHI_TRY(mark_new(start, marked, &fresh, error));
    if (fresh == 0)
        return GPH_OK;
    drop_all(start);
    for (uint32_t i = 1; i < start->count && *done; i++)
        *done = marked[i] == 0 || warm_quickly(start, i, why);
    GPHI_TRY(capture_quickly(start, done, why, error));
    fresh = 0;
    if (*done)
        GPHI_TRY(mark_new(start, marked, &fresh, error));
    if (fresh > 0) {
        gphi_fail(why, GPH_E_STATE, "%u keys have other kernels once keys were run",
                  fresh);
        *done = false;
    }
    return GPH_OK;
}

/* Runs the largest key, or also those with kernels of their own, and captures all. Where
 * a run of another key was needed, `done` is false, and nothing is captured. */
static gph_status start_quickly(struct start *start, bool *done, gph_error *error)
{
    gph_cache *cache = start->cache;
    const gph_allocator heap = cache->runtime->heap;
    gph_error why = {0};
    *done = warm_quickly(start, 0, &why);
    GPHI_TRY(capture_quickly(start, done, &why, error));
    if (*done && cache->warms_kernels) {
        uint8_t *marked = gphi_heap_alloc(heap, start->count);
        GPHI_TRY(gphi_made(error, marked, "%u keys", start->count));
        const gph_status status = warm_kernels(start, marked, done, &why, error);
        gphi_heap_free(heap, marked, start->count);
        GPHI_TRY(status);
    }
    if (*done)
        return GPH_OK;
    gphi_log("cache", GPH_LOG_INFO, "%s: all keys are run first: %s", cache->name,
             why.message);
    drop_all(start);
    return GPH_OK;
}

static gph_status start_all(struct start *start, gph_error *error)
{
    bool done = false;
    const gph_cache *cache = start->cache;
    start->is_quick = (cache->warms_largest || cache->warms_kernels) && start->count > 1;
    if (start->is_quick)
        GPHI_TRY(start_quickly(start, &done, error));
    if (done)
        return GPH_OK;
    start->is_quick = false;
    GPHI_TRY(run_phase(start, GPH_PHASE_WARMUP, error));
    GPHI_TRY(run_phase(start, GPH_PHASE_CAPTURE, error));
    return report(start, error);
}

gph_status gph_cache_start(gph_cache *cache, CUstream stream, const uint32_t *keys,
                           uint32_t key_count, gph_cache_progress_fn *progress,
                           void *progress_user, gph_error *error)
{
    GPHI_TRY(gphi_need(error, cache, stream));
    GPHI_TRY(gphi_cache_busy(cache, error));
    struct start start = {.cache = cache,
                          .stream = stream,
                          .progress = progress,
                          .user = progress_user,
                          .begin = gphi_clock_ns()};
    gph_status status = order_keys(&start, keys, key_count, error);
    GPHI_THEN(status, start_all(&start, error));
    GPHI_THEN(status, synchronize(cache, stream, "after uploads", error));
    gphi_layout_serve(&cache->layout);
    gphi_heap_free(cache->runtime->heap, start.keys,
                   start.capacity * sizeof(*start.keys));
    gphi_heap_free(cache->runtime->heap, start.failed, start.capacity);
    gphi_cache_idle(cache);
    return status;
}

void gphi_cache_evict(gph_cache *cache, uint32_t key)
{
    gphi_layout_mark(&cache->layout, key, GPH_CACHE_EVICTED);
    gphi_layout_serve(&cache->layout);
    gphi_mutex_lock(&cache->mutex);
    const gphi_entry *entry = cache->buckets[key].entry;
    const uint64_t words[] = {(uint64_t)(uintptr_t)cache, key,
                              entry ? entry->own_exec_bytes : 0};
    gphi_mutex_unlock(&cache->mutex);
    gphi_note(GPHI_NOTE_CACHE_EVICT, cache->name, words, 3);
    gphi_cache_drop(cache, key, GPH_CACHE_EVICTED);
    gphi_mutex_lock(&cache->mutex);
    cache->buckets[key].evictions++;
    gphi_cache_reap(cache, false);
    gphi_mutex_unlock(&cache->mutex);
    atomic_fetch_add_explicit(&cache->evictions, 1, memory_order_relaxed);
}

gph_status gph_cache_evict(gph_cache *cache, uint32_t key, gph_error *error)
{
    if (!cache || key >= cache->layout.key_count)
        return gphi_fail(error, GPH_E_INVALID, "key %u: there is none", key);
    GPHI_TRY(gphi_cache_busy(cache, error));
    gph_status status = GPH_OK;
    if (gphi_layout_state(&cache->layout, key) != GPH_CACHE_FITS)
        status = gphi_fail(error, GPH_E_STATE, "key %u is not captured", key);
    else
        gphi_cache_evict(cache, key);
    gphi_cache_idle(cache);
    return status;
}
