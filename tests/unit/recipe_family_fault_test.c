// SPDX-License-Identifier: Apache-2.0
/* A cache and a tree are added to a recipe, and loaded from one, on softcuda, while each
 * call of the driver fails in turn: nothing is left over, and what is made afterwards in
 * the same memory works. */
#define _GNU_SOURCE
#include "fault.h"
#include "recipe_shim.h"
#include "recipe_work.h"

#include <gph/cache_figures.h>
#include <gph/recipe_load.h>

#include <unistd.h>

enum { WIDTH = COUNT / 4, KEYS = 2 };

static fault_heap heap = {.fail_at = -1}; /* of the runtime: it counts */
static char folder[] = "/tmp/recipe-family-XXXXXX";
static char file[64];
static CUdeviceptr home; /* where the arena was when the file was made */
static CUdeviceptr x, y;
static float factors[] = {1.0f, 2.0f};

/* y = (factor + 1) x, over a temporary; `user` is the factor. */
static gph_status scale(void *user, gph_call *call, gph_error *why)
{
    const gph_tensor *from = &call->inputs[0];
    unsigned int count = 1;
    for (uint32_t i = 0; i < from->rank; i++)
        count *= (unsigned int)from->shape[i];
    const size_t bytes = count * sizeof(float);
    CUdeviceptr temporary = 0, to = 0, data = from->data;
    void *params[] = {&temporary, &data, user, &count};
    gph_status status = gph_pool_alloc(call->pool, bytes, call->stream, &temporary, why);
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, bytes, call->stream, &to, why);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = *from;
    call->outputs[0].data = to;
    status = cu->MemcpyDtoDAsync(temporary, data, bytes, call->stream);
    if (status == GPH_OK)
        status = cu->LaunchKernel(axpy, (count + 127) / 128, 1, 1, 128, 1, 1, 0,
                                  call->stream, params, NULL);
    if (status == GPH_OK)
        status = cu->MemcpyDtoDAsync(to, temporary, bytes, call->stream);
    if (status == GPH_OK)
        status = gph_pool_free(call->pool, temporary, call->stream, why);
    return gph_cuda_check(status, "scale", why);
}

static void check_words(CUdeviceptr at, size_t count, float factor)
{
    float host[COUNT] = {0};
    CU(MemcpyDtoHAsync, host, at, count * sizeof(float), stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += host[i] != factor * (float)i;
    CHECK(wrong == 0);
}

static gph_arena *make_arena(void)
{
    gph_arena *arena = NULL;
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = 64 << 20;
    options.base = home;
    CHECK_OK(gph_arena_create(runtime, &options, &arena, &error), error);
    gph_arena_range(arena, &home, NULL);
    return arena;
}

/* What is there; nothing of it may be more afterwards. */
struct tally {
    long graphs, execs, modules, others, heap;
};

static struct tally take_tally(void)
{
    return (struct tally){live.graphs, live.execs, live.modules, live.others,
                          atomic_load(&heap.live_bytes)};
}

static void check_tally(const struct tally *before, const char *what, long nth)
{
    const struct tally now = take_tally();
    if (!CHECK(memcmp(before, &now, sizeof(now)) == 0))
        fprintf(stderr,
                "  %s, call %ld (%s): %+ld graphs, %+ld execs, %+ld modules, %+ld "
                "others, %+ld\n",
                what, nth, shim.failed, now.graphs - before->graphs,
                now.execs - before->execs, now.modules - before->modules,
                now.others - before->others, now.heap - before->heap);
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CHECK(below.cuStreamIsCapturing(stream, &capture) == 0 && capture == 0);
}

/* Ends the window in which a call fails; whether none was left to fail. */
static bool end_window(gph_status status, bool may_work, const char *what, long nth)
{
    const bool is_done = shim.fail_at >= 0;
    shim.fail_at = -1;
    CHECK(below.cuCtxSynchronize() == 0); /* the call that failed may be one that waits */
    may_work |= is_done || is_mere_information(shim.failed);
    if (!CHECK((status == GPH_OK && may_work) ||
               (status == (gph_status)CUDA_ERROR_UNKNOWN && !is_done)))
        fprintf(stderr, "  %s, call %ld (%s): %d, %s\n", what, nth, shim.failed,
                (int)status, error.message);
    return is_done;
}

/* The graphs that a failure kept out: they say so. */
static uint32_t count_refused(const gph_loaded *loaded)
{
    uint32_t refused = 0;
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    for (uint32_t i = 0; loaded != NULL && gph_loaded_get(loaded, i, &graph); i++) {
        CHECK(graph.is_loaded == (graph.status == GPH_OK));
        CHECK(graph.is_loaded ||
              (graph.why[0] != '\0' && graph.status == (gph_status)CUDA_ERROR_UNKNOWN));
        refused += !graph.is_loaded;
    }
    return refused;
}

/* What a recipe holds: the same after a call that failed. */
static void check_same_recipe(const gph_recipe *recipe, const gph_recipe_summary *before,
                              long nth)
{
    gph_recipe_summary now = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary_get(recipe, &now);
    if (!CHECK(now.graph_count == before->graph_count &&
               now.kernel_count == before->kernel_count &&
               now.image_count == before->image_count))
        fprintf(stderr, "  call %ld (%s): %u graphs, %u kernels, %u images\n", nth,
                shim.failed, now.graph_count, now.kernel_count, now.image_count);
}

static gph_recipe *make_recipe(const gph_arena *arena)
{
    gph_recipe *recipe = NULL;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", arena, NULL, NULL, &error), error);
    return recipe;
}

/* ---- caches ---- */

static gph_cache_options cache_options(gph_pool *pool)
{
    static const int64_t rows[KEYS] = {2, 4};
    static const gph_cache_axis axis = {
        .name = "rows", .ladder = GPH_LADDER_LIST, .values = rows, .value_count = KEYS};
    static const gph_cache_tensor tensor = {.dtype = GPH_DTYPE_F32,
                                            .rank = 2,
                                            .shape = {1, WIDTH},
                                            .axis = {1, 0},
                                            .fill = GPH_FILL_ZERO};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.name = "decode";
    options.pool = pool;
    options.axes = &axis;
    options.axis_count = 1;
    options.inputs = options.outputs = &tensor;
    options.input_count = options.output_count = 1;
    options.function = scale;
    options.user = &factors[0];
    options.lazy = GPH_CACHE_LAZY_OFF;
    return options;
}

/* Calls it for each key, which must be there. */
static void use_cache(gph_cache *cache)
{
    for (int64_t rows = 2; rows <= 4; rows += 2) {
        const int64_t shape[] = {rows, WIDTH};
        const gph_tensor input = gph_tensor_dense(x, GPH_DTYPE_F32, 2, shape);
        gph_tensor output = gph_tensor_dense(y, GPH_DTYPE_F32, 2, shape);
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        args.stream = stream;
        args.sizes = &rows;
        args.inputs = &input;
        args.outputs = &output;
        CU(MemsetD8Async, y, 0xff, BYTES, stream);
        CHECK_OK(gph_cache_call(cache, &args, &error), error);
        CHECK(args.match.verdict == GPH_CACHE_EXACT);
        check_words(y, (size_t)rows * WIDTH, 2.0f);
    }
}

static gph_cache *capture_cache(gph_pool *pool)
{
    gph_cache *cache = NULL;
    const gph_cache_options options = cache_options(pool);
    CHECK_OK(gph_cache_create(runtime, &options, &cache, &error), error);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    use_cache(cache);
    return cache;
}

static void check_pool_is_empty(const gph_pool *pool, long nth)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    if (!CHECK(stats.allocation_count == 0 && stats.recording_count == 0 &&
               stats.allocated_bytes == 0))
        fprintf(stderr, "  call %ld (%s): %u allocations, %u recordings\n", nth,
                shim.failed, stats.allocation_count, stats.recording_count);
}

static void a_cache_is_added(void)
{
    gph_arena *arena = make_arena();
    gph_pool *pool = NULL;
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    gph_cache *cache = capture_cache(pool);
    gph_recipe_cache_entry entry = GPH_RECIPE_CACHE_ENTRY_INIT;
    entry.cache = cache;
    entry.check = 1;
    entry.stream = stream;
    const struct tally before = take_tally();
    long nth = 0;
    for (bool is_done = false; !is_done && nth < 3000; nth++) {
        gph_recipe *recipe = make_recipe(arena);
        gph_recipe_summary summary = GPH_SIZED(gph_recipe_summary);
        shim.fail_at = nth;
        const gph_status status = gph_recipe_add_cache(recipe, &entry, &error);
        is_done = end_window(status, false, "adding a cache", nth);
        gph_recipe_summary_get(recipe, &summary); /* the keys before it are added */
        CHECK(status == GPH_OK ? summary.graph_count == KEYS
                               : summary.graph_count < KEYS);
        if (is_done)
            CHECK_OK(gph_recipe_save(recipe, file, &error), error);
        gph_recipe_destroy(recipe);
        use_cache(cache);
        check_tally(&before, "adding a cache", nth);
    }
    CHECK(nth > 20);
    gph_cache_destroy(cache);
    check_pool_is_empty(pool, -1);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

/* Loads it while the `nth` call fails, completes it, and loads it again. */
static bool load_cache(const gph_recipe *recipe, long nth, uint32_t flags)
{
    gph_arena *arena = make_arena();
    gph_pool *pool = NULL;
    gph_cache *cache = NULL;
    gph_loaded *loaded = NULL;
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    gph_loaded_options load = GPH_LOADED_OPTIONS_INIT;
    load.flags = flags;
    load.stream = stream;
    const gph_cache_options options = cache_options(pool);
    const gph_loaded_cache_options both = {sizeof(gph_loaded_cache_options), &options,
                                           &load};
    shim.fail_at = nth;
    const gph_status status =
        gph_loaded_create_cache(runtime, recipe, &both, &cache, &loaded, &error);
    const uint32_t refused = count_refused(loaded);
    /* A graph that no executable can be updated with gets its own. */
    const bool may_work = refused > 0 || strcmp(shim.failed, "cuGraphExecUpdate") == 0;
    const bool is_done = end_window(status, may_work, "loading a cache", nth);
    CHECK((status == GPH_OK) == (cache != NULL) && (cache != NULL) == (loaded != NULL));
    CHECK(!is_done || refused == 0);
    if (cache != NULL) {
        CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
        gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
        gph_cache_stats_get(cache, &stats);
        CHECK(stats.captures == refused);
        use_cache(cache);
    }
    gph_cache_destroy(cache);
    gph_loaded_destroy(loaded);
    check_pool_is_empty(pool, nth);
    cache = NULL;
    loaded = NULL;
    CHECK_OK(gph_loaded_create_cache(runtime, recipe, &both, &cache, &loaded, &error),
             error);
    CHECK(count_refused(loaded) == 0);
    if (cache != NULL)
        use_cache(cache);
    gph_cache_destroy(cache);
    gph_loaded_destroy(loaded);
    check_pool_is_empty(pool, nth);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return is_done;
}

static const uint32_t ways[] = {0, GPH_RECIPE_CHECK, GPH_RECIPE_CHECK | GPH_RECIPE_SHARE};

static void sweep(bool (*load)(const gph_recipe *, long, uint32_t), const char *what)
{
    gph_recipe *recipe = NULL;
    CHECK_OK(gph_recipe_load(file, NULL, &recipe, &error), error);
    for (size_t way = 0; way < sizeof(ways) / sizeof(*ways) && recipe != NULL; way++) {
        load(recipe, 100000, ways[way]); /* what is made once is there from now on */
        const struct tally before = take_tally();
        long nth = 0;
        for (bool is_done = false; !is_done && nth < 3000; nth++) {
            is_done = load(recipe, nth, ways[way]);
            check_tally(&before, what, nth);
        }
        CHECK(nth > 20 && nth < 3000);
    }
    gph_recipe_destroy(recipe);
}

static void a_cache_is_loaded(void)
{
    sweep(load_cache, "loading a cache");
}

/* ---- trees ---- */

struct grown {
    gph_tree *tree;
    gph_tree_function *functions[2];
};

static void make_tree(gph_arena *arena, struct grown *grown)
{
    static const char *const names[] = {"one", "two"};
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    options.flags = GPH_TREE_KEEP_GRAPHS;
    options.stream = stream;
    *grown = (struct grown){0};
    CHECK_OK(gph_tree_create(runtime, arena, &options, &grown->tree, &error), error);
    for (int i = 0; i < 2; i++) {
        gph_tree_function_options function = GPH_TREE_FUNCTION_OPTIONS_INIT;
        function.name = names[i];
        function.input_count = function.output_count = 1;
        CHECK_OK(gph_tree_function_add(grown->tree, scale, &factors[i], &function,
                                       &grown->functions[i], &error),
                 error);
    }
}

/* one, then two; with right results, and replayed if `is_replayed`. */
static void walk(const struct grown *grown, bool is_replayed)
{
    const int64_t shape[] = {COUNT};
    gph_tree_input input = {.tensor = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output outputs[2] = {{0}};
    float factor = 1.0f;
    CHECK_OK(gph_tree_step_begin(grown->tree, &error), error);
    for (int i = 0; i < 2; i++) {
        gph_tree_event event = GPH_SIZED(gph_tree_event);
        CUdeviceptr data = 0;
        CHECK_OK(gph_tree_call(grown->tree, grown->functions[i], NULL, &input,
                               &outputs[i], &error),
                 error);
        gph_tree_event_get(grown->tree, &event);
        CHECK(!is_replayed || event.action == GPH_TREE_REPLAYED);
        CHECK_OK(gph_tree_output_data(grown->tree, outputs[i], &data, &error), error);
        factor *= factors[i] + 1.0f;
        check_words(data, COUNT, factor);
        input = (gph_tree_input){.output = outputs[i]};
    }
    gph_tree_output_release(grown->tree, outputs[1]);
    gph_tree_output_release(grown->tree, outputs[0]);
}

static void a_tree_is_added(void)
{
    gph_arena *arena = make_arena();
    struct grown grown;
    make_tree(arena, &grown);
    for (int i = 0; i < 3; i++)
        walk(&grown, i == 2);
    const struct tally before = take_tally();
    long nth = 0;
    for (bool is_done = false; !is_done && nth < 3000; nth++) {
        gph_recipe *recipe = make_recipe(arena);
        gph_recipe_summary summary = GPH_SIZED(gph_recipe_summary);
        gph_recipe_summary_get(recipe, &summary);
        shim.fail_at = nth;
        const gph_status status =
            gph_recipe_add_tree(recipe, grown.tree, 1, NULL, &error);
        is_done = end_window(status, false, "adding a tree", nth);
        if (status != GPH_OK) {
            check_same_recipe(recipe, &summary, nth);
            CHECK_OK(gph_recipe_add_tree(recipe, grown.tree, 1, NULL, &error), error);
        }
        gph_recipe_summary_get(recipe, &summary);
        CHECK(summary.graph_count == 2 && summary.refused_count == 0);
        CHECK_OK(gph_recipe_save(recipe, file, &error), error);
        gph_recipe_destroy(recipe);
        walk(&grown, true);
        check_tally(&before, "adding a tree", nth);
    }
    CHECK(nth > 20);
    gph_tree_destroy(grown.tree);
    gph_arena_destroy(arena);
}

static bool load_tree(const gph_recipe *recipe, long nth, uint32_t flags)
{
    gph_arena *arena = make_arena();
    struct grown grown;
    gph_loaded *loaded = NULL;
    gph_loaded_options load = GPH_LOADED_OPTIONS_INIT;
    load.flags = flags;
    make_tree(arena, &grown);
    shim.fail_at = nth;
    const gph_status status =
        gph_loaded_create_tree(recipe, grown.tree, &load, &loaded, &error);
    const uint32_t refused = count_refused(loaded);
    const bool is_done = end_window(status, refused > 0, "loading a tree", nth);
    CHECK((status == GPH_OK) == (loaded != NULL));
    CHECK(!is_done || refused == 0);
    /* It is a tree all the same. */
    for (int i = 0; i < 3; i++)
        walk(&grown, i == 2 || (status == GPH_OK && refused == 0));
    gph_tree_destroy(grown.tree);
    gph_loaded_destroy(loaded);
    loaded = NULL;
    make_tree(arena, &grown);
    CHECK_OK(gph_loaded_create_tree(recipe, grown.tree, &load, &loaded, &error), error);
    CHECK(count_refused(loaded) == 0);
    walk(&grown, true);
    gph_tree_destroy(grown.tree);
    gph_loaded_destroy(loaded);
    gph_arena_destroy(arena);
    return is_done;
}

static void a_tree_is_loaded(void)
{
    sweep(load_tree, "loading a tree");
}

static bool open_all(const gph_allocator *allocator)
{
    CHECK_OK(gphi_runtime_create(allocator, &shim_source, &runtime, &error), error);
    cu = gph_cuda(runtime);
    CUcontext context = NULL;
    if (cu->DevicePrimaryCtxRetain(&context, 0) != 0 || cu->CtxSetCurrent(context) != 0)
        return false;
    CU(StreamCreate, &stream, 1);
    CU(MemAlloc, &x, BYTES);
    CU(MemAlloc, &y, BYTES);
    write_x(x);
    snprintf(file, sizeof(file), "%s/recipe.gphr", folder);
    return true;
}

int main(void)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_module *module = NULL;
    if (!shim_open(GPH_DRIVER_SOFT, rules))
        return 77;
    shim.has_all = true;
    if (!CHECK(below.cuInit(0) == 0) || mkdtemp(folder) == NULL || !open_all(&allocator))
        return 1;
    CHECK_OK(gph_module_load(runtime, work_ptx, strlen(work_ptx), &module, &error),
             error);
    CHECK_OK(gph_module_function(module, "axpy", &axpy, &error), error);
    RUN(a_cache_is_added);
    RUN(a_cache_is_loaded);
    RUN(a_tree_is_added);
    RUN(a_tree_is_loaded);
    unlink(file);
    rmdir(folder);
    gph_module_unload(module);
    cu->MemFree(y);
    cu->MemFree(x);
    cu->StreamDestroy(stream);
    cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    shim_close();
    return test_done();
}
