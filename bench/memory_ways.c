// SPDX-License-Identifier: Apache-2.0
/* The ways to hold the memory of many graphs, side by side: each graph with a pool of its
 * own, callables in one pool, a cache of buckets, a tree, and the peak of the same work
 * run eagerly.
 *
 * A layer of width w: 3w, then w, 4w and w, each from the one before, each freed when it
 * was read; the most at once is 5w. */
#define _GNU_SOURCE
#include "memory_ways.h"
#include "chain.h"

enum { LAYERS = 24, WIDTH = 256, BUCKETS = 7, TOKENS_MAX = 1024 };

static CUdeviceptr source;
static int64_t tokens_of[BUCKETS]; /* 16 ... 1024 */

/* What a function does: layers in a row. */
struct chain {
    uint32_t layers;
};

static gph_status next(const gph_call *call, CUdeviceptr *last, bool is_ours,
                       uint64_t count, gph_error *error)
{
    CUdeviceptr to = 0;
    gph_status status = gph_pool_alloc(call->pool, count * 4, call->stream, &to, error);
    if (status == GPH_OK) /* as many elements as both have */
        status = launch_add(call->stream, to, *last, WIDTH);
    if (status == GPH_OK && is_ours)
        status = gph_pool_free(call->pool, *last, call->stream, error);
    *last = to;
    return status;
}

static gph_status run_layers(void *user, gph_call *call, gph_error *error)
{
    static const uint32_t widths[] = {3, 1, 4, 1};
    const struct chain *chain = user;
    const int64_t tokens = call->inputs[0].shape[0];
    CUdeviceptr last = call->inputs[0].data;
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < 4 * chain->layers && status == GPH_OK; i++)
        status =
            next(call, &last, i > 0, (uint64_t)tokens * WIDTH * widths[i % 4], error);
    const int64_t shape[] = {tokens, WIDTH};
    call->outputs[0] = gph_tensor_dense(last, GPH_DTYPE_F32, 2, shape);
    return status;
}

/* Most bytes that were allocated at a time, and pages mapped for them. */
struct taken {
    uint64_t peak, pages;
};

static struct taken taken_of(const gph_pool *pool)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    return (struct taken){stats.peak_bytes, stats.mapped_bytes};
}

static struct taken sum_of(struct taken a, struct taken b)
{
    return (struct taken){a.peak + b.peak, a.pages + b.pages};
}

static gph_tensor input_of(int64_t tokens)
{
    const int64_t shape[] = {tokens, WIDTH};
    return gph_tensor_dense(source, GPH_DTYPE_F32, 2, shape);
}

static gph_callable_options options_of(struct chain *chain, const gph_tensor *input,
                                       gph_pool *pool)
{
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    options.function = run_layers;
    options.user = chain;
    options.sample = (gph_arguments){.inputs = input, .input_count = 1};
    options.pool = pool;
    options.stream = stream;
    options.output_count = 1;
    return options;
}

/* ---- one function, many sizes ---- */

/* The input's copy is counted as well, since all others have one. */
static struct taken eager_buckets(struct chain *chain)
{
    gph_pool *pool = make_pool();
    for (int i = BUCKETS - 1; i >= 0; i--) {
        gph_tensor input = input_of(tokens_of[i]), output = {0};
        GPH(gph_pool_alloc(pool, gph_tensor_bytes(&input), stream, &input.data, error));
        const gph_callable_options options = options_of(chain, &input, pool);
        GPH(gph_function_call(runtime, &options, &options.sample, stream, &output,
                              error));
        GPH(gph_pool_free(pool, output.data, stream, error));
        GPH(gph_pool_free(pool, input.data, stream, error));
    }
    CU(StreamSynchronize, stream);
    const struct taken peak = taken_of(pool);
    gph_pool_release(pool);
    return peak;
}

/* `apart`: each with a pool of its own. */
static struct taken callable_buckets(struct chain *chain, bool apart)
{
    gph_pool *pools[BUCKETS];
    gph_callable *callables[BUCKETS];
    struct taken bytes = {0};
    for (int i = BUCKETS - 1; i >= 0; i--) {
        const gph_tensor input = input_of(tokens_of[i]);
        pools[i] =
            apart || i == BUCKETS - 1 ? make_pool() : gph_pool_retain(pools[BUCKETS - 1]);
        gph_callable_options options = options_of(chain, &input, pools[i]);
        options.flags = GPH_CALLABLE_SHARE_INPUTS | GPH_CALLABLE_ANY_ORDER;
        GPH(gph_callable_create(runtime, &options, &callables[i], error));
    }
    for (int i = 0; i < BUCKETS; i++)
        bytes = apart || i == 0 ? sum_of(bytes, taken_of(pools[i])) : bytes;
    CU(StreamSynchronize, stream);
    for (int i = 0; i < BUCKETS; i++) {
        gph_callable_destroy(callables[i]);
        gph_pool_release(pools[i]);
    }
    return bytes;
}

static struct taken cache_buckets(struct chain *chain)
{
    static const gph_cache_tensor tensor = {
        .dtype = GPH_DTYPE_F32, .rank = 2, .shape = {1, WIDTH}, .axis = {1}};
    const gph_cache_axis axis = {.name = "tokens",
                                 .ladder = GPH_LADDER_LIST,
                                 .values = tokens_of,
                                 .value_count = BUCKETS};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    gph_pool *pool = make_pool();
    gph_cache *cache = NULL;
    options.pool = pool;
    options.axes = &axis;
    options.axis_count = 1;
    options.inputs = options.outputs = &tensor;
    options.input_count = options.output_count = 1;
    options.function = run_layers;
    options.user = chain;
    GPH(gph_cache_create(runtime, &options, &cache, error));
    GPH(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, error));
    const struct taken taken = taken_of(pool);
    gph_cache_destroy(cache);
    gph_pool_release(pool);
    return taken;
}

/* ---- many functions in a row ---- */

struct tree_work {
    gph_tree *tree;
    gph_tree_function *functions[LAYERS];
    gph_pool *pool;
};

static void tree_make(struct tree_work *work, struct chain *chain, uint32_t count)
{
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options function = GPH_TREE_FUNCTION_OPTIONS_INIT;
    options.stream = stream;
    function.input_count = function.output_count = 1;
    GPH(gph_tree_create(runtime, arena, &options, &work->tree, error));
    for (uint32_t i = 0; i < count; i++) {
        function.flags = i == 0 ? GPH_TREE_FUNCTION_ROOT : 0;
        GPH(gph_tree_function_add(work->tree, run_layers, chain, &function,
                                  &work->functions[i], error));
    }
    gph_tree_objects(work->tree, NULL, &work->pool);
}

/* A step: each call takes what the one before gave. */
static void tree_step(struct tree_work *work, uint32_t count, int64_t tokens)
{
    gph_tree_output last = {0};
    for (uint32_t i = 0; i < count; i++) {
        gph_tree_input input = {
            .tensor = input_of(tokens), .output = last, .take = i > 0};
        GPH(gph_tree_call(work->tree, work->functions[i], NULL, &input, &last, error));
    }
    gph_tree_output_release(work->tree, last);
}

static struct taken tree_peak(struct chain *chain, uint32_t functions,
                              const int64_t *sizes, uint32_t size_count)
{
    struct tree_work work;
    tree_make(&work, chain, functions);
    for (int round = 0; round < 3; round++) /* warm-up, record, replay */
        for (uint32_t i = size_count; i-- > 0;)
            tree_step(&work, functions, sizes[i]);
    CU(StreamSynchronize, stream);
    const struct taken peak = taken_of(work.pool);
    gph_tree_destroy(work.tree);
    return peak;
}

static struct taken eager_row(struct chain *chain)
{
    gph_pool *pool = make_pool();
    gph_tensor input = input_of(TOKENS_MAX), output = {0};
    GPH(gph_pool_alloc(pool, gph_tensor_bytes(&input), stream, &input.data, error));
    for (int i = 0; i < LAYERS; i++) {
        const gph_callable_options options = options_of(chain, &input, pool);
        GPH(gph_function_call(runtime, &options, &options.sample, stream, &output,
                              error));
        GPH(gph_pool_free(pool, input.data, stream, error));
        input = output;
    }
    GPH(gph_pool_free(pool, input.data, stream, error));
    CU(StreamSynchronize, stream);
    const struct taken peak = taken_of(pool);
    gph_pool_release(pool);
    return peak;
}

/* Each function a graph with a pool of its own, its input copied there. */
static struct taken separate_row(struct chain *chain)
{
    struct taken bytes = {0};
    gph_pool *pools[LAYERS];
    gph_callable *callables[LAYERS];
    const gph_tensor input = input_of(TOKENS_MAX);
    for (int i = 0; i < LAYERS; i++) {
        pools[i] = make_pool();
        const gph_callable_options options = options_of(chain, &input, pools[i]);
        GPH(gph_callable_create(runtime, &options, &callables[i], error));
        bytes = sum_of(bytes, taken_of(pools[i]));
    }
    CU(StreamSynchronize, stream);
    for (int i = 0; i < LAYERS; i++) {
        gph_callable_destroy(callables[i]);
        gph_pool_release(pools[i]);
    }
    return bytes;
}

/* A list: inputs are the outputs of the one before. */
static struct taken list_row(struct chain *chain)
{
    static const uint8_t managed = GPH_INPUT_MANAGED;
    gph_pool *pool = make_pool();
    gph_callable_options options[LAYERS];
    gph_callable *callables[LAYERS];
    gph_source sources[LAYERS];
    const gph_tensor input = input_of(TOKENS_MAX), none = {0};
    for (uint32_t i = 0; i < LAYERS; i++) {
        options[i] = options_of(chain, i == 0 ? &input : &none, pool);
        sources[i] = (gph_source){.callable = i - 1, .output = 0};
        options[i].modes = i == 0 ? NULL : &managed;
        options[i].sources = i == 0 ? NULL : &sources[i];
    }
    GPH(gph_callables_create(runtime, options, NULL, LAYERS, callables, error));
    CU(StreamSynchronize, stream);
    const struct taken peak = taken_of(pool);
    for (int i = LAYERS - 1; i >= 0; i--)
        gph_callable_destroy(callables[i]);
    gph_pool_release(pool);
    return peak;
}

static void print_row(const char *what, const struct taken *ways, int count)
{
    printf("%-34s", what);
    for (int i = 0; i < count; i++) {
        char text[32] = "-";
        if (ways[i].peak > 0)
            snprintf(text, sizeof(text), "%.2f (%.0f)", (double)ways[i].peak / 1048576,
                     (double)ways[i].pages / 1048576);
        printf(" %13s", text);
    }
    printf("\n");
}

bool print_ways(void)
{
    struct chain all = {LAYERS}, one = {1};
    for (int i = 0; i < BUCKETS; i++)
        tokens_of[i] = TOKENS_MAX >> (BUCKETS - 1 - i);
    open_chain();
    CU(MemAlloc, &source, TOKENS_MAX * WIDTH * 4);
    printf("tensors at their peak (pages), MiB %13s %13s %13s %13s %13s\n", "eager",
           "separate", "callables", "cache", "tree");
    const int64_t most = TOKENS_MAX;
    const struct taken sizes[] = {eager_buckets(&all), callable_buckets(&all, true),
                                  callable_buckets(&all, false), cache_buckets(&all),
                                  tree_peak(&all, 1, tokens_of, BUCKETS)};
    const struct taken row[] = {eager_row(&one),
                                separate_row(&one),
                                list_row(&one),
                                {0, 0},
                                tree_peak(&one, LAYERS, &most, 1)};
    print_row("24 layers in one graph, 7 sizes", sizes, 5);
    print_row("24 graphs of a layer, one size", row, 5);
    bar("cache, of the eager peak", (double)sizes[3].peak / (double)sizes[0].peak, 1.02,
        "x ");
    bar("tree of one graph, 7 sizes, of the eager peak",
        (double)sizes[4].peak / (double)sizes[0].peak, 1.02, "x ");
    bar("tree of 24 graphs, of the eager peak", (double)row[4].peak / (double)row[0].peak,
        1.02, "x ");
    CU(MemFree, source);
    gph_arena_destroy(arena);
    gph_close(runtime);
    return missed;
}
