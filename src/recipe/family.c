// SPDX-License-Identifier: Apache-2.0
/* A cache in a recipe, and out of it: a graph a key, whose name and key say which.
 *
 * A loaded cache has its input buffers where the recorded graphs read them, so they are
 * placed before the first graph is built. Graphs become entries by adoption: the cache
 * owns graph and recording then, and the loaded object keeps the rest of the memory
 * alive. */
#include "base/fail.h"
#include "base/heap.h"
#include "cache/cache.h"
#include "callable/signature.h"
#include "recipe/recipe.h"

#include <gph/recipe_load.h>

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 192 };

/* Names are how keys of a cache and graphs of a recipe find each other: values are
 * part of them, so a recipe may hold several caches. */
static void name_key(const gph_cache *cache, uint32_t key, int64_t *values, char *name)
{
    char text[96];
    gphi_layout_values(&cache->layout, key, values);
    gphi_layout_name(&cache->layout, values, text, sizeof(text));
    snprintf(name, NAME_BYTES, "%.90s %s", cache->name, text);
}

static CUgraph graph_of(const gph_cache *cache, uint32_t key)
{
    const gphi_entry *entry =
        cache && key < cache->layout.key_count ? cache->buckets[key].entry : NULL;
    return entry ? entry->record->graph : NULL;
}

/* A generator's words and its node's arguments are of this process, and its node is
 * edited while it runs: such a key is captured again wherever it is wanted. */
static gph_status add_key(gph_recipe *recipe, const gph_recipe_cache_entry *family,
                          uint32_t key, gph_tensor *inputs, gph_error *error)
{
    gph_cache *cache = family->cache;
    const gphi_entry *from = cache->buckets[key].entry;
    int64_t values[GPH_CACHE_AXES_MAX];
    char name[NAME_BYTES];
    name_key(cache, key, values, name);
    GPHI_TRY(gphi_cache_inputs(cache, values, inputs, error));
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = name;
    entry.check = family->check;
    entry.graph = from->record->graph;
    entry.shifted = graph_of(family->shifted, key);
    entry.inputs = inputs;
    entry.input_count = cache->layout.input_count + 1;
    entry.outputs = from->outputs;
    entry.output_count = cache->layout.output_count;
    entry.key = values;
    entry.key_count = cache->layout.axis_count;
    entry.resolver = family->resolver;
    entry.stream = family->stream;
    entry.pool = cache->pool;
    entry.recording = from->record->id;
    if (from->record->rng.count > 0)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "key %u (%s) draws random numbers: its generator is of this "
                         "process",
                         key, name);
    if (family->shifted && !entry.shifted)
        return gphi_fail(error, GPH_E_STATE,
                         "key %u (%s) is captured in one of the caches only", key, name);
    return gph_recipe_add(recipe, cache->runtime, &entry, NULL, error);
}

/* Keys stay what they are while they are written: whoever captures or evicts waits, or
 * is refused as busy. */
gph_status gph_recipe_add_cache(gph_recipe *recipe, const gph_recipe_cache_entry *family,
                                gph_error *error)
{
    gph_recipe_cache_entry opt;
    GPHI_TRY(
        gphi_options_read(&opt, sizeof(opt), "gph_recipe_cache_entry", family, error));
    GPHI_TRY(gphi_need(error, recipe));
    GPHI_TRY(gphi_need_named(error, __func__, opt.cache != NULL, "options.cache"));
    gph_cache *cache = opt.cache;
    GPHI_TRY(
        gphi_cache_busy(cache, error)); /* nothing is captured or evicted meanwhile */
    const size_t count = cache->layout.input_count + (size_t)1;
    gph_tensor *inputs = gphi_heap_array(recipe->bundle.heap, count, sizeof(*inputs));
    gph_status status = gphi_made(error, inputs, "recording %s", cache->name);
    for (uint32_t key = 0; key < cache->layout.key_count && status == GPH_OK; key++)
        if (graph_of(cache, key))
            status = add_key(recipe, &opt, key, inputs, error);
    gphi_heap_free(recipe->bundle.heap, inputs, count * sizeof(*inputs));
    gphi_cache_idle(cache);
    return status;
}

/* ---- loading ---- */

/* The graphs of a recipe that are keys of a cache: their names begin with its own. */
static uint32_t key_of(const gph_cache *cache, const gph_recipe *recipe, uint32_t index)
{
    gph_recipe_graph graph = GPH_SIZED(gph_recipe_graph);
    char name[NAME_BYTES];
    int64_t values[GPH_CACHE_AXES_MAX];
    if (gph_recipe_graph_get(recipe, index, &graph) == 0 ||
        graph.key_count != cache->layout.axis_count)
        return GPH_CACHE_NONE;
    const uint32_t key = gph_cache_key(cache, graph.key);
    if (key == GPH_CACHE_NONE)
        return GPH_CACHE_NONE;
    name_key(cache, key, values, name);
    return strcmp(name, graph.name) == 0 ? key : GPH_CACHE_NONE;
}

static gph_status compare_tensor(const gph_cache *cache, const char *what,
                                 const gph_tensor *own, const gph_tensor *stored,
                                 gph_error *error)
{
    if (own->dtype != stored->dtype || own->rank != stored->rank)
        return gphi_fail(error, GPH_E_INVALID, "%s is %s of rank %u, in %s %s of rank %u",
                         what, gphi_dtype_name(stored->dtype), stored->rank, cache->name,
                         gphi_dtype_name(own->dtype), own->rank);
    for (uint32_t d = 0; d < own->rank; d++)
        if (own->shape[d] != stored->shape[d])
            return gphi_fail(error, GPH_E_INVALID, "%s: shape[%u] is %lld, in %s %lld",
                             what, d, (long long)stored->shape[d], cache->name,
                             (long long)own->shape[d]);
    return GPH_OK;
}

/* Strides of outputs are the function's. */
static gph_status check_key(const gph_cache *cache, const gph_recipe *recipe,
                            uint32_t index, uint32_t key, gph_error *error)
{
    const gphi_layout *layout = &cache->layout;
    const uint32_t inputs = layout->input_count + 1; /* the sizes, too */
    gph_recipe_graph graph = GPH_SIZED(gph_recipe_graph);
    int64_t values[GPH_CACHE_AXES_MAX];
    if (gph_recipe_graph_get(recipe, index, &graph) == 0)
        return GPH_OK;
    if (graph.input_count != inputs || graph.output_count != layout->output_count)
        return gphi_fail(
            error, GPH_E_INVALID, "%.100s has %u inputs and %u outputs, %s has %u and %u",
            graph.name, graph.input_count > 0 ? graph.input_count - 1 : 0,
            graph.output_count, cache->name, inputs - 1, layout->output_count);
    const gphi_vec *tensors =
        &GPHI_BUNDLE_AT(&recipe->bundle.graphs, graph, index)->tensors;
    gphi_layout_values(layout, key, values);
    for (uint32_t i = 0; i < layout->input_count + layout->output_count; i++) {
        const bool is_input = i < layout->input_count;
        const gph_tensor stored =
            gphi_tensor_at(GPHI_BUNDLE_AT(tensors, tensor, is_input ? i : i + 1), 0);
        gph_tensor own;
        char what[128];
        snprintf(what, sizeof(what), "%.100s: %s %u", graph.name,
                 is_input ? "input" : "output", is_input ? i : i - layout->input_count);
        GPHI_TRY(gphi_layout_tensor(&layout->tensors[i], values, 0, &own, error));
        GPHI_TRY(compare_tensor(cache, what, &own, &stored, error));
    }
    return GPH_OK;
}

/* Before anything is placed: memory of another shape would not lie where it was. */
static gph_status check_keys(const gph_cache *cache, const gph_recipe *recipe,
                             gph_error *error)
{
    for (uint32_t i = 0; i < recipe->bundle.graphs.count; i++) {
        const uint32_t key = key_of(cache, recipe, i);
        if (key != GPH_CACHE_NONE)
            GPHI_TRY(check_key(cache, recipe, i, key, error));
    }
    return GPH_OK;
}

/* Where the graphs want the input buffers: all of them at the same places. */
static gph_status place_buffers(gph_cache *cache, const gph_recipe *recipe,
                                gph_error *error)
{
    const gphi_bundle *bundle = &recipe->bundle;
    CUdeviceptr base = 0;
    gph_arena_range(gph_pool_arena(cache->pool), &base, NULL);
    const size_t count = cache->layout.input_count + (size_t)1;
    CUdeviceptr *addresses = NULL;
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < bundle->graphs.count && !addresses; i++) {
        if (key_of(cache, recipe, i) == GPH_CACHE_NONE)
            continue;
        addresses = gphi_heap_array(cache->runtime->heap, count, sizeof(*addresses));
        GPHI_TRY(gphi_made(error, addresses, "loading %s", cache->name));
        const gphi_vec *tensors = &GPHI_BUNDLE_AT(&bundle->graphs, graph, i)->tensors;
        for (size_t j = 0; j < count; j++)
            addresses[j] = base + GPHI_BUNDLE_AT(tensors, tensor, j)->offset;
    }
    if (addresses)
        status = gphi_cache_place(cache, addresses, error);
    gphi_heap_free(cache->runtime->heap, addresses, count * sizeof(*addresses));
    return status;
}

/* Gives a loaded graph to its key. One whose tensors are others than the cache's is left,
 * and so has to be captured. */
static gph_status adopt(gph_cache *cache, gph_loaded *loaded, uint32_t index,
                        uint32_t key, CUstream stream, gph_error *error)
    GPHI_REQUIRES(&cache->call)
{
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    if (gph_loaded_get(loaded, index, &graph) == 0 || !graph.is_loaded ||
        gphi_layout_state(&cache->layout, key) == GPH_CACHE_NOT_WANTED)
        return GPH_OK;
    for (uint32_t i = 0; i < graph.input_count; i++) {
        gph_tensor own;
        GPHI_TRY(gph_cache_input(cache, key, i, &own, error));
        if (!gphi_tensor_same_layout(&own, &graph.inputs[i]) ||
            own.data != graph.inputs[i].data)
            return gphi_fail(error, GPH_E_INVALID,
                             "%.100s: input %u is another than that of %s", graph.name, i,
                             cache->name);
    }
    CUgraph handle = NULL;
    gph_recording_id id = 0;
    gphi_loaded_take(loaded, index, &handle, &id);
    const gph_status status =
        gphi_cache_adopt(cache, key, handle, id, graph.outputs, stream, error);
    if (status != GPH_OK)
        gphi_loaded_give(loaded, index, handle, id);
    return status;
}

/* Under the lock of calls: a call must not find half of the keys with buffers that
 * were placed and the other half without. */
static gph_status adopt_all(gph_cache *cache, const gph_recipe *recipe,
                            gph_loaded *loaded, CUstream stream, gph_error *error)
{
    gph_status status = GPH_OK;
    gphi_mutex_lock(&cache->call);
    for (uint32_t i = 0; i < recipe->bundle.graphs.count && status == GPH_OK; i++) {
        const uint32_t key = key_of(cache, recipe, i);
        if (key != GPH_CACHE_NONE)
            status = adopt(cache, loaded, i, key, stream, error);
    }
    gphi_mutex_unlock(&cache->call);
    /* the sizes were looked at, but nobody else knows where they lie yet */
    atomic_store_explicit(&cache->sizes_shown, false, memory_order_relaxed);
    gphi_layout_serve(&cache->layout);
    return status;
}

gph_status gph_loaded_create_cache(gph_runtime *runtime, const gph_recipe *recipe,
                                   const gph_loaded_cache_options *options,
                                   gph_cache **cache, gph_loaded **loaded,
                                   gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, recipe, options, cache, loaded));
    GPHI_TRY(gphi_need_named(error, __func__, options->cache != NULL, "options->cache"));
    gph_cache_options own;
    GPHI_TRY(
        gphi_options_read(&own, sizeof(own), "gph_cache_options", options->cache, error));
    if (own.rng)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "options.cache->rng is set: graphs of a file draw no numbers, "
                         "eager calls would");
    gph_loaded_options load;
    GPHI_TRY(gphi_options_read(&load, sizeof(load), "gph_loaded_options", options->load,
                               error));
    load.size = sizeof(load);
    load.pool = options->cache->pool;
    load.flags |= GPH_RECIPE_LAZY;
    gph_cache *fresh = NULL;
    gph_loaded *graphs = NULL;
    GPHI_TRY(gph_cache_create(runtime, options->cache, &fresh, error));
    gph_status status = check_keys(fresh, recipe, error);
    GPHI_THEN(status, place_buffers(fresh, recipe, error));
    GPHI_THEN(status, gph_loaded_create(runtime, recipe, &load, &graphs, error));
    GPHI_THEN(status, adopt_all(fresh, recipe, graphs,
                                load.stream ? load.stream : CU_STREAM_PER_THREAD, error));
    if (status != GPH_OK) {
        gph_cache_destroy(fresh);
        gph_loaded_destroy(graphs);
        return status;
    }
    *cache = fresh;
    *loaded = graphs;
    return GPH_OK;
}
