// SPDX-License-Identifier: Apache-2.0
/* Calls of the user's function: its inputs, and what becomes of its outputs.
 *
 * Outputs of a recording are freed at its end, in the capture, so that all graphs of the
 * cache lie over each other, outputs too: they are whole until the next replay. */
#include "base/fail.h"
#include "base/log.h"
#include "cache/cache.h"
#include "cache/pad.h"
#include "cuda/status.h"
#include "memory/pool.h"

#include <string.h>

gph_status gphi_cache_inputs(const gph_cache *cache, const int64_t *values,
                             gph_tensor *out, gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    for (uint32_t i = 0; i < layout->input_count; i++)
        GPHI_TRY(gphi_layout_tensor(&layout->tensors[i], values, cache->buffers[i],
                                    &out[i], error));
    out[layout->input_count] = (gph_tensor){.data = cache->buffers[layout->input_count],
                                            .dtype = GPH_DTYPE_I64,
                                            .rank = 1,
                                            .shape = {layout->axis_count},
                                            .stride = {1}};
    return GPH_OK;
}

gph_status gphi_cache_sizes_write(gph_cache *cache, const int64_t *sizes, CUstream stream,
                                  gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    const size_t bytes = layout->axis_count * sizeof(*sizes);
    if (cache->sizes_known && memcmp(cache->sizes, sizes, bytes) == 0 &&
        !atomic_load_explicit(&cache->sizes_shown, memory_order_relaxed))
        return GPH_OK;
    cache->sizes_known = false;
    for (uint32_t a = 0; a < layout->axis_count; a++) {
        /* by value, so that nothing on the host must outlive the call; high words are
         * zero, and sizes below 2^31 */
        const CUdeviceptr word = cache->buffers[layout->input_count] + 8 * a;
        const CUresult result =
            cache->runtime->cu.cuMemsetD32Async(word, (unsigned)sizes[a], 1, stream);
        if (result != CUDA_SUCCESS)
            return gphi_cuda_fail(error, (gph_status)result, "cuMemsetD32Async",
                                  "the size of axis %s", layout->axes[a].name);
    }
    memcpy(cache->sizes, sizes, bytes);
    cache->sizes_known = true;
    return GPH_OK;
}

gph_status gphi_cache_fill(gph_cache *cache, uint32_t key, const int64_t *sizes,
                           CUstream stream, gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    int64_t values[GPH_CACHE_AXES_MAX];
    bool is_all = true;
    gphi_layout_values(layout, key, values);
    for (uint32_t a = 0; a < layout->axis_count; a++)
        is_all = is_all && (sizes[a] == 0 || layout->axes[a].is_discrete);
    GPHI_TRY(gphi_cache_inputs(cache, values, cache->tensors, error));
    for (uint32_t i = 0; i < layout->input_count; i++) {
        const gph_cache_tensor *rule = &layout->tensors[i];
        gph_tensor real;
        GPHI_TRY(gphi_layout_tensor(rule, sizes, 0, &real, error));
        for (uint32_t d = 0; is_all && d < rule->rank; d++)
            if (rule->axis[d] != 0)
                real.shape[d] = 0;
        GPHI_TRY(gphi_pad_fill(cache->runtime, rule, &cache->tensors[i], real.shape,
                               stream, error));
    }
    if (!cache->options.fill)
        return GPH_OK;
    const gph_cache_fill fill = {.stream = stream,
                                 .sizes = sizes,
                                 .values = values,
                                 .inputs = cache->tensors,
                                 .input_count = layout->input_count,
                                 .axis_count = layout->axis_count};
    return cache->options.fill(cache->options.user, &fill, error);
}

void gphi_cache_unlend(gph_cache *cache)
{
    GPHI_EACH (const CUdeviceptr, address, &cache->lent) {
        gph_error error = {0};
        if (gph_pool_free(cache->pool, *address, cache->lent_stream, &error) != GPH_OK)
            gphi_log("cache", GPH_LOG_WARN, "%s: an eager output stays: %s", cache->name,
                     error.message);
    }
    cache->lent.count = 0;
}

/* ---- outputs ---- */

/* The allocation that holds an address, NULL if there is none. */
static const gph_pool_range *live_find(const gphi_vec *live, CUdeviceptr address)
{
    GPHI_EACH (const gph_pool_range, range, live)
        if (address >= range->address && address - range->address < range->bytes)
            return range;
    return NULL;
}

/* Whether an allocation was there before the call: the function may have freed another
 * one, and got its place. */
static bool live_has(const gphi_vec *live, const gph_pool_range *range)
{
    const gph_pool_range *other = live_find(live, range->address);
    return other && other->address == range->address && other->bytes == range->bytes &&
           other->recording == range->recording && other->first == range->first;
}

static gph_status compare_output(const gph_cache *cache, const int64_t *sizes,
                                 uint32_t index, const gph_tensor *output,
                                 gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    const gph_cache_tensor *rule = &layout->tensors[layout->input_count + index];
    gph_tensor want;
    GPHI_TRY(gphi_layout_tensor(rule, sizes, 0, &want, error));
    if (output->data == 0)
        return gphi_fail(error, GPH_E_INVALID, "output %u: the function set no data",
                         index);
    if (output->dtype != want.dtype || output->rank != want.rank)
        return gphi_fail(error, GPH_E_INVALID,
                         "output %u is %s of rank %u, the options say %s of rank %u",
                         index, gphi_dtype_name(output->dtype), output->rank,
                         gphi_dtype_name(want.dtype), want.rank);
    for (uint32_t d = 0; d < want.rank; d++)
        if (output->shape[d] != want.shape[d])
            return gphi_fail(error, GPH_E_INVALID,
                             "output %u: shape[%u] is %lld, the options say %lld", index,
                             d, (long long)output->shape[d], (long long)want.shape[d]);
    return GPH_OK;
}

static gph_status check_output(const gph_cache *cache, const gph_call *call,
                               uint32_t index, const gph_tensor *output, gph_error *error)
{
    const gph_status status = compare_output(cache, call->key, index, output, error);
    if (status != GPH_OK)
        gphi_function_blame(cache->name, gphi_phase_name(call->phase), error);
    return status;
}

/* Allocations that hold outputs and were not there before the call, each once. */
static gph_status list_outputs(const gph_cache *cache, const gphi_vec *before,
                               gphi_vec *after, const gph_tensor *outputs, gphi_vec *out,
                               gph_error *error)
{
    GPHI_TRY(gphi_pool_list(cache->pool, 0, 0, after, error));
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < cache->layout.output_count && status == GPH_OK; i++) {
        const gph_pool_range *range =
            outputs[i].data == 0 ? NULL : live_find(after, outputs[i].data);
        bool is_known = !range || live_has(before, range);
        for (size_t k = 0; k < out->count && !is_known; k++)
            is_known = *(CUdeviceptr *)gphi_vec_at(out, k) == range->address;
        if (is_known)
            continue;
        CUdeviceptr *place = gphi_vec_add(out, 1);
        if (!place)
            status = gphi_fail(error, GPH_E_NO_MEMORY, "%u outputs",
                               cache->layout.output_count);
        else
            *place = range->address;
    }
    return status;
}

static gph_status free_all(const gph_cache *cache, gphi_vec *list, CUstream stream,
                           gph_error *error)
{
    gph_status status = GPH_OK;
    for (size_t i = 0; i < list->count; i++) {
        const CUdeviceptr address = *(CUdeviceptr *)gphi_vec_at(list, i);
        const gph_status freed =
            gph_pool_free(cache->pool, address, stream, status == GPH_OK ? error : NULL);
        status = status == GPH_OK ? freed : status;
    }
    list->count = 0;
    return status;
}

gph_status gphi_cache_function(void *user, gph_call *call, gph_error *error)
{
    const gphi_run *run = user;
    gph_cache *cache = run->cache;
    gphi_vec before, after, list;
    gphi_vec_init(&before, cache->runtime->heap, sizeof(gph_pool_range));
    gphi_vec_init(&after, cache->runtime->heap, sizeof(gph_pool_range));
    gphi_vec_init(&list, cache->runtime->heap, sizeof(CUdeviceptr));
    /* all room is made first, so that no output is lost: outputs come, and other threads
     * allocate meanwhile */
    const uint32_t more = cache->layout.output_count + 16;
    gph_status status = gphi_pool_list(cache->pool, 0, 0, &before, error);
    GPHI_THEN(status, gphi_pool_list(cache->pool, 0, more, &after, error));
    if (status == GPH_OK && gphi_vec_reserve(&list, cache->layout.output_count) != GPH_OK)
        status =
            gphi_fail(error, GPH_E_NO_MEMORY, "%u outputs", cache->layout.output_count);
    gph_call inner = *call;
    inner.outputs = run->outputs;
    inner.output_count = cache->layout.output_count;
    for (uint32_t i = 0; i < inner.output_count; i++)
        run->outputs[i] = (gph_tensor){0};
    GPHI_THEN(status, cache->options.function(cache->options.user, &inner, error));
    call->rng_count = inner.rng_count;
    if (status == GPH_OK) {
        status = list_outputs(cache, &before, &after, run->outputs, &list, error);
        for (uint32_t i = 0; i < inner.output_count && status == GPH_OK; i++)
            status = check_output(cache, call, i, &run->outputs[i], error);
        if (status != GPH_OK)
            gphi_ignore(free_all(cache, &list, call->stream, NULL), "it failed already");
        else if (!run->allocations)
            status = free_all(cache, &list, call->stream, error);
        else if (gphi_vec_reserve(run->allocations, list.count) != GPH_OK)
            status = gphi_fail(error, GPH_E_NO_MEMORY, "%zu eager outputs", list.count);
    }
    if (status == GPH_OK && run->allocations && list.count > 0)
        memcpy(gphi_vec_add(run->allocations, list.count), list.items,
               list.count * sizeof(CUdeviceptr));
    else if (status != GPH_OK)
        gphi_ignore(free_all(cache, &list, call->stream, NULL), "it failed already");
    gphi_vec_fini(&list);
    gphi_vec_fini(&after);
    gphi_vec_fini(&before);
    return status;
}
