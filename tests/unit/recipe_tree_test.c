// SPDX-License-Identifier: Apache-2.0
/* A tree in a recipe: another process replays its paths at the first call, and records
 * below them.
 *
 *   recipe_tree_test             calls, and starts the other process
 *   recipe_tree_test FILE BASE   the other process: an arena at BASE (0: as recorded) */
#define _GNU_SOURCE
#include "fault.h"
#include "recipe_child.h"

#include <gph/recipe_load.h>

#include <stdbool.h>

static int captures, eager_calls; /* of functions, in this process */

/* y = (factor + 1) x, over a temporary; `user` is the factor. */
static gph_status scale(void *user, gph_call *call, gph_error *why)
{
    const float *factor = user;
    captures += call->phase == GPH_PHASE_CAPTURE;
    eager_calls += call->phase == GPH_PHASE_EAGER;
    const CUdeviceptr x = call->inputs[0].data;
    const int64_t shape[] = {COUNT};
    CUdeviceptr temporary = 0, y = 0;
    gph_status status = gph_pool_alloc(call->pool, BYTES, call->stream, &temporary, why);
    if (status == GPH_OK)
        status = gph_pool_alloc(call->pool, BYTES, call->stream, &y, why);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = gph_tensor_dense(y, GPH_DTYPE_F32, 1, shape);
    status = cu->MemcpyDtoDAsync(temporary, x, BYTES, call->stream);
    if (status == GPH_OK)
        status = launch_axpy(call->stream, temporary, x, *factor);
    if (status == GPH_OK)
        status = cu->MemcpyDtoDAsync(y, temporary, BYTES, call->stream);
    if (status == GPH_OK)
        status = gph_pool_free(call->pool, temporary, call->stream, why);
    return gph_cuda_check(status, "scale", why);
}

static float factors[] = {1.0f, 2.0f, 3.0f, 4.0f};

struct setting {
    gph_arena *arena;
    gph_tree *tree;
    gph_tree_function *functions[4];
    CUdeviceptr x; /* of the first call: copied */
};

static bool open_setting(struct setting *setting, CUdeviceptr base, uint32_t flags)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = 128 << 20;
    options.base = base;
    *setting = (struct setting){0};
    if (gph_arena_create(runtime, &options, &setting->arena, &error) != GPH_OK)
        return false;
    gph_tree_options tree_options = GPH_TREE_OPTIONS_INIT;
    tree_options.flags = flags;
    tree_options.stream = stream;
    CHECK_OK(
        gph_tree_create(runtime, setting->arena, &tree_options, &setting->tree, &error),
        error);
    for (int i = 0; i < 4; i++) {
        gph_tree_function_options function = GPH_TREE_FUNCTION_OPTIONS_INIT;
        function.name = names[i];
        function.input_count = function.output_count = 1;
        CHECK_OK(gph_tree_function_add(setting->tree, scale, &factors[i], &function,
                                       &setting->functions[i], &error),
                 error);
    }
    CU(MemAlloc, &setting->x, BYTES);
    write_x(setting->x);
    return true;
}

static void close_setting(struct setting *setting)
{
    gph_tree_destroy(setting->tree);
    CU(MemFree, setting->x);
    gph_arena_destroy(setting->arena);
}

static void check_result(const gph_tree *tree, gph_tree_output output, float factor)
{
    float host[COUNT] = {0};
    CUdeviceptr data = 0;
    CHECK_OK(gph_tree_output_data(tree, output, &data, &error), error);
    CU(MemcpyDtoHAsync, host, data, BYTES, stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != factor * (float)i;
    CHECK(wrong == 0);
}

/* one, then `second`; what was done for both, and right results. */
static void walk(struct setting *setting, int second, gph_tree_action first_action,
                 gph_tree_action second_action)
{
    const int64_t shape[] = {COUNT};
    const gph_tree_input x = {.tensor =
                                  gph_tensor_dense(setting->x, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output middle = {0}, last = {0};
    gph_tree_event event = GPH_SIZED(gph_tree_event);
    CHECK_OK(gph_tree_step_begin(setting->tree, &error), error);
    CHECK_OK(
        gph_tree_call(setting->tree, setting->functions[0], NULL, &x, &middle, &error),
        error);
    gph_tree_event_get(setting->tree, &event);
    if (!CHECK(event.action == first_action))
        fprintf(stderr, "  one: %d, %s\n", (int)event.action, event.text);
    check_result(setting->tree, middle, 2.0f);
    const gph_tree_input of_first = {.output = middle};
    CHECK_OK(gph_tree_call(setting->tree, setting->functions[second], NULL, &of_first,
                           &last, &error),
             error);
    gph_tree_event_get(setting->tree, &event);
    if (!CHECK(event.action == second_action))
        fprintf(stderr, "  %d: %d, %s\n", second, (int)event.action, event.text);
    check_result(setting->tree, last, 2.0f * (factors[second] + 1.0f));
    check_result(setting->tree, middle, 2.0f); /* not overwritten */
    gph_tree_output_release(setting->tree, last);
    gph_tree_output_release(setting->tree, middle);
}

static void save_tree(struct setting *setting)
{
    gph_recipe *recipe = NULL;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", setting->arena, NULL, NULL, &error),
             error);
    CHECK_OK(gph_recipe_add_tree(recipe, setting->tree, 1, NULL, &error), error);
    gph_recipe_graph graph = GPH_SIZED(gph_recipe_graph);
    uint32_t count = 0;
    for (; gph_recipe_graph_get(recipe, count, &graph); count++)
        CHECK(graph.refusal_count == 0 && graph.has_check);
    CHECK(count == 3);
    CHECK(gph_recipe_find(recipe, "tree 1 one") == 0);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);
}

static void a_tree_is_loaded_in_another_process(void)
{
    struct setting setting;
    CHECK(open_setting(&setting, 0, GPH_TREE_KEEP_GRAPHS));
    walk(&setting, 1, GPH_TREE_WARMED, GPH_TREE_WARMED);
    walk(&setting, 1, GPH_TREE_RECORDED, GPH_TREE_RECORDED);
    walk(&setting, 2, GPH_TREE_REPLAYED, GPH_TREE_WARMED);
    walk(&setting, 2, GPH_TREE_REPLAYED, GPH_TREE_RECORDED);
    walk(&setting, 1, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED);
    save_tree(&setting);
    walk(&setting, 2, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED); /* as before */
    CUdeviceptr base = 0;
    gph_arena_range(setting.arena, &base, NULL);
    CHECK(run_other(0) == 0);
    CHECK(run_other(base + (1 << 30)) == 0);
    close_setting(&setting);
}

static void a_tree_without_graphs_or_with_held_outputs_is_refused(void)
{
    struct setting setting;
    gph_recipe *recipe = NULL;
    CHECK(open_setting(&setting, 0, 0));
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", setting.arena, NULL, NULL, &error),
             error);
    walk(&setting, 1, GPH_TREE_WARMED, GPH_TREE_WARMED);
    walk(&setting, 1, GPH_TREE_RECORDED, GPH_TREE_RECORDED);
    CHECK(gph_recipe_add_tree(recipe, setting.tree, 0, NULL, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "GPH_TREE_KEEP_GRAPHS") != NULL);
    const int64_t shape[] = {COUNT};
    const gph_tree_input x = {.tensor =
                                  gph_tensor_dense(setting.x, GPH_DTYPE_F32, 1, shape)};
    gph_tree_output held = {0};
    CHECK_OK(gph_tree_call(setting.tree, setting.functions[0], NULL, &x, &held, &error),
             error);
    CHECK(gph_recipe_add_tree(recipe, setting.tree, 0, NULL, &error) == GPH_E_STATE);
    CHECK(strstr(error.message, "1 outputs of the path are held") != NULL);
    gph_tree_output_release(setting.tree, held);
    gph_recipe_summary summary = GPH_SIZED(gph_recipe_summary);
    gph_recipe_summary_get(recipe, &summary);
    CHECK(summary.graph_count == 0);
    gph_loaded *loaded = NULL;
    CHECK(gph_loaded_create_tree(recipe, setting.tree, NULL, &loaded, &error) ==
          GPH_E_STATE);
    CHECK(strstr(error.message, "has been called") != NULL);
    gph_recipe_destroy(recipe);
    close_setting(&setting);
}

/* As scale(), of one number a thread. */
static gph_status draw(void *user, gph_call *call, gph_error *why)
{
    call->rng_count = 1;
    return scale(user, call, why);
}

/* The numbers of a recording that draws belong to this process's generator. */
static void a_recording_that_draws_is_refused_and_the_others_are_not(void)
{
    gph_arena *arena = NULL;
    gph_rng *rng = NULL;
    gph_tree *tree = NULL;
    gph_tree_function *plain = NULL, *random = NULL;
    gph_arena_options arena_options = GPH_ARENA_OPTIONS_INIT;
    gph_tree_options options = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options function = GPH_TREE_FUNCTION_OPTIONS_INIT;
    arena_options.reserve_bytes = 128 << 20;
    CHECK_OK(gph_arena_create(runtime, &arena_options, &arena, &error), error);
    CHECK_OK(gph_rng_create(runtime, 7, &rng, &error), error);
    options.flags = GPH_TREE_KEEP_GRAPHS;
    options.stream = stream;
    options.rng = rng;
    CHECK_OK(gph_tree_create(runtime, arena, &options, &tree, &error), error);
    function.input_count = function.output_count = 1;
    CHECK_OK(gph_tree_function_add(tree, scale, &factors[0], &function, &plain, &error),
             error);
    CHECK_OK(gph_tree_function_add(tree, draw, &factors[1], &function, &random, &error),
             error);
    CUdeviceptr x = 0;
    CU(MemAlloc, &x, BYTES);
    write_x(x);
    const int64_t shape[] = {COUNT};
    const gph_tree_input in = {.tensor = gph_tensor_dense(x, GPH_DTYPE_F32, 1, shape)};
    for (int i = 0; i < 3; i++) {
        gph_tree_output out = {0};
        CHECK_OK(gph_tree_step_begin(tree, &error), error);
        CHECK_OK(gph_tree_call(tree, plain, NULL, &in, &out, &error), error);
        gph_tree_output_release(tree, out);
        CHECK_OK(gph_tree_step_begin(tree, &error), error);
        CHECK_OK(gph_tree_call(tree, random, NULL, &in, &out, &error), error);
        gph_tree_output_release(tree, out);
    }
    gph_recipe *recipe = NULL;
    gph_recipe_refusal why = GPH_SIZED(gph_recipe_refusal);
    gph_recipe_graph first = GPH_SIZED(gph_recipe_graph);
    gph_recipe_graph second = GPH_SIZED(gph_recipe_graph);
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", arena, NULL, NULL, &error), error);
    CHECK_OK(gph_recipe_add_tree(recipe, tree, 0, NULL, &error), error);
    CHECK(gph_recipe_graph_get(recipe, 0, &first) && first.refusal_count == 0);
    CHECK(gph_recipe_graph_get(recipe, 1, &second) && second.refusal_count > 0);
    CHECK(gph_recipe_refusal_get(recipe, 1, 0, &why));
    printf("# %s\n", why.why);
    gph_recipe_destroy(recipe);
    gph_tree_destroy(tree);
    gph_rng_destroy(rng);
    CU(MemFree, x);
    gph_arena_destroy(arena);
}

/* ---- the other process ---- */

static void use_tree(struct setting *setting)
{
    walk(setting, 1, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED);
    walk(setting, 2, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED);
    CHECK(captures == 0 && eager_calls == 0);
    /* A new branch: the checkpoint of "one" must be right. */
    walk(setting, 3, GPH_TREE_REPLAYED, GPH_TREE_WARMED);
    walk(setting, 3, GPH_TREE_REPLAYED, GPH_TREE_RECORDED);
    walk(setting, 3, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED);
    walk(setting, 1, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED);
    walk(setting, 2, GPH_TREE_REPLAYED, GPH_TREE_REPLAYED);
    CHECK(captures == 1);
}

static fault_heap heap = {.fail_at = -1}; /* of the runtime */

/* Each allocation of the load fails in turn: the tree works, and is gone without a trace.
 */
static void survive_failed_allocations(const gph_recipe *recipe, CUdeviceptr base)
{
    for (long nth = 0; nth < 3000; nth++) {
        struct setting setting;
        gph_loaded *loaded = NULL;
        const long before = atomic_load(&heap.live_bytes);
        CHECK(open_setting(&setting, base, 0));
        atomic_store(&heap.fail_at, nth);
        const gph_status status =
            gph_loaded_create_tree(recipe, setting.tree, NULL, &loaded, &error);
        const bool is_done = atomic_load(&heap.fail_at) >= 0;
        atomic_store(&heap.fail_at, -1);
        if (!CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && !is_done)))
            fprintf(stderr, "  allocation %ld: %d, %s\n", nth, (int)status,
                    error.message);
        CHECK((status == GPH_OK) == (loaded != NULL));
        gph_loaded_destroy(loaded);
        if (nth % 8 == 0) {
            const int64_t shape[] = {COUNT};
            const gph_tree_input x = {
                .tensor = gph_tensor_dense(setting.x, GPH_DTYPE_F32, 1, shape)};
            gph_tree_output out = {0};
            CHECK_OK(
                gph_tree_call(setting.tree, setting.functions[0], NULL, &x, &out, &error),
                error);
            check_result(setting.tree, out, 2.0f);
            gph_tree_output_release(setting.tree, out);
        }
        close_setting(&setting);
        CHECK(atomic_load(&heap.live_bytes) == before);
        if (is_done)
            return;
    }
    CHECK(atomic_load(&test_failures) > 0); /* it never ended */
}

static int load_here(const char *path, CUdeviceptr base)
{
    gph_recipe *recipe = NULL;
    gph_recipe_range range = GPH_SIZED(gph_recipe_range);
    CHECK_OK(gph_recipe_load(path, NULL, &recipe, &error), error);
    CHECK(gph_recipe_range_get(recipe, 0, &range) != 0);
    struct setting setting;
    if (base == 0)
        survive_failed_allocations(recipe, range.address);
    captures = eager_calls = 0;
    if (!open_setting(&setting, base == 0 ? range.address : base, 0))
        return base == 0; /* another place is not promised */
    gph_loaded *loaded = NULL;
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    options.flags = GPH_RECIPE_CHECK;
    const gph_status status =
        gph_loaded_create_tree(recipe, setting.tree, &options, &loaded, &error);
    if (base != 0) {
        CHECK(status == GPH_E_STATE && loaded == NULL);
        CHECK(strstr(error.message, "and it was recorded at") != NULL);
        walk(&setting, 1, GPH_TREE_WARMED,
             GPH_TREE_WARMED); /* it is a tree all the same */
    } else {
        CHECK_OK(status, error);
        use_tree(&setting);
    }
    gph_recipe_destroy(recipe);
    gph_loaded_destroy(loaded);
    close_setting(&setting);
    return atomic_load(&test_failures) != 0;
}

static void run_all(void)
{
    RUN(a_tree_is_loaded_in_another_process);
    RUN(a_tree_without_graphs_or_with_held_outputs_is_refused);
    RUN(a_recording_that_draws_is_refused_and_the_others_are_not);
}

int main(int argc, char **argv)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    return recipe_main(argc, argv, &allocator, load_here, run_all);
}
