// SPDX-License-Identifier: Apache-2.0
/* A cache of shape buckets in a recipe: another process has its keys without capturing.
 *
 *   recipe_cache_test             captures, and starts the other process
 *   recipe_cache_test FILE BASE   the other process: an arena at BASE (0: as recorded) */
#define _GNU_SOURCE
#include "fault.h"
#include "recipe_child.h"

#include <gph/cache_figures.h>
#include <gph/recipe_load.h>

#include <stdbool.h>

enum { WIDTH = 16, ROWS_MAX = 16 };

static int captures;       /* of the function, in this process */
static gph_rng *generator; /* of caches made here, or NULL */

static gph_status launch(gph_call *call, CUdeviceptr to, CUdeviceptr from, float factor)
{
    unsigned int count = (unsigned int)(call->key[0] * WIDTH);
    void *params[] = {&to, &from, &factor, &count};
    return cu->LaunchKernel(axpy, (count + 127) / 128, 1, 1, 128, 1, 1, 0, call->stream,
                            params, NULL);
}

/* y = 2 (3 x + x) + x, over a temporary */
static gph_status function(void *user, gph_call *call, gph_error *why)
{
    (void)user;
    captures += call->phase == GPH_PHASE_CAPTURE;
    call->rng_count = call->rng != 0 && call->key[0] == 8;
    const gph_tensor *x = &call->inputs[0];
    const uint64_t bytes = (uint64_t)call->key[0] * WIDTH * sizeof(float);
    CUdeviceptr temporary = 0, y = 0;
    gph_status status = gph_pool_alloc(call->pool, bytes, call->stream, &temporary, why);
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, bytes, call->stream, &y, why);
    if (status != GPH_OK)
        return status;
    call->outputs[0] =
        gph_tensor_dense(y, GPH_DTYPE_F32, 2, (const int64_t[]){call->key[0], WIDTH});
    status = cu->MemcpyDtoDAsync(temporary, x->data, bytes, call->stream);
    if (status == GPH_OK)
        status = launch(call, temporary, x->data, 3.0f);
    if (status == GPH_OK)
        status = cu->MemcpyDtoDAsync(y, temporary, bytes, call->stream);
    if (status == GPH_OK)
        status = launch(call, y, x->data, 2.0f);
    if (status == GPH_OK)
        status = gph_pool_free(call->pool, temporary, call->stream, why);
    return gph_cuda_check(status, "the function", why);
}

/* What a cache is built on. */
struct setting {
    gph_arena *arena;
    gph_pool *pool;
    gph_cache *cache;
    gph_loaded *loaded;
};

static gph_arena *make_arena(CUdeviceptr base)
{
    gph_arena *arena = NULL;
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = 64 << 20;
    options.base = base;
    if (gph_arena_create(runtime, &options, &arena, &error) != GPH_OK)
        fprintf(stderr, "arena at 0x%llx: %s\n", (unsigned long long)base, error.message);
    return arena;
}

static const int64_t rows[] = {4, 8, ROWS_MAX};
static const gph_cache_axis axis = {
    .name = "rows", .ladder = GPH_LADDER_LIST, .values = rows, .value_count = 3};
static const gph_cache_tensor tensor = {.dtype = GPH_DTYPE_F32,
                                        .rank = 2,
                                        .shape = {1, WIDTH},
                                        .axis = {1, 0},
                                        .fill = GPH_FILL_ZERO};

static gph_cache_options cache_options(gph_pool *pool)
{
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.name = "decode";
    options.pool = pool;
    options.axes = &axis;
    options.axis_count = 1;
    options.inputs = options.outputs = &tensor;
    options.input_count = options.output_count = 1;
    options.function = function;
    options.lazy = GPH_CACHE_LAZY_OFF;
    options.rng = generator;
    return options;
}

static void open_pool(struct setting *setting, CUdeviceptr base)
{
    setting->arena = make_arena(base);
    if (setting->arena != NULL)
        CHECK_OK(gph_pool_create(setting->arena, NULL, &setting->pool, &error), error);
}

static void close_setting(struct setting *setting)
{
    gph_cache_destroy(setting->cache);
    gph_loaded_destroy(setting->loaded);
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(setting->pool, &stats);
    CHECK(stats.allocation_count == 0 && stats.recording_count == 0);
    gph_pool_release(setting->pool);
    gph_arena_destroy(setting->arena);
}

/* Calls it with so many rows, and compares; the verdict is what was expected. */
static void call(gph_cache *cache, int64_t count, gph_cache_verdict verdict)
{
    float host[ROWS_MAX * WIDTH], got[ROWS_MAX * WIDTH] = {0};
    const size_t bytes = (size_t)count * WIDTH * sizeof(float);
    CUdeviceptr x = 0, y = 0;
    for (int i = 0; i < ROWS_MAX * WIDTH; i++)
        host[i] = (float)(i + (int)count);
    CU(MemAlloc, &x, sizeof(host));
    CU(MemAlloc, &y, sizeof(host));
    CU(MemcpyHtoDAsync, x, host, sizeof(host), stream);
    const int64_t shape[] = {count, WIDTH};
    const gph_tensor input = gph_tensor_dense(x, GPH_DTYPE_F32, 2, shape);
    gph_tensor output = gph_tensor_dense(y, GPH_DTYPE_F32, 2, shape);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    args.stream = stream;
    args.sizes = &count;
    args.inputs = &input;
    args.outputs = &output;
    CHECK_OK(gph_cache_call(cache, &args, &error), error);
    CHECK(args.match.verdict == verdict);
    CU(MemcpyDtoHAsync, got, y, bytes, stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        wrong += got[i] != 2.0f * (3.0f * host[i] + host[i]) + host[i];
    CHECK(wrong == 0);
    CU(MemFree, y);
    CU(MemFree, x);
}

static void capture_keys(struct setting *setting, uint32_t count)
{
    const uint32_t keys[] = {0, 1, 2};
    const gph_cache_options options = cache_options(setting->pool);
    CHECK_OK(gph_cache_create(runtime, &options, &setting->cache, &error), error);
    CHECK_OK(gph_cache_start(setting->cache, stream, keys, count, NULL, NULL, &error),
             error);
    call(setting->cache, 8, GPH_CACHE_EXACT);
}

static void a_cache_is_loaded_in_another_process(void)
{
    struct setting one = {0}, two = {0};
    open_pool(&one, 0);
    open_pool(&two, 0);
    capture_keys(&one, 2); /* the third has to be captured there */
    capture_keys(&two, 2);
    gph_recipe *recipe = NULL;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", one.arena, two.arena, NULL, &error),
             error);
    gph_recipe_cache_entry entry = GPH_RECIPE_CACHE_ENTRY_INIT;
    entry.cache = one.cache;
    entry.shifted = two.cache;
    entry.check = 1;
    entry.stream = stream;
    CHECK_OK(gph_recipe_add_cache(recipe, &entry, &error), error);
    gph_recipe_graph graph = GPH_SIZED(gph_recipe_graph);
    CHECK(gph_recipe_graph_get(recipe, 0, &graph) && graph.refusal_count == 0 &&
          graph.has_check && graph.key_count == 1 && graph.key[0] == 4 &&
          graph.input_count == 2 && graph.output_count == 1);
    CHECK(gph_recipe_find(recipe, graph.name) == 0 &&
          strncmp(graph.name, "decode ", 7) == 0);
    CHECK(!gph_recipe_graph_get(recipe, 2, &graph));
    CHECK(gph_recipe_add_cache(recipe, &entry, &error) == GPH_E_INVALID); /* twice */
    entry.cache = NULL;
    CHECK(gph_recipe_add_cache(recipe, &entry, &error) == GPH_E_INVALID);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);
    CUdeviceptr base = 0;
    gph_arena_range(one.arena, &base, NULL);
    CHECK(run_other(0) == 0);
    CHECK(run_other(base + (1 << 30)) == 0);
    close_setting(&two);
    close_setting(&one);
}

static void keys_of_one_cache_only_are_refused(void)
{
    struct setting one = {0}, two = {0};
    open_pool(&one, 0);
    open_pool(&two, 0);
    capture_keys(&one, 3);
    capture_keys(&two, 2);
    gph_recipe *recipe = NULL;
    gph_recipe_cache_entry entry = GPH_RECIPE_CACHE_ENTRY_INIT;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", one.arena, two.arena, NULL, &error),
             error);
    entry.cache = one.cache;
    entry.shifted = two.cache;
    CHECK(gph_recipe_add_cache(recipe, &entry, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "in one of the caches only") != NULL);
    gph_recipe_destroy(recipe);
    close_setting(&two);
    close_setting(&one);
}

static void keys_that_draw_are_refused(void)
{
    struct setting one = {0};
    CHECK_OK(gph_rng_create(runtime, 1, &generator, &error), error);
    open_pool(&one, 0);
    capture_keys(&one, 2);
    gph_recipe *recipe = NULL;
    gph_recipe_cache_entry entry = GPH_RECIPE_CACHE_ENTRY_INIT;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", one.arena, NULL, NULL, &error), error);
    entry.cache = one.cache;
    CHECK(gph_recipe_add_cache(recipe, &entry, &error) == GPH_E_UNSUPPORTED);
    CHECK(strstr(error.message, "key 1 (decode rows 8) draws random numbers") != NULL);
    gph_recipe_destroy(recipe);
    close_setting(&one);
    gph_rng_destroy(generator);
    generator = NULL;
}

/* ---- the other process ---- */

static void use_cache(struct setting *setting)
{
    gph_cache *cache = setting->cache;
    call(cache, 3, GPH_CACHE_PADDED);
    call(cache, 4, GPH_CACHE_EXACT);
    call(cache, 8, GPH_CACHE_EXACT);
    call(cache, 5, GPH_CACHE_PADDED);
    call(cache, 16, GPH_CACHE_MISS); /* called eagerly */
    CHECK(captures == 0);
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK(captures == 1); /* the one that was not in the file */
    call(cache, 16, GPH_CACHE_EXACT);
    call(cache, 4, GPH_CACHE_EXACT);
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    gph_cache_stats_get(cache, &stats);
    CHECK(stats.captured_count == 3 && stats.captures == 1);
    CHECK_OK(gph_cache_evict(cache, 0, &error), error); /* as any other key */
    call(cache, 8, GPH_CACHE_EXACT);
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    CHECK(gph_loaded_get(setting->loaded, 0, &graph) && graph.is_loaded);
    CHECK(gph_loaded_launch(setting->loaded, 0, stream, &error) == GPH_E_STATE);
}

static fault_heap heap = {.fail_at = -1}; /* of the runtime */

/* Each allocation of the load fails in turn: nothing is left in the pool. */
static void survive_failed_allocations(const gph_recipe *recipe, gph_pool *pool,
                                       const gph_loaded_cache_options *both)
{
    for (long nth = 0; nth < 3000; nth++) {
        gph_cache *cache = NULL;
        gph_loaded *loaded = NULL;
        atomic_store(&heap.fail_at, nth);
        const gph_loaded_cache_options plain = {sizeof(gph_loaded_cache_options),
                                                both->cache, NULL};
        const gph_status status = gph_loaded_create_cache(
            runtime, recipe, nth % 2 == 0 ? both : &plain, &cache, &loaded, &error);
        const bool is_done = atomic_load(&heap.fail_at) >= 0;
        atomic_store(&heap.fail_at, -1);
        CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && !is_done));
        CHECK((status == GPH_OK) == (cache != NULL) &&
              (cache != NULL) == (loaded != NULL));
        gph_cache_destroy(cache);
        gph_loaded_destroy(loaded);
        gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
        gph_pool_stats_get(pool, &stats);
        if (!CHECK(stats.allocation_count == 0 && stats.recording_count == 0))
            fprintf(stderr, "  allocation %ld: %u allocations, %u recordings\n", nth,
                    stats.allocation_count, stats.recording_count);
        if (is_done)
            return;
    }
    CHECK(atomic_load(&test_failures) > 0); /* it never ended */
}

/* A cache of the same name whose tensors are others: neither placed nor loaded. */
static void refuse_other_shapes(const gph_recipe *recipe, gph_pool *pool)
{
    gph_cache_tensor wide = tensor, half = tensor;
    wide.shape[1] = 2 * WIDTH;
    half.dtype = GPH_DTYPE_F16;
    const gph_cache_tensor two[] = {tensor, tensor};
    const struct {
        const gph_cache_tensor *inputs, *outputs;
        uint32_t input_count;
        const char *text;
    } cases[] = {
        {&wide, &tensor, 1, "decode rows 4: input 0: shape[1] is "},
        {&tensor, &wide, 1, "decode rows 4: output 0: shape[1] is "},
        {&half, &tensor, 1, ": input 0 is f32 of rank 2, in decode f16 of rank 2"},
        {two, &tensor, 2, "decode rows 4 has 1 inputs and 1 outputs, decode has 2 and 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        gph_cache_options options = cache_options(pool);
        options.inputs = cases[i].inputs;
        options.outputs = cases[i].outputs;
        options.input_count = cases[i].input_count;
        const gph_loaded_cache_options other = {sizeof(gph_loaded_cache_options),
                                                &options, NULL};
        gph_cache *cache = NULL;
        gph_loaded *loaded = NULL;
        CHECK(gph_loaded_create_cache(runtime, recipe, &other, &cache, &loaded, &error) ==
              GPH_E_INVALID);
        CHECK(says(cases[i].text) && cache == NULL && loaded == NULL);
    }
}

static int load_here(const char *path, CUdeviceptr base)
{
    gph_recipe *recipe = NULL;
    gph_recipe_range range = GPH_SIZED(gph_recipe_range);
    CHECK_OK(gph_recipe_load(path, NULL, &recipe, &error), error);
    CHECK(gph_recipe_range_get(recipe, 0, &range) != 0);
    struct setting setting = {0};
    open_pool(&setting, base == 0 ? range.address : base);
    if (setting.arena == NULL)
        return base == 0; /* another place is not promised */
    gph_loaded_options load = GPH_LOADED_OPTIONS_INIT;
    load.flags = GPH_RECIPE_CHECK;
    load.stream = stream;
    const gph_cache_options options = cache_options(setting.pool);
    const gph_loaded_cache_options both = {sizeof(gph_loaded_cache_options), &options,
                                           &load};
    gph_rng *rng = NULL;
    CHECK_OK(gph_rng_create(runtime, 1, &rng, &error), error);
    gph_cache_options draws = options;
    draws.rng = rng;
    const gph_loaded_cache_options with_rng = {sizeof(gph_loaded_cache_options), &draws,
                                               &load};
    CHECK(gph_loaded_create_cache(runtime, recipe, &with_rng, &setting.cache,
                                  &setting.loaded, &error) == GPH_E_UNSUPPORTED &&
          setting.cache == NULL && strstr(error.message, "rng") != NULL);
    gph_rng_destroy(rng);
    refuse_other_shapes(recipe, setting.pool);
    survive_failed_allocations(recipe, setting.pool, &both);
    CHECK_OK(gph_loaded_create_cache(runtime, recipe, &both, &setting.cache,
                                     &setting.loaded, &error),
             error);
    gph_recipe_destroy(recipe);
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    for (uint32_t i = 0; gph_loaded_get(setting.loaded, i, &graph); i++)
        if (!CHECK(graph.is_loaded && graph.is_checked))
            fprintf(stderr, "  %s: %s\n", graph.name, graph.why);
    if (setting.cache != NULL)
        use_cache(&setting);
    close_setting(&setting);
    return atomic_load(&test_failures) != 0;
}

static void run_all(void)
{
    RUN(a_cache_is_loaded_in_another_process);
    RUN(keys_of_one_cache_only_are_refused);
    RUN(keys_that_draw_are_refused);
}

int main(int argc, char **argv)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    return recipe_main(argc, argv, &allocator, load_here, run_all);
}
