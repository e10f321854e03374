// SPDX-License-Identifier: Apache-2.0
/* Functions with loops and branches as callables, in caches and in trees: what is replayed
 * does what an eager call does, whatever the condition is at the replay. */
#include "flow_run.h"
#include <gph/module.h>
#include <gph/recipe.h>
#include <gph/recipe_load.h>
#include <unistd.h>

enum { OUT_WORDS = 32 };

static gph_arena *arena;
static gph_pool *pool;

static gph_tensor words_of(CUdeviceptr at, int64_t count)
{
    return gph_tensor_dense(at, GPH_DTYPE_U32, 1, &count);
}

/* ---- the function ---- */

static gph_status append(const gph_call *call, CUdeviceptr to, unsigned value)
{
    void *params[] = {&to, &value};
    return cu->LaunchKernel(marker, 1, 1, 1, 1, 1, 1, 0, call->stream, params, NULL);
}

static gph_status count_down(const gph_call *call, CUdeviceptr at)
{
    void *params[] = {&at};
    return cu->LaunchKernel(stepper, 1, 1, 1, 1, 1, 1, 0, call->stream, params, NULL);
}

/* What a body does when it may allocate: 2 through a temporary of its own. */
static gph_status append_two(const gph_call *call, CUdeviceptr out, gph_error *why)
{
    CUdeviceptr spare = 0;
    gph_status status = gph_pool_alloc(call->pool, 4096, call->stream, &spare, why);
    if (status == GPH_OK)
        status = cu->MemsetD32Async(spare, 0, 16, call->stream);
    if (status == GPH_OK)
        status = append(call, spare, 5);
    if (status == GPH_OK)
        status = append(call, out, 2);
    return status == GPH_OK ? gph_pool_free(call->pool, spare, call->stream, why)
                            : status;
}

/* while (*at) { append 1; if (at[1]) append 2; else append 3; --*at; } */
static gph_status record_rounds(const gph_call *call, CUdeviceptr at, CUdeviceptr out,
                                gph_error *why)
{
    const gph_condition rounds = word_at(at), branch = word_at(at + 4);
    gph_status status = gph_capture_while(call->capture, &rounds, why);
    if (status == GPH_OK)
        status = append(call, out, 1);
    if (status == GPH_OK)
        status = gph_capture_if(call->capture, &branch, 2, why);
    if (status == GPH_OK)
        status = append_two(call, out, why);
    if (status == GPH_OK)
        status = gph_capture_else(call->capture, why);
    if (status == GPH_OK)
        status = append(call, out, 3);
    if (status == GPH_OK)
        status = gph_capture_flow_end(call->capture, why);
    if (status == GPH_OK)
        status = count_down(call, at);
    return status == GPH_OK ? gph_capture_flow_end(call->capture, why) : status;
}

/* The same where nothing is captured: the host decides. */
static gph_status run_rounds(const gph_call *call, CUdeviceptr at, CUdeviceptr out,
                             gph_error *why)
{
    unsigned now[2] = {0};
    gph_status status = cu->MemcpyDtoHAsync(now, at, sizeof(now), call->stream);
    if (status == GPH_OK)
        status = cu->StreamSynchronize(call->stream);
    for (; now[0] > 0 && status == GPH_OK; now[0]--) {
        status = append(call, out, 1);
        if (status == GPH_OK)
            status = now[1] ? append_two(call, out, why) : append(call, out, 3);
    }
    return status;
}

/* outputs[0]: a log of what ran for inputs[0], which stays as it is. */
static gph_status rounds(void *user, gph_call *call, gph_error *why)
{
    CUdeviceptr at = 0;
    ++*(int *)user;
    if (call->outputs[0].data == 0) {
        CUdeviceptr out = 0;
        gph_status made =
            gph_pool_alloc(call->pool, 4 * OUT_WORDS, call->stream, &out, why);
        if (made != GPH_OK)
            return made;
        call->outputs[0] = words_of(out, OUT_WORDS);
    }
    const CUdeviceptr out = call->outputs[0].data;
    gph_status status = gph_pool_alloc(call->pool, 8, call->stream, &at, why);
    if (status == GPH_OK)
        status = cu->MemcpyDtoDAsync(at, call->inputs[0].data, 8, call->stream);
    if (status == GPH_OK)
        status = cu->MemsetD32Async(out, 0, OUT_WORDS, call->stream);
    if (status == GPH_OK)
        status = call->capture ? record_rounds(call, at, out, why)
                               : run_rounds(call, at, out, why);
    if (status != GPH_OK)
        return status;
    return gph_pool_free(call->pool, at, call->stream, why);
}

/* Whether a log is of so many rounds, with that branch. */
static bool is_log(CUdeviceptr out, unsigned count, unsigned branch)
{
    unsigned got[OUT_WORDS] = {0};
    CU(MemcpyDtoHAsync, got, out, sizeof(got), stream);
    CU(StreamSynchronize, stream);
    bool is_right = got[0] == 2 * count;
    for (unsigned i = 0; i < count && is_right; i++)
        is_right = got[1 + 2 * i] == 1 && got[2 + 2 * i] == (branch ? 2 : 3);
    if (!is_right)
        fprintf(stderr, "  %u by %u: %u entries, %u %u %u\n", count, branch, got[0],
                got[1], got[2], got[3]);
    return is_right;
}

static void give(CUdeviceptr at, unsigned count, unsigned branch)
{
    const unsigned host[2] = {count, branch};
    CU(MemcpyHtoDAsync, at, host, sizeof(host), stream);
    CU(StreamSynchronize, stream);
}

/* ---- callables ---- */

static void a_callable_loops(void)
{
    int calls = 0;
    const gph_tensor input = words_of(word(0), 2);
    const gph_arguments arguments = {.inputs = &input, .input_count = 1};
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    gph_callable *callable = NULL;
    gph_tensor out = {0};
    options.function = rounds;
    options.user = &calls;
    options.sample = arguments;
    options.output_count = 1;
    options.pool = pool;
    options.stream = stream;
    options.warmup_count = 1;
    give(word(0), 3, 1);
    CHECK_OK(gph_callable_create(runtime, &options, &callable, &error), error);
    CHECK(calls == 2);
    for (unsigned i = 0; i < 8 && callable; i++) {
        give(word(0), i / 2, i % 2);
        out.data = 0;
        CHECK_OK(gph_callable_call(callable, &arguments, stream, &out, &error), error);
        CHECK(is_log(out.data, i / 2, i % 2));
    }
    CHECK(calls == 2);
    gph_callable_destroy(callable);
}

/* ---- caches ---- */

/* With `recipe`, its keys are loaded. */
static void with_cache_options(int *calls, const gph_recipe *recipe, gph_cache **cache,
                               gph_loaded **loaded)
{
    const gph_cache_axis axis = {.name = "words", .ladder = GPH_LADDER_POWERS, .last = 8};
    const gph_cache_tensor in = {
        .dtype = GPH_DTYPE_U32, .rank = 1, .shape = {1}, .axis = {1}};
    const gph_cache_tensor log = {
        .dtype = GPH_DTYPE_U32, .rank = 1, .shape = {OUT_WORDS}};
    gph_cache_options how = GPH_CACHE_OPTIONS_INIT;
    how.name = "rounds";
    how.pool = pool;
    how.axes = &axis;
    how.axis_count = 1;
    how.inputs = &in;
    how.input_count = 1;
    how.outputs = &log;
    how.output_count = 1;
    how.function = rounds;
    how.user = calls;
    const gph_loaded_cache_options load = {.size = sizeof(load), .cache = &how};
    if (!recipe)
        CHECK_OK(gph_cache_create(runtime, &how, cache, &error), error);
    else
        CHECK_OK(gph_loaded_create_cache(runtime, recipe, &load, cache, loaded, &error),
                 error);
    CHECK_OK(gph_cache_start(*cache, stream, NULL, 0, NULL, NULL, &error), error);
}

static gph_cache *make_cache(int *calls)
{
    gph_cache *cache = NULL;
    with_cache_options(calls, NULL, &cache, NULL);
    return cache;
}

static void call_cache(gph_cache *cache, unsigned i)
{
    const int64_t sizes[] = {2 + i % 7};
    const gph_tensor input = words_of(word(0), sizes[0]);
    gph_tensor out = {0};
    gph_cache_call_args call = GPH_CACHE_CALL_INIT;
    call.stream = stream;
    call.sizes = sizes;
    call.inputs = &input;
    call.outputs = &out;
    give(word(0), i % 4, i % 2);
    CHECK_OK(gph_cache_call(cache, &call, &error), error);
    CHECK(is_log(out.data, i % 4, i % 2));
}

static void a_cache_key_loops(void)
{
    int calls = 0;
    gph_cache *cache = make_cache(&calls);
    const int recorded = calls;
    for (unsigned i = 0; i < 12; i++)
        call_cache(cache, i);
    CHECK(recorded > 0 && calls == recorded); /* all of them were replays */
    gph_cache_destroy(cache);
}

/* ---- trees ---- */

/* The second function reads what the first one wrote: its log is as many rounds as that
 * has entries. */
static void a_tree_loops(void)
{
    enum { STEPS = 12 };
    int calls[2] = {0};
    gph_tree *tree = NULL;
    gph_tree_function *functions[2] = {NULL};
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options how = GPH_TREE_FUNCTION_OPTIONS_INIT;
    options.stream = stream;
    how.input_count = 1;
    how.output_count = 1;
    CHECK_OK(gph_tree_create(runtime, arena, &options, &tree, &error), error);
    for (int i = 0; i < 2; i++) {
        how.flags = i == 0 ? GPH_TREE_FUNCTION_ROOT : 0;
        CHECK_OK(
            gph_tree_function_add(tree, rounds, &calls[i], &how, &functions[i], &error),
            error);
    }
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned count = i % 4;
        gph_tree_input input = {.tensor = words_of(word(0), 2)};
        gph_tree_output outs[2] = {{0}};
        gph_tensor log = {0};
        give(word(0), count, i % 2);
        CHECK_OK(gph_tree_call(tree, functions[0], NULL, &input, &outs[0], &error),
                 error);
        CHECK_OK(gph_tree_output_tensor(tree, outs[0], &log, &error), error);
        CHECK(is_log(log.data, count, i % 2));
        input = (gph_tree_input){.output = outs[0]};
        CHECK_OK(gph_tree_call(tree, functions[1], NULL, &input, &outs[1], &error),
                 error);
        CHECK_OK(gph_tree_output_tensor(tree, outs[1], &log, &error), error);
        CHECK(is_log(log.data, 2 * count, count > 0));
        gph_tree_output_release(tree, outs[0]);
        gph_tree_output_release(tree, outs[1]);
    }
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(tree, &stats);
    CHECK(stats.nodes == 2 && stats.recordings == 2 && stats.replays >= 2 * (STEPS - 3));
    CHECK(calls[0] <= 3 && calls[1] <= 3);
    gph_tree_destroy(tree);
}

/* ---- in files ---- */

static gph_recipe *through_file(gph_recipe *recipe)
{
    char path[64];
    gph_recipe *again = NULL;
    snprintf(path, sizeof(path), "flow_family_%d.gphr", (int)getpid());
    CHECK_OK(gph_recipe_save(recipe, path, &error), error);
    CHECK_OK(gph_recipe_load(path, NULL, &again, &error), error);
    remove(path);
    gph_recipe_destroy(recipe);
    return again;
}

/* libgph has to know the kernels' module. */
static gph_module *know_module(void)
{
    static const char *const names[] = {"mark", "mark_if", "step", "own"};
    CUfunction *const functions[] = {&marker, &flag_marker, &stepper, &own_setter};
    gph_module *module = NULL;
    CHECK_OK(gph_module_load(runtime, flow_ptx, sizeof(flow_ptx), &module, &error),
             error);
    for (int i = 0; i < 4; i++)
        CHECK_OK(gph_module_function(module, names[i], functions[i], &error), error);
    return module;
}

/* An arena at the same place, as in another process. */
static gph_arena *arena_at(CUdeviceptr base)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    gph_arena *made = NULL;
    options.reserve_bytes = 64 << 20;
    options.base = base;
    CHECK_OK(gph_arena_create(runtime, &options, &made, &error), error);
    return made;
}

static gph_tree *make_tree(gph_arena *in, int calls[2], gph_tree_function *functions[2])
{
    gph_tree *tree = NULL;
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options how = GPH_TREE_FUNCTION_OPTIONS_INIT;
    options.stream = stream;
    options.flags = GPH_TREE_KEEP_GRAPHS;
    how.input_count = how.output_count = 1;
    CHECK_OK(gph_tree_create(runtime, in, &options, &tree, &error), error);
    for (int i = 0; i < 2; i++)
        CHECK_OK(
            gph_tree_function_add(tree, rounds, &calls[i], &how, &functions[i], &error),
            error);
    return tree;
}

static void walk(gph_tree *tree, gph_tree_function *functions[2], unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) {
        gph_tree_input input = {.tensor = words_of(word(0), 2)};
        gph_tree_output outs[2] = {{0}};
        gph_tensor log = {0};
        give(word(0), i % 4, i % 2);
        CHECK_OK(gph_tree_step_begin(tree, &error), error);
        CHECK_OK(gph_tree_call(tree, functions[0], NULL, &input, &outs[0], &error),
                 error);
        CHECK_OK(gph_tree_output_tensor(tree, outs[0], &log, &error), error);
        CHECK(is_log(log.data, i % 4, i % 2));
        input = (gph_tree_input){.output = outs[0]};
        CHECK_OK(gph_tree_call(tree, functions[1], NULL, &input, &outs[1], &error),
                 error);
        CHECK_OK(gph_tree_output_tensor(tree, outs[1], &log, &error), error);
        CHECK(is_log(log.data, 2 * (i % 4), i % 4 > 0));
        gph_tree_output_release(tree, outs[0]);
        gph_tree_output_release(tree, outs[1]);
    }
}

/* A tree that was loaded replays from its first call on; what was loaded may go before. */
static void a_tree_in_a_file_loops(void)
{
    int calls[2] = {0}, again[2] = {0};
    gph_module *module = know_module();
    gph_tree_function *functions[2] = {NULL};
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    CUdeviceptr base = 0;
    gph_arena *first = arena_at(0);
    gph_tree *tree = make_tree(first, calls, functions);
    gph_arena_range(first, &base, NULL);
    walk(tree, functions, 6);
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", first, NULL, NULL, &error), error);
    const gph_recipe_range static_words = {sizeof(gph_recipe_range), "words", words_at,
                                           words_at, 8 * WORDS};
    CHECK_OK(gph_recipe_range_add(recipe, &static_words, NULL, &error), error);
    CHECK_OK(gph_recipe_add_tree(recipe, tree, 0, NULL, &error), error);
    gph_tree_destroy(tree);
    gph_arena_destroy(first);
    recipe = through_file(recipe);
    gph_arena *second = arena_at(base);
    tree = make_tree(second, again, functions);
    CHECK_OK(gph_loaded_create_tree(recipe, tree, NULL, &loaded, &error), error);
    gph_loaded_graph about = GPH_SIZED(gph_loaded_graph);
    for (uint32_t i = 0; gph_loaded_get(loaded, i, &about); i++)
        if (!CHECK(about.is_loaded))
            fprintf(stderr, "  %s: %s\n", about.name, about.why);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
    walk(tree, functions, 6);
    CHECK(again[0] == 0 && again[1] == 0);
    gph_tree_destroy(tree);
    gph_arena_destroy(second);
    gph_module_unload(module);
}

/* So does a cache, key by key. */
static void a_cache_in_a_file_loops(void)
{
    int calls = 0, again = 0;
    gph_module *module = know_module();
    gph_pool *const outer = pool;
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    CUdeviceptr base = 0;
    gph_arena *first = arena_at(0);
    gph_arena_range(first, &base, NULL);
    CHECK_OK(gph_pool_create(first, NULL, &pool, &error), error);
    gph_cache *cache = make_cache(&calls);
    const gph_recipe_cache_entry entry = {
        .size = sizeof(entry), .cache = cache, .stream = stream};
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", first, NULL, NULL, &error), error);
    CHECK_OK(gph_recipe_add_cache(recipe, &entry, &error), error);
    gph_cache_destroy(cache);
    gph_pool_release(pool);
    gph_arena_destroy(first);
    recipe = through_file(recipe);
    gph_arena *second = arena_at(base);
    CHECK_OK(gph_pool_create(second, NULL, &pool, &error), error);
    with_cache_options(&again, recipe, &cache, &loaded);
    for (unsigned i = 0; i < 8; i++)
        call_cache(cache, i);
    CHECK(again == 0);
    gph_cache_destroy(cache);
    gph_loaded_destroy(loaded);
    gph_recipe_destroy(recipe);
    gph_pool_release(pool);
    pool = outer;
    gph_arena_destroy(second);
    gph_module_unload(module);
}

int main(void)
{
    if (!set_up() || !CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error) ||
        !CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error))
        return test_done();
    RUN(a_callable_loops);
    RUN(a_cache_key_loops);
    RUN(a_tree_loops);
    RUN(a_cache_in_a_file_loops);
    RUN(a_tree_in_a_file_loops);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return test_done();
}
