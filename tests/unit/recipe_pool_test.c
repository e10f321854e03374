// SPDX-License-Identifier: Apache-2.0
/* Recipes of what was recorded in pools: in another process the pool has the same memory
 * again, and knows who may be replayed after whom.
 *
 *   recipe_pool_test             records, and starts the other process
 *   recipe_pool_test FILE BASE   the other process: an arena at BASE (0: as recorded) */
#define _GNU_SOURCE
#include "recipe_child.h"

#include <gph/recipe_load.h>

#include <stdbool.h>

/* Arena, pool and the works in it, once for each place. */
struct place_of_work {
    gph_arena *arena;
    gph_pool *pool;
    CUdeviceptr x; /* eager */
    gph_recording *first, *second;
    CUdeviceptr middle, out; /* outputs of the first and of the second */
};
static struct place_of_work places[2];

static gph_arena *make_arena(CUdeviceptr base)
{
    gph_arena *arena = NULL;
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = 64 << 20;
    options.base = base;
    const gph_status status = gph_arena_create(runtime, &options, &arena, &error);
    if (status != GPH_OK)
        fprintf(stderr, "arena at 0x%llx: %s\n", (unsigned long long)base, error.message);
    return arena;
}

static CUdeviceptr take(gph_pool *pool)
{
    CUdeviceptr address = 0;
    CHECK_OK(gph_pool_alloc(pool, BYTES, stream, &address, &error), error);
    return address;
}

/* out = 2 * (factor * t + from), where t = from and is a temporary. */
static gph_recording *record(gph_pool *pool, CUdeviceptr from, float factor,
                             const char *name, CUdeviceptr *out)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    options.pool = pool;
    options.name = name;
    if (!CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error))
        return NULL;
    const CUdeviceptr temporary = take(pool);
    *out = take(pool);
    CU(MemcpyDtoDAsync, temporary, from, BYTES, stream);
    CHECK(launch_axpy(stream, temporary, from, factor) == GPH_OK);
    CU(MemcpyDtoDAsync, *out, temporary, BYTES, stream);
    CHECK(launch_axpy(stream, *out, temporary, 1.0f) == GPH_OK);
    CHECK_OK(gph_pool_free(pool, temporary, stream, &error), error);
    CHECK_OK(gph_capture_output(capture, *out, &error), error);
    CHECK_OK(gph_capture_finish(capture, &recording, &error), error);
    return recording;
}

static void record_both(struct place_of_work *place)
{
    place->arena = make_arena(0);
    CHECK_OK(gph_pool_create(place->arena, NULL, &place->pool, &error), error);
    place->x = take(place->pool);
    write_x(place->x);
    place->first = record(place->pool, place->x, 2.0f, "first", &place->middle);
    place->second = record(place->pool, place->middle, 3.0f, "second", &place->out);
    CHECK_OK(gph_pool_record_input(place->pool, gph_recording_pool_id(place->second),
                                   place->middle, BYTES, &error),
             error);
}

static void forget_both(struct place_of_work *place)
{
    gph_recording_destroy(place->second);
    gph_recording_destroy(place->first);
    CHECK_OK(gph_pool_free(place->pool, place->x, stream, &error), error);
    gph_pool_release(place->pool);
    gph_arena_destroy(place->arena);
}

static float expected_out(int i)
{
    const float middle = 2.0f * ((float)i * 2.0f + (float)i);
    return 2.0f * (middle * 3.0f + middle);
}

static gph_tensor floats(CUdeviceptr data)
{
    const int64_t shape[] = {COUNT};
    return gph_tensor_dense(data, GPH_DTYPE_F32, 1, shape);
}

static void add(gph_recipe *recipe, const char *name, bool is_first)
{
    const struct place_of_work *a = &places[0], *b = &places[1];
    const gph_recording *one = is_first ? a->first : a->second;
    const gph_recording *two = is_first ? b->first : b->second;
    const gph_tensor input = floats(is_first ? a->x : a->middle);
    const gph_tensor output = floats(is_first ? a->middle : a->out);
    gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
    entry.name = name;
    entry.graph = gph_recording_graph(one, 0);
    entry.shifted = gph_recording_graph(two, 0);
    entry.pool = a->pool;
    entry.recording = gph_recording_pool_id(one);
    entry.inputs = &input;
    entry.outputs = &output;
    entry.input_count = entry.output_count = 1;
    entry.check = is_first; /* the second one's input is what the first one left */
    CHECK_OK(gph_recipe_add(recipe, runtime, &entry, NULL, &error), error);
    entry.name = "again";
    CHECK(gph_recipe_add(recipe, runtime, &entry, NULL, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "is another graph's") != NULL);
}

static void a_pool_is_laid_out_again_in_another_process(void)
{
    record_both(&places[0]);
    record_both(&places[1]);
    gph_recipe *recipe = NULL;
    CHECK_OK(gph_recipe_create(NULL, &recipe, &error), error);
    CHECK_OK(gph_recipe_arena_add(recipe, "arena", places[0].arena, places[1].arena, NULL,
                                  &error),
             error);
    add(recipe, "second", false); /* any order */
    add(recipe, "first", true);
    gph_recipe_refusal refusal = GPH_SIZED(gph_recipe_refusal);
    for (uint32_t i = 0; i < 2; i++)
        if (!CHECK(!gph_recipe_refusal_get(recipe, i, 0, &refusal)))
            fprintf(stderr, "  %s\n", refusal.why);
    CHECK_OK(gph_recipe_save(recipe, file, &error), error);
    gph_recipe_destroy(recipe);
    CUdeviceptr base = 0;
    gph_arena_range(places[0].arena, &base, NULL);
    CHECK(run_other(0) == 0);
    CHECK(run_other(base + (1 << 30)) == 0);
    forget_both(&places[1]);
    forget_both(&places[0]);
}

/* ---- the other process ---- */

static void check_out(CUdeviceptr out)
{
    float host[COUNT] = {0};
    CU(MemcpyDtoHAsync, host, out, BYTES, stream);
    CU(StreamSynchronize, stream);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != expected_out(i);
    CHECK(wrong == 0);
}

static void play(gph_loaded *loaded, gph_pool *pool)
{
    const uint32_t first = 1, second = 0;
    gph_loaded_graph one = GPH_SIZED(gph_loaded_graph);
    gph_loaded_graph two = GPH_SIZED(gph_loaded_graph);
    CHECK(gph_loaded_get(loaded, first, &one) && gph_loaded_get(loaded, second, &two));
    if (!CHECK(one.is_loaded && two.is_loaded)) {
        fprintf(stderr, "  %s; %s\n", one.why, two.why);
        return;
    }
    CHECK(one.is_checked && one.recording != 0 && two.recording != 0);
    write_x(one.inputs[0].data);
    CHECK_OK(gph_loaded_launch(loaded, first, stream, &error), error);
    CHECK_OK(gph_loaded_launch(loaded, second, stream, &error), error);
    check_out(two.outputs[0].data);
    /* The pool knows what lies where: what is allocated now lies elsewhere. */
    const CUdeviceptr other = take(pool);
    CHECK(other != one.inputs[0].data && other != one.outputs[0].data &&
          other != two.outputs[0].data);
    CHECK_OK(gph_pool_free(pool, other, stream, &error), error);
    CHECK(gph_pool_may_replay(pool, one.recording, two.recording, GPH_REPLAY_AT_ONCE,
                              NULL, NULL) == GPH_E_STATE);
}

static int load_here(const char *path, CUdeviceptr base)
{
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    gph_pool *pool = NULL;
    gph_recipe_range range = GPH_SIZED(gph_recipe_range);
    CHECK_OK(gph_recipe_load(path, NULL, &recipe, &error), error);
    CHECK(gph_recipe_range_get(recipe, 0, &range) != 0);
    const bool is_same = base == 0;
    gph_arena *arena = make_arena(is_same ? range.address : base);
    if (arena == NULL)
        return is_same ? 1 : 0; /* another place is not promised */
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    options.pool = pool;
    options.flags = GPH_RECIPE_CHECK;
    options.stream = stream;
    CHECK_OK(gph_loaded_create(runtime, recipe, &options, &loaded, &error), error);
    gph_recipe_destroy(recipe);
    if (loaded != NULL)
        play(loaded, pool);
    gph_loaded_destroy(loaded);
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    CHECK(stats.allocation_count == 0 && stats.recording_count == 0 && stats.users == 1);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return atomic_load(&test_failures) != 0;
}

static void run_all(void)
{
    RUN(a_pool_is_laid_out_again_in_another_process);
}

int main(int argc, char **argv)
{
    return recipe_main(argc, argv, NULL, load_here, run_all);
}
