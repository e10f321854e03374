// SPDX-License-Identifier: Apache-2.0
/* Graphs of a recipe in this process.
 *
 *   loaded   graphs    graph 0 -> class 0    graph 1 -> class 0    graph 2: own executable
 *            classes   class 0: one executable, which holds graph 0 or graph 1
 *
 * A graph of a class is launched under the mutex, after a whole update if the executable
 * holds another one. A graph with its own executable is launched without a lock. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/map.h"
#include "base/thread.h"
#include "cuda/status.h"
#include "recipe/build.h"
#include "recipe/footprint.h"
#include "replay/flow.h"

#include <gph/recipe_load.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loaded_graph {
    char *name;
    char *why; /* NULL: it is loaded */
    gph_status status;
    bool is_checked;
    gph_recording_id recording; /* in the pool; 0: none */
    uint32_t class;             /* GPHI_BUNDLE_NONE: none */
    CUgraph graph; /* kept while an executable may have to be made or updated */
    _Atomic(gph_exec *) exec; /* its own, or NULL */
    gph_recording *flows;     /* what describes its conditional nodes, or NULL */
    gph_tensor *tensors;
    uint32_t input_count, tensor_count;
};

struct class {
    unsigned char topology[GPHI_BUNDLE_HASH_BYTES];
    gph_exec *exec;
    uint32_t holds; /* index of the graph in it */
};

struct gph_loaded {
    gph_runtime *runtime;
    gph_exec_options exec_options;
    gphi_mutex mutex; /* classes, and the making of executables */
    uint32_t count;
    struct loaded_graph *graphs;
    gphi_vec classes;
    gphi_footprint footprint;
    gphi_kernels *setters; /* where some graph has conditional nodes, else NULL */
};

/* A load under way. */
struct loading {
    gph_loaded *loaded;
    gphi_build build;
    const gph_loaded_options *options;
    gphi_map known; /* addresses that were asked for: CUmemorytype, 0: no memory */
};

static gph_status fail_memory(gph_error *error)
{
    return gphi_fail(error, GPH_E_NO_MEMORY, "loading a recipe");
}

/* Executables go before graphs, and recordings before the memory that they lie in, the
 * last one first: later recordings read what earlier ones left. */
void gph_loaded_destroy(gph_loaded *loaded)
{
    if (!loaded)
        return;
    const gph_allocator heap = loaded->runtime->heap;
    for (uint32_t i = 0; i < loaded->count; i++) {
        struct loaded_graph *graph = &loaded->graphs[i];
        gph_exec_destroy(atomic_load_explicit(&graph->exec, memory_order_relaxed));
        if (graph->graph)
            gphi_ignore((gph_status)loaded->runtime->cu.cuGraphDestroy(graph->graph),
                        "there is no caller to report to");
        if (graph->flows)
            gphi_recording_release(graph->flows);
        gphi_heap_free(heap, graph->tensors,
                       graph->tensor_count * sizeof(*graph->tensors));
        gphi_heap_text_free(heap, graph->why);
        gphi_heap_text_free(heap, graph->name);
    }
    for (size_t i = 0; i < loaded->classes.count; i++)
        gph_exec_destroy(((struct class *)gphi_vec_at(&loaded->classes, i))->exec);
    for (uint32_t i = loaded->count; i-- > 0;)
        if (loaded->graphs[i].recording != 0)
            gph_pool_record_forget(loaded->footprint.pool, loaded->graphs[i].recording);
    gphi_footprint_fini(&loaded->footprint);
    gphi_vec_fini(&loaded->classes);
    gphi_heap_free(heap, loaded->graphs, loaded->count * sizeof(*loaded->graphs));
    gphi_kernels_release(loaded->setters);
    pthread_mutex_destroy(&loaded->mutex.native);
    gphi_heap_free(heap, loaded, sizeof(*loaded));
}

/* Notes why a graph is not loaded. */
static gph_status give_up(const struct loading *loading, struct loaded_graph *graph,
                          gph_status status, const char *why)
{
    graph->status = status;
    graph->why = gphi_heap_text(loading->loaded->runtime->heap, why);
    if (!graph->why)
        return fail_memory(loading->build.error);
    gphi_log("recipe", GPH_LOG_INFO, "graph %s has to be captured: %s", graph->name, why);
    return GPH_OK;
}

/* Ranges that a pool's blocks lie in are where its arena is. */
static void place_arena(const struct loading *loading, const gphi_vec *blocks)
{
    CUdeviceptr base = 0;
    gph_arena_range(gph_pool_arena(loading->options->pool), &base, NULL);
    for (size_t i = 0; i < blocks->count; i++) {
        const uint32_t at = GPHI_BUNDLE_AT(blocks, block, i)->range;
        loading->build.shift[at] =
            base - gphi_recipe_range(loading->build.bundle, at)->address;
    }
}

/* Places that the caller names win over the pool's arena, since they come later. */
static gph_status place_ranges(struct loading *loading)
{
    const gphi_bundle *bundle = loading->build.bundle;
    const gph_loaded_options *options = loading->options;
    gph_error *error = loading->build.error;
    if (options->pool)
        place_arena(loading, &bundle->eager);
    for (size_t i = 0; options->pool && i < bundle->graphs.count; i++)
        place_arena(loading, &GPHI_BUNDLE_AT(&bundle->graphs, graph, i)->blocks);
    for (uint32_t i = 0; i < options->place_count; i++) {
        const gph_recipe_place *place = &options->places[i];
        size_t at = 0;
        while (at < bundle->ranges.count && place->range &&
               strcmp(gphi_bundle_text(bundle, gphi_recipe_range(bundle, at)->name),
                      place->range) != 0)
            at++;
        if (at == bundle->ranges.count || !place->range)
            return gphi_fail(error, GPH_E_INVALID, "the recipe has no range %.200s",
                             place->range ? place->range : "(NULL)");
        const struct gphi_bundle_range *range = gphi_recipe_range(bundle, at);
        if (place->bytes < range->bytes)
            return gphi_fail(error, GPH_E_INVALID,
                             "range %.200s has %llu bytes, but %llu were recorded",
                             place->range, (unsigned long long)place->bytes,
                             (unsigned long long)range->bytes);
        loading->build.shift[at] = place->address - range->address;
    }
    return GPH_OK;
}

/* Whether a graph can be where its ranges lie now, and its kernels are there; else notes
 * why not. */
static gph_status may_load(const struct loading *loading,
                           const struct gphi_bundle_graph *from,
                           struct loaded_graph *graph)
{
    const gphi_bundle *bundle = loading->build.bundle;
    char text[512];
    if (from->refusals.count > 0) {
        const struct gphi_bundle_refusal *refusal =
            GPHI_BUNDLE_AT(&from->refusals, refusal, 0);
        const char *why = gphi_bundle_text(bundle, refusal->why);
        if (refusal->node >= 0)
            snprintf(text, sizeof(text), "it was refused: node %lld (%s): %.400s",
                     (long long)refusal->node,
                     gph_node_kind_name((gph_node_kind)refusal->kind), why);
        else
            snprintf(text, sizeof(text), "it was refused: %.400s", why);
        return give_up(loading, graph, GPH_E_UNSUPPORTED, text);
    }
    if (from->flows.count > 0 && !loading->build.setters) {
        snprintf(text, sizeof(text), "the driver (CUDA %d.%d) has no conditional nodes",
                 loading->loaded->runtime->info.version / 1000,
                 loading->loaded->runtime->info.version % 1000 / 10);
        return give_up(loading, graph, GPH_E_UNSUPPORTED, text);
    }
    for (size_t i = 0; i < from->uses.count; i++) {
        const struct gphi_bundle_use *use = GPHI_BUNDLE_AT(&from->uses, use, i);
        const struct gphi_bundle_range *range = gphi_recipe_range(bundle, use->range);
        if (!use->is_fixed || loading->build.shift[use->range] == 0)
            continue;
        snprintf(text, sizeof(text),
                 "range %.200s is at 0x%llx, and it was recorded at 0x%llx: %s",
                 gphi_bundle_text(bundle, range->name),
                 (unsigned long long)(range->address + loading->build.shift[use->range]),
                 (unsigned long long)range->address,
                 from->is_movable
                     ? "its addresses did not move when it was captured twice"
                     : "it was captured once");
        return give_up(loading, graph, GPH_E_STATE, text);
    }
    for (size_t i = 0; i < from->nodes.count; i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&from->nodes, node, i);
        if (node->kind == GPH_NODE_KERNEL && !loading->build.found[node->item].function)
            return give_up(loading, graph, loading->build.found[node->item].status,
                           loading->build.found[node->item].why);
    }
    return GPH_OK;
}

static gph_status is_memory(struct loading *loading, uint64_t address, bool *out)
{
    uint64_t kind = 0;
    GPHI_TRY(gphi_memory_kind(loading->loaded->runtime, &loading->known, address, &kind,
                              loading->build.error));
    *out = kind != 0;
    return GPH_OK;
}

/* The word as it will be: what it was recorded as, moved. */
static uint64_t word_now(const struct loading *loading,
                         const struct gphi_bundle_graph *from,
                         const struct gphi_bundle_word *word)
{
    uint64_t value;
    memcpy(&value,
           gphi_word_place(from, word, from->data.items, from->copies.items,
                           from->fills.items),
           sizeof(value));
    return value + loading->build.shift[word->range];
}

/* A launch into memory that is not there would end the context, so it is asked for
 * before. An address may be one past the end of something. */
static gph_status check_memory(struct loading *loading,
                               const struct gphi_bundle_graph *from,
                               struct loaded_graph *graph)
{
    uint64_t missing = 0;
    for (size_t i = 0; i < from->words.count && missing == 0; i++) {
        const uint64_t now =
            word_now(loading, from, GPHI_BUNDLE_AT(&from->words, word, i));
        bool is_there = false;
        GPHI_TRY(is_memory(loading, now, &is_there));
        if (!is_there)
            GPHI_TRY(is_memory(loading, now - 1, &is_there));
        missing = is_there ? 0 : now;
    }
    for (size_t i = 0; i < graph->tensor_count && missing == 0; i++) {
        bool is_there = gph_tensor_bytes(&graph->tensors[i]) == 0;
        if (!is_there)
            GPHI_TRY(is_memory(loading, graph->tensors[i].data, &is_there));
        missing = is_there ? 0 : graph->tensors[i].data;
    }
    if (missing == 0)
        return GPH_OK;
    char text[128];
    snprintf(text, sizeof(text), "there is no device memory at 0x%llx",
             (unsigned long long)missing);
    return give_up(loading, graph, GPH_E_STATE, text);
}

/* At their addresses now: callers write inputs there without knowing of ranges. */
static gph_status copy_tensors(const struct loading *loading,
                               const struct gphi_bundle_graph *from,
                               struct loaded_graph *graph)
{
    graph->input_count = from->input_count;
    if (from->tensors.count == 0)
        return GPH_OK;
    graph->tensors = gphi_heap_array(loading->loaded->runtime->heap, from->tensors.count,
                                     sizeof(*graph->tensors));
    if (!graph->tensors)
        return fail_memory(loading->build.error);
    graph->tensor_count = (uint32_t)from->tensors.count;
    for (uint32_t i = 0; i < graph->tensor_count; i++) {
        const struct gphi_bundle_tensor *tensor =
            GPHI_BUNDLE_AT(&from->tensors, tensor, i);
        graph->tensors[i] = gphi_tensor_at(
            tensor, gphi_recipe_range(loading->build.bundle, tensor->range)->address +
                        loading->build.shift[tensor->range]);
    }
    return GPH_OK;
}

/* Joins a class of the same topology, or makes one. */
static gph_status join_class(const struct loading *loading,
                             const struct gphi_bundle_graph *from,
                             struct loaded_graph *graph)
{
    gphi_vec *classes = &loading->loaded->classes;
    struct class fresh = {.holds = GPHI_BUNDLE_NONE};
    gphi_topology_hash(from, fresh.topology);
    for (size_t i = 0; i < classes->count; i++) {
        const struct class *class = gphi_vec_at(classes, i);
        if (memcmp(class->topology, fresh.topology, sizeof(fresh.topology)) == 0) {
            graph->class = (uint32_t)i;
            return GPH_OK;
        }
    }
    if (gphi_vec_push(classes, &fresh) != GPH_OK)
        return fail_memory(loading->build.error);
    graph->class = (uint32_t)classes->count - 1;
    return GPH_OK;
}

/* Gets an executable that holds a graph; the mutex is held until it is launched. A graph
 * that the class's executable does not take gets its own. */
static gph_status ready_locked(gph_loaded *loaded, uint32_t index, gph_exec **out,
                               gph_error *error)
{
    struct loaded_graph *graph = &loaded->graphs[index];
    gph_exec *own = atomic_load_explicit(&graph->exec, memory_order_relaxed);
    struct class *class = graph->class == GPHI_BUNDLE_NONE
                              ? NULL
                              : gphi_vec_at(&loaded->classes, graph->class);
    if (!own && class && !class->exec) {
        GPHI_TRY(gph_exec_create(loaded->runtime, graph->graph, &loaded->exec_options,
                                 &class->exec, error));
        class->holds = index;
    }
    if (!own && class && class->holds != index) {
        CUgraphExecUpdateResultInfo info = {0};
        const CUresult result = loaded->runtime->cu.cuGraphExecUpdate(
            gph_exec_handle(class->exec), graph->graph, &info);
        if (result == CUDA_SUCCESS)
            class->holds = index;
        else if (result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
            return gphi_cuda_fail(error, (gph_status)result, "cuGraphExecUpdate",
                                  "graph %.200s", graph->name);
        else
            gphi_log("recipe", GPH_LOG_INFO,
                     "graph %s gets its own executable: update result %d", graph->name,
                     (int)info.result);
    }
    if (!own && (!class || class->holds != index)) {
        GPHI_TRY(gph_exec_create(loaded->runtime, graph->graph, &loaded->exec_options,
                                 &own, error));
        atomic_store_explicit(&graph->exec, own,
                              memory_order_release); /* with launch() */
    }
    *out = own ? own : class->exec;
    return GPH_OK;
}

/* A check needs the memory of the whole graph to be there, which check_memory() has
 * seen; it writes into it, which gph_loaded_create() says. */
static gph_status check_graph(const struct loading *loading, uint32_t index,
                              const struct gphi_bundle_graph *from)
{
    gph_loaded *loaded = loading->loaded;
    struct loaded_graph *graph = &loaded->graphs[index];
    gphi_check check = {.runtime = loaded->runtime,
                        .tensors = graph->tensors,
                        .inputs = graph->input_count,
                        .outputs = graph->tensor_count - graph->input_count,
                        .stream = loaded->exec_options.upload_stream};
    if (gphi_check_input_bytes(graph->tensors, graph->input_count) !=
        from->check_data.count)
        return give_up(loading, graph, GPH_E_UNSUPPORTED,
                       "its recorded inputs have another size than its tensors");
    unsigned char hash[GPHI_BUNDLE_HASH_BYTES] = {0};
    GPHI_TRY(ready_locked(loaded, index, &check.exec, loading->build.error));
    GPHI_TRY(gphi_check_copy(&check, from->check_data.items, true, loading->build.error));
    GPHI_TRY(gphi_check_replay(&check, hash, loading->build.error));
    graph->is_checked = memcmp(hash, from->outputs_hash, sizeof(hash)) == 0;
    if (!graph->is_checked)
        return give_up(loading, graph, GPH_E_STATE,
                       "its outputs differ from those recorded for the same inputs");
    return GPH_OK;
}

/* Name, tensors, and whether it can be loaded at all. */
static gph_status prepare_graph(struct loading *loading, uint32_t index)
{
    gph_loaded *loaded = loading->loaded;
    const struct gphi_bundle_graph *from =
        GPHI_BUNDLE_AT(&loading->build.bundle->graphs, graph, index);
    struct loaded_graph *graph = &loaded->graphs[index];
    graph->class = GPHI_BUNDLE_NONE;
    graph->name = gphi_heap_text(loaded->runtime->heap,
                                 gphi_bundle_text(loading->build.bundle, from->name));
    if (!graph->name)
        return fail_memory(loading->build.error);
    GPHI_TRY(copy_tensors(loading, from, graph));
    return may_load(loading, from, graph);
}

/* Whether its class has one, which becomes the graph's when it is launched. */
static bool has_executable(const gph_loaded *loaded, const struct loaded_graph *graph)
{
    return graph->class != GPHI_BUNDLE_NONE &&
           ((const struct class *)gphi_vec_at(&loaded->classes, graph->class))->exec;
}

/* What fails for one graph is noted with it and the next one is loaded; without memory
 * on the host nothing goes on. */
static gph_status load_graph(struct loading *loading, uint32_t index)
{
    gph_loaded *loaded = loading->loaded;
    const uint32_t flags = loading->options->flags;
    const struct gphi_bundle_graph *from =
        GPHI_BUNDLE_AT(&loading->build.bundle->graphs, graph, index);
    struct loaded_graph *graph = &loaded->graphs[index];
    if (!graph->why)
        GPHI_TRY(check_memory(loading, from, graph));
    if (graph->why)
        return GPH_OK;

    gph_error why = {0};
    gphi_build build = loading->build;
    build.error = &why;
    gph_status status = gphi_build_graph(&build, from, &graph->graph, &graph->flows);
    /* The handles of another graph are not taken by an update (R69f). */
    if (status == GPH_OK && (flags & GPH_RECIPE_SHARE) != 0 && !graph->flows)
        status = join_class(loading, from, graph);
    gph_exec *ready = NULL;
    if (status == GPH_OK && (flags & GPH_RECIPE_LAZY) == 0 &&
        !has_executable(loaded, graph))
        status = ready_locked(loaded, index, &ready, &why);
    if (status == GPH_E_NO_MEMORY) {
        if (loading->build.error)
            *loading->build.error = why;
        return status;
    }
    if (status != GPH_OK)
        return give_up(loading, graph, status, why.message);
    if (from->has_check && (flags & GPH_RECIPE_CHECK) != 0)
        GPHI_TRY(check_graph(loading, index, from));
    if (graph->class == GPHI_BUNDLE_NONE &&
        (flags & (GPH_RECIPE_LAZY | GPH_RECIPE_KEEP)) == 0) {
        if (graph->flows)
            gphi_flow_list_remove(graph->flows);
        gphi_ignore((gph_status)loaded->runtime->cu.cuGraphDestroy(graph->graph),
                    "its executable stays");
        graph->graph = NULL;
    }
    return GPH_OK;
}

/* Memory that lies elsewhere, or that somebody has, is a reason to capture the graph;
 * other failures end the load. */
static gph_status restore_recording(struct loading *loading, uint32_t index)
{
    gph_loaded *loaded = loading->loaded;
    struct loaded_graph *graph = &loaded->graphs[index];
    if (graph->why)
        return GPH_OK;
    gph_error why = {0};
    const gph_status status = gphi_footprint_restore(
        &loaded->footprint, GPHI_BUNDLE_AT(&loading->build.bundle->graphs, graph, index),
        graph->name, &graph->recording, &why);
    if (status == GPH_E_STATE || status == GPH_E_INVALID)
        return give_up(loading, graph, status, why.message);
    if (status != GPH_OK && loading->build.error)
        *loading->build.error = why;
    return status;
}

/* Recordings come in the order in which they were made, since later ones read what
 * earlier ones left; graphs may be in any. */
static gph_status restore_recordings(struct loading *loading)
{
    const gphi_bundle *bundle = loading->build.bundle;
    gphi_vec order; /* a graph's recording in the first half, its index in the second */
    gphi_vec_init(&order, loading->loaded->runtime->heap, sizeof(uint64_t));
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < bundle->graphs.count && status == GPH_OK; i++) {
        const uint64_t id = GPHI_BUNDLE_AT(&bundle->graphs, graph, i)->recording;
        if (id != 0 && gphi_vec_push(&order, &(uint64_t){id << 32 | i}) != GPH_OK)
            status = fail_memory(loading->build.error);
    }
    if (order.count > 0)
        qsort(order.items, order.count, sizeof(uint64_t), gphi_by_first);
    for (size_t i = 0; i < order.count && status == GPH_OK; i++)
        status =
            restore_recording(loading, (uint32_t) * (uint64_t *)gphi_vec_at(&order, i));
    gphi_vec_fini(&order);
    return status;
}

/* libgph's kernels that set conditions, where a graph has some and the driver can. */
static gph_status find_setters(struct loading *loading)
{
    gph_loaded *loaded = loading->loaded;
    const gphi_bundle *bundle = loading->build.bundle;
    bool has_flows = false;
    for (size_t i = 0; i < bundle->graphs.count; i++)
        has_flows |= GPHI_BUNDLE_AT(&bundle->graphs, graph, i)->flows.count > 0;
    if (!has_flows ||
        !gphi_cuda_has(&loaded->runtime->cu, cuGraphConditionalHandleCreate))
        return GPH_OK;
    GPHI_TRY(gphi_kernels_retain(loaded->runtime, &gphi_setter_text, &loaded->setters,
                                 loading->build.error));
    loading->build.setters = loaded->setters;
    return GPH_OK;
}

/* Rooms have one more than is needed, so that an empty recipe has no special case. */
static gph_status load_all(struct loading *loading, const gph_recipe *recipe)
{
    const gphi_bundle *bundle = &recipe->bundle;
    gph_loaded *loaded = loading->loaded;
    const gph_allocator heap = loaded->runtime->heap;
    gph_error *error = loading->build.error;
    loading->build.found =
        gphi_heap_array(heap, bundle->kernels.count + 1, sizeof(*loading->build.found));
    loading->build.shift =
        gphi_heap_array(heap, bundle->ranges.count + 1, sizeof(*loading->build.shift));
    if (bundle->graphs.count > 0)
        loaded->graphs =
            gphi_heap_array(heap, bundle->graphs.count, sizeof(*loaded->graphs));
    if (loaded->graphs)
        loaded->count = (uint32_t)bundle->graphs.count;
    if (!loading->build.found || !loading->build.shift ||
        (bundle->graphs.count > 0 && !loaded->graphs))
        return fail_memory(error);
    GPHI_TRY(place_ranges(loading));
    gphi_tell_unplaced(&loading->build, loading->options, loaded);
    GPHI_TRY(find_setters(loading));
    GPHI_TRY(gphi_find_kernels(&loading->build, loading->options->resolver));
    for (uint32_t i = 0; i < loaded->count; i++)
        GPHI_TRY(prepare_graph(loading, i));
    if (loading->options->pool) {
        GPHI_TRY(gphi_footprint_begin(&loaded->footprint, loading->options->pool, bundle,
                                      loading->build.shift, error));
        GPHI_TRY(restore_recordings(loading));
    }
    for (uint32_t i = 0; i < loaded->count; i++)
        GPHI_TRY(load_graph(loading, i));
    return GPH_OK;
}

static gph_status read_options(const gph_loaded_options *options, gph_loaded_options *opt,
                               gph_error *error)
{
    GPHI_TRY(gphi_options_read(opt, sizeof(*opt), "gph_loaded_options", options, error));
    const uint32_t known =
        GPH_RECIPE_CHECK | GPH_RECIPE_SHARE | GPH_RECIPE_LAZY | GPH_RECIPE_KEEP;
    if ((opt->flags & ~known) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         opt->flags, known);
    GPHI_TRY(gphi_need_named(error, "gph_recipe_load",
                             opt->place_count == 0 || opt->places, "options.places"));
    return GPH_OK;
}

gph_status gph_loaded_create(gph_runtime *runtime, const gph_recipe *recipe,
                             const gph_loaded_options *options, gph_loaded **out,
                             gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, recipe, out));
    gph_loaded_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    gph_loaded *loaded = gphi_heap_alloc(runtime->heap, sizeof(*loaded));
    if (!loaded)
        return fail_memory(error);
    loaded->runtime = runtime;
    pthread_mutex_init(&loaded->mutex.native, NULL);
    gphi_vec_init(&loaded->classes, runtime->heap, sizeof(struct class));
    gphi_footprint_init(&loaded->footprint, runtime->heap);
    loaded->exec_options = (gph_exec_options)GPH_EXEC_OPTIONS_INIT;
    loaded->exec_options.flags = opt.exec_flags;
    loaded->exec_options.upload_stream = opt.stream ? opt.stream : CU_STREAM_PER_THREAD;
    struct loading loading = {
        .loaded = loaded,
        .build = {.runtime = runtime, .bundle = &recipe->bundle, .error = error},
        .options = &opt};
    gphi_map_init(&loading.known, runtime->heap);
    const gph_status status = load_all(&loading, recipe);
    gphi_map_fini(&loading.known);
    gphi_heap_free(runtime->heap, loading.build.shift,
                   (recipe->bundle.ranges.count + 1) * sizeof(*loading.build.shift));
    gphi_heap_free(runtime->heap, loading.build.found,
                   (recipe->bundle.kernels.count + 1) * sizeof(*loading.build.found));
    if (status != GPH_OK) {
        gph_loaded_destroy(loaded);
        return status;
    }
    *out = loaded;
    return GPH_OK;
}

int gph_loaded_get(const gph_loaded *loaded, uint32_t index, gph_loaded_graph *out)
{
    if (!loaded || index >= loaded->count)
        return 0;
    const struct loaded_graph *graph = &loaded->graphs[index];
    const gph_loaded_graph full = {
        .name = graph->name,
        .is_loaded = !graph->why,
        .status = graph->status,
        .why = graph->why ? graph->why : "",
        .inputs = graph->tensors,
        .outputs = graph->tensors ? graph->tensors + graph->input_count : NULL,
        .input_count = graph->input_count,
        .output_count = graph->tensor_count - graph->input_count,
        .is_checked = graph->is_checked,
        .recording = graph->recording};
    gphi_struct_write(out, &full, sizeof(full));
    return 1;
}

void gph_loaded_count(const gph_loaded *loaded, uint32_t *graphs, uint32_t *execs)
{
    uint32_t loaded_graphs = 0, made = 0;
    for (uint32_t i = 0; loaded && i < loaded->count; i++) {
        const struct loaded_graph *graph = &loaded->graphs[i];
        loaded_graphs += !graph->why;
        made += atomic_load_explicit(&graph->exec, memory_order_acquire) != NULL;
    }
    for (size_t i = 0; loaded && i < loaded->classes.count; i++)
        made += ((const struct class *)gphi_vec_at(&loaded->classes, i))->exec != NULL;
    if (graphs)
        *graphs = loaded_graphs;
    if (execs)
        *execs = made;
}

/* One without an executable of its own would be lost to the launches here. */
gph_status gph_loaded_take(gph_loaded *loaded, uint32_t index, CUgraph *out,
                           gph_error *error)
{
    GPHI_TRY(gphi_need(error, loaded, out));
    if (index >= loaded->count)
        return gphi_fail(error, GPH_E_INVALID, "there is no loaded graph %u", index);
    struct loaded_graph *graph = &loaded->graphs[index];
    if (!graph->graph || !atomic_load_explicit(&graph->exec, memory_order_relaxed))
        return gphi_fail(error, GPH_E_STATE,
                         "graph %.100s was not loaded with GPH_RECIPE_KEEP alone, or was "
                         "taken",
                         graph->name);
    if (graph->flows)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "graph %.100s has conditional nodes",
                         graph->name);
    *out = graph->graph;
    graph->graph = NULL;
    return GPH_OK;
}

/* A cache or a tree makes its own executables: what was made here goes, and the graph
 * is the other's until it is given back. */
void gphi_loaded_take(gph_loaded *loaded, uint32_t index, CUgraph *graph,
                      gph_recording_id *recording)
{
    struct loaded_graph *from = &loaded->graphs[index];
    *graph = from->graph;
    *recording = from->recording;
    from->graph = NULL;
    from->recording = 0;
    gph_exec_destroy(atomic_load_explicit(&from->exec, memory_order_relaxed));
    atomic_store_explicit(&from->exec, NULL, memory_order_relaxed);
}

void gphi_loaded_give(gph_loaded *loaded, uint32_t index, CUgraph graph,
                      gph_recording_id recording)
{
    loaded->graphs[index].graph = graph;
    loaded->graphs[index].recording = recording;
}

/* The mutex is held over the launch: between an update and its launch nobody else may
 * update the class's executable. */
static gph_status launch_slow(gph_loaded *loaded, uint32_t index, CUstream stream,
                              gph_error *error)
{
    gph_exec *exec = NULL;
    gphi_mutex_lock(&loaded->mutex);
    gph_status status = ready_locked(loaded, index, &exec, error);
    GPHI_THEN(status, gph_exec_launch(exec, stream, error));
    gphi_mutex_unlock(&loaded->mutex);
    return status;
}

gph_status gph_loaded_launch(gph_loaded *loaded, uint32_t index, CUstream stream,
                             gph_error *error)
{
    if (!loaded || index >= loaded->count)
        return gphi_fail(error, GPH_E_INVALID, "there is no loaded graph %u", index);
    struct loaded_graph *graph = &loaded->graphs[index];
    if (graph->why)
        return gphi_fail(error, GPH_E_STATE, "graph %.100s has to be captured: %.350s",
                         graph->name, graph->why);
    if (!graph->graph && !atomic_load_explicit(&graph->exec, memory_order_relaxed))
        return gphi_fail(error, GPH_E_STATE, "graph %.100s is a cache's", graph->name);
    if (graph->recording != 0)
        GPHI_TRY(gph_pool_replay(loaded->footprint.pool, graph->recording, error));
    gph_exec *own = atomic_load_explicit(&graph->exec, memory_order_acquire);
    if (own)
        return gph_exec_launch(own, stream, error);
    return launch_slow(loaded, index, stream, error);
}
