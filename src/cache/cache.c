// SPDX-License-Identifier: Apache-2.0
/* Making and ending a cache, and what it says about itself without a driver.
 *
 * All keys share one set of input buffers, each as large as the largest key needs. So a
 * program writes its inputs to fixed addresses whatever key will be replayed, a graph
 * has no address that another key's lacks, and the memory of the inputs is counted once.
 * The input after the last holds the real sizes, one word of 64 bits an axis, of which
 * the low halves alone are ever written: the high ones are zero from the start.
 *
 * Locks: `call` orders whole calls and is taken first; `mutex` guards keys, classes and
 * executables and is held for moments only. A replay of a key with its own executable
 * takes neither, unless it draws random numbers. */
#include "cache/cache.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "event/note.h"

#include <string.h>

/* Bytes of the largest tensor that any wanted key makes of a rule. */
static gph_status largest(const gphi_layout *layout, uint32_t index, uint64_t *out,
                          gph_error *error)
{
    *out = 0;
    for (uint32_t k = 0; k < layout->key_count; k++) {
        int64_t values[GPH_CACHE_AXES_MAX];
        gph_tensor tensor;
        if (gphi_layout_state(layout, k) == GPH_CACHE_NOT_WANTED)
            continue;
        gphi_layout_values(layout, k, values);
        GPHI_TRY(gphi_layout_tensor(&layout->tensors[index], values, 0, &tensor, error));
        const uint64_t bytes = gph_tensor_bytes(&tensor);
        *out = bytes > *out ? bytes : *out;
    }
    if (*out == 0)
        return gphi_fail(error, GPH_E_INVALID, "input %u has no element in any key",
                         index);
    return GPH_OK;
}

gph_status gphi_cache_buffer_sizes(const gphi_layout *layout, uint64_t *out,
                                   gph_error *error)
{
    for (uint32_t i = 0; i < layout->input_count; i++)
        GPHI_TRY(largest(layout, i, &out[i], error));
    out[layout->input_count] = layout->axis_count * sizeof(int64_t);
    return GPH_OK;
}

/* Zeroes buffers: inputs that nobody wrote are zero, as are the high words of sizes,
 * which are never written. */
static gph_status clear_buffers(gph_cache *cache, gph_error *error)
{
    const gphi_cuda_table *cu = &cache->runtime->cu;
    for (uint32_t i = 0; i <= cache->layout.input_count; i++) {
        GPHI_TRY(gphi_cuda_check(error,
                                 cu->cuMemsetD8Async(cache->buffers[i], 0,
                                                     cache->buffer_bytes[i],
                                                     CU_STREAM_PER_THREAD),
                                 "cuMemsetD8Async", "clearing input %u", i));
    }
    return gphi_cuda_check(error, cu->cuStreamSynchronize(CU_STREAM_PER_THREAD),
                           "cuStreamSynchronize", "clearing %u inputs",
                           cache->layout.input_count);
}

/* One set of buffers for all keys. */
static gph_status make_buffers(gph_cache *cache, gph_error *error)
{
    GPHI_TRY(gphi_cache_buffer_sizes(&cache->layout, cache->buffer_bytes, error));
    for (uint32_t i = 0; i <= cache->layout.input_count; i++) {
        GPHI_TRY(gph_pool_alloc(cache->pool, cache->buffer_bytes[i], CU_STREAM_PER_THREAD,
                                &cache->buffers[i], error));
        cache->input_bytes += cache->buffer_bytes[i];
    }
    return clear_buffers(cache, error);
}

static gph_status make_arrays(gph_cache *cache, gph_error *error)
{
    const gph_allocator heap = cache->runtime->heap;
    const size_t inputs = cache->layout.input_count + 1;
    const size_t tensors = inputs + cache->layout.output_count;
    cache->buffers = gphi_heap_array(heap, inputs, sizeof(*cache->buffers));
    cache->buffer_bytes = gphi_heap_array(heap, inputs, sizeof(*cache->buffer_bytes));
    cache->tensors = gphi_heap_array(heap, tensors, sizeof(*cache->tensors));
    cache->to = gphi_heap_array(heap, inputs, sizeof(*cache->to));
    cache->from = gphi_heap_array(heap, inputs, sizeof(*cache->from));
    cache->bytes = gphi_heap_array(heap, inputs, sizeof(*cache->bytes));
    cache->name =
        gphi_heap_text(heap, cache->options.name ? cache->options.name : "cache");
    cache->bucket_block =
        gphi_heap_alloc(heap, (cache->layout.key_count + 1) * sizeof(*cache->buckets));
    GPHI_TRY(gphi_made(error,
                       cache->buffers && cache->buffer_bytes && cache->tensors &&
                           cache->to && cache->from && cache->bytes && cache->name &&
                           cache->bucket_block,
                       "a cache of %u keys", cache->layout.key_count));
    /* the heap aligns as malloc does */
    const uintptr_t at = (uintptr_t)cache->bucket_block;
    const size_t line = alignof(gphi_bucket);
    cache->buckets = (gphi_bucket *)((at + line - 1) / line * line);
    return GPH_OK;
}

/* What the layout does not look at; axes and tensors are checked there. Not a number is
 * refused by the negated comparison. */
static gph_status check_options(const gph_runtime *runtime, const gph_cache_options *opt,
                                gph_cache *const *out, gph_error *error)
{
    static const char create[] = "gph_cache_create";
    GPHI_TRY(gphi_need_named(error, create, runtime != NULL, "runtime"));
    GPHI_TRY(gphi_need_named(error, create, out != NULL, "out"));
    GPHI_TRY(gphi_need_named(error, create, opt->pool != NULL, "options.pool"));
    GPHI_TRY(gphi_need_named(error, create, opt->function != NULL, "options.function"));
    if (opt->lazy > GPH_CACHE_LAZY_OFF)
        return gphi_fail(error, GPH_E_INVALID, "options.lazy %u is not a gph_cache_lazy",
                         opt->lazy);
    if (opt->cold > GPH_CACHE_COLD_UPDATE)
        return gphi_fail(error, GPH_E_INVALID, "options.cold %u is not a gph_cache_cold",
                         opt->cold);
    if (!(opt->hot_share <= 1))
        return gphi_fail(error, GPH_E_INVALID, "options.hot_share %g is above 1",
                         opt->hot_share);
    return GPH_OK;
}

/* After the layout was made, which has copied what the caller's pointers lead to. */
static void set_defaults(gph_cache *cache)
{
    gph_cache_options *options = &cache->options;
    options->axes = NULL; /* the layout has them */
    options->inputs = options->outputs = NULL;
    cache->warms_largest = options->warmup == GPH_CACHE_WARM_LARGEST;
    cache->warms_kernels = options->warmup == GPH_CACHE_WARM_KERNELS;
    if (options->warmup == 0 || cache->warms_largest || cache->warms_kernels)
        options->warmup = 1;
    options->lazy_misses = options->lazy_misses == 0 ? 1 : options->lazy_misses;
    options->hot_share = options->hot_share == 0 ? 0.01 : options->hot_share;
    if (options->own_max == 0)
        options->own_max = 1 + (cache->layout.key_count - 1) / 10;
}

/* 1 + the number of an input whose rest is kept, and then is in each output: no output has
 * its axis, and there is no other input or callback that may say what counts. 0: none. */
static uint64_t kept_rest(const gph_cache *cache)
{
    const gphi_layout *layout = &cache->layout;
    if (cache->options.fill || layout->input_count != 1 ||
        layout->tensors[0].fill != GPH_FILL_KEEP)
        return 0;
    uint32_t kept = 0, given = 0;
    for (uint32_t i = 0; i < layout->tensor_count; i++)
        for (uint32_t d = 0; d < layout->tensors[i].rank; d++)
            if (layout->tensors[i].axis[d] != 0)
                *(i == 0 ? &kept : &given) |= 1U << (layout->tensors[i].axis[d] - 1);
    return (kept & ~given) != 0;
}

/* For the attached library. */
static void tell_made(const gph_cache *cache)
{
    const uint64_t words[] = {(uint64_t)(uintptr_t)cache, cache->options.lazy,
                              cache->buffers[cache->layout.input_count],
                              kept_rest(cache)};
    gphi_note(GPHI_NOTE_CACHE_MADE, cache->name, words, 4);
}

gph_status gph_cache_create(gph_runtime *runtime, const gph_cache_options *options,
                            gph_cache **out, gph_error *error)
{
    gph_cache_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_cache_options", options, error));
    GPHI_TRY(check_options(runtime, &opt, out, error));
    gph_cache *cache = gphi_heap_alloc(runtime->heap, sizeof(*cache));
    GPHI_TRY(gphi_made(error, cache, "a cache"));
    cache->runtime = runtime;
    cache->options = opt;
    pthread_mutex_init(&cache->call.native, NULL);
    pthread_mutex_init(&cache->mutex.native, NULL);
    gphi_vec_init(&cache->classes, runtime->heap, sizeof(gphi_class));
    gphi_vec_init(&cache->retired, runtime->heap, sizeof(gphi_retired));
    gphi_vec_init(&cache->parked, runtime->heap, sizeof(gphi_record *));
    gphi_vec_init(&cache->lent, runtime->heap, sizeof(CUdeviceptr));
    cache->pool = gph_pool_retain(opt.pool);
    gph_status status = gphi_layout_init(&cache->layout, &opt, runtime->heap, error);
    GPHI_THEN(status, make_arrays(cache, error));
    GPHI_THEN(status, make_buffers(cache, error));
    if (status == GPH_OK && cache->layout.input_count > 1)
        status = gphi_copier_retain(runtime, &cache->copier, error);
    if (status != GPH_OK) {
        gph_cache_destroy(cache);
        return status;
    }
    set_defaults(cache);
    cache->options.name = cache->name;
    tell_made(cache);
    *out = cache;
    return GPH_OK;
}

gph_status gphi_cache_place(gph_cache *cache, const CUdeviceptr *addresses,
                            gph_error *error)
{
    const uint32_t count = cache->layout.input_count + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (cache->buffers[i] == 0 || cache->buffers[i] == addresses[i])
            continue;
        GPHI_TRY(
            gph_pool_free(cache->pool, cache->buffers[i], CU_STREAM_PER_THREAD, error));
        cache->buffers[i] = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (cache->buffers[i] != 0 || cache->buffer_bytes[i] == 0)
            continue;
        GPHI_TRY(gph_pool_alloc_at(cache->pool, addresses[i], cache->buffer_bytes[i],
                                   CU_STREAM_PER_THREAD, error));
        cache->buffers[i] = addresses[i];
    }
    tell_made(cache);
    return clear_buffers(cache, error);
}

static void free_arrays(gph_cache *cache)
{
    const gph_allocator heap = cache->runtime->heap;
    const size_t inputs = cache->layout.input_count + 1;
    const size_t tensors = inputs + cache->layout.output_count;
    gphi_heap_free(heap, cache->buffers, inputs * sizeof(*cache->buffers));
    gphi_heap_free(heap, cache->buffer_bytes, inputs * sizeof(*cache->buffer_bytes));
    gphi_heap_free(heap, cache->tensors, tensors * sizeof(*cache->tensors));
    gphi_heap_free(heap, cache->to, inputs * sizeof(*cache->to));
    gphi_heap_free(heap, cache->from, inputs * sizeof(*cache->from));
    gphi_heap_free(heap, cache->bytes, inputs * sizeof(*cache->bytes));
    gphi_heap_text_free(heap, cache->name);
    gphi_heap_free(heap, cache->bucket_block,
                   (cache->layout.key_count + 1) * sizeof(*cache->buckets));
}

void gph_cache_destroy(gph_cache *cache)
{
    if (!cache)
        return;
    for (uint32_t k = 0; cache->buckets && k < cache->layout.key_count; k++) {
        gphi_cache_drop(cache, k, GPH_CACHE_EVICTED);
        gphi_heap_text_free(cache->runtime->heap, cache->buckets[k].message);
    }
    gphi_mutex_lock(&cache->mutex);
    gphi_cache_reap(cache, true);
    gphi_mutex_unlock(&cache->mutex);
    gphi_cache_unlend(cache);
    for (uint32_t i = 0; cache->buffers && i <= cache->layout.input_count; i++)
        if (cache->buffers[i] != 0)
            gphi_ignore(
                gph_pool_free(cache->pool, cache->buffers[i], CU_STREAM_PER_THREAD, NULL),
                "the pool says in the log what stays");
    gphi_vec_fini(&cache->classes);
    gphi_vec_fini(&cache->retired);
    for (size_t i = 0; i < cache->parked.count; i++)
        gphi_record_destroy(*(gphi_record **)gphi_vec_at(&cache->parked, i));
    gphi_vec_fini(&cache->parked);
    gphi_vec_fini(&cache->lent);
    gphi_copier_release(cache->copier);
    free_arrays(cache);
    gph_pool_release(cache->pool);
    gphi_layout_fini(&cache->layout);
    pthread_mutex_destroy(&cache->call.native);
    pthread_mutex_destroy(&cache->mutex.native);
    gphi_heap_free(cache->runtime->heap, cache, sizeof(*cache));
}

gph_status gph_cache_find(const gph_cache *cache, const int64_t *sizes,
                          gph_cache_match *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, cache, sizes, out));
    gphi_layout_find(&cache->layout, sizes, out);
    return GPH_OK;
}

gph_status gph_cache_match_write(const gph_cache *cache, const gph_cache_match *match,
                                 const int64_t *sizes, gph_write_fn *write, void *user,
                                 gph_error *error)
{
    GPHI_TRY(gphi_need(error, cache, match, sizes, write));
    char buffer[256];
    gphi_text text;
    gphi_text_stream(&text, buffer, sizeof(buffer), write, user);
    gphi_layout_explain(&cache->layout, match, sizes, &text);
    return gphi_text_end(&text, error);
}

uint32_t gph_cache_key_count(const gph_cache *cache)
{
    return cache ? cache->layout.key_count : 0;
}

const int64_t *gph_cache_ladder(const gph_cache *cache, uint32_t axis, uint32_t *count)
{
    if (!cache || axis >= cache->layout.axis_count)
        return NULL;
    if (count)
        *count = cache->layout.axes[axis].count;
    return cache->layout.axes[axis].values;
}

uint32_t gph_cache_key(const gph_cache *cache, const int64_t *values)
{
    if (!cache || !values)
        return GPH_CACHE_NONE;
    uint32_t key = 0;
    for (uint32_t a = 0; a < cache->layout.axis_count; a++) {
        const struct gphi_axis *axis = &cache->layout.axes[a];
        const uint32_t rung = gphi_axis_rung(axis, values[a]);
        if (rung == axis->count || axis->values[rung] != values[a])
            return GPH_CACHE_NONE;
        key += rung * axis->stride;
    }
    return key;
}

gph_status gph_cache_input(const gph_cache *cache, uint32_t key, uint32_t index,
                           gph_tensor *out, gph_error *error)
{
    if (!cache || !out || key >= cache->layout.key_count ||
        index > cache->layout.input_count)
        return gphi_fail(error, GPH_E_INVALID, "input %u of key %u: there is none", index,
                         key);
    if (gphi_layout_state(&cache->layout, key) == GPH_CACHE_NOT_WANTED)
        return gphi_fail(error, GPH_E_INVALID, "key %u: %s", key,
                         gph_cache_reason_text(GPH_CACHE_NOT_WANTED));
    int64_t values[GPH_CACHE_AXES_MAX];
    gphi_layout_values(&cache->layout, key, values);
    if (index < cache->layout.input_count)
        return gphi_layout_tensor(&cache->layout.tensors[index], values,
                                  cache->buffers[index], out, error);
    /* from now on its contents are not known */
    atomic_store_explicit((atomic_bool *)&cache->sizes_shown, true, memory_order_relaxed);
    const int64_t count = cache->layout.axis_count;
    *out = (gph_tensor){.data = cache->buffers[index],
                        .dtype = GPH_DTYPE_I64,
                        .rank = 1,
                        .shape = {count},
                        .stride = {1}};
    return GPH_OK;
}
