// SPDX-License-Identifier: Apache-2.0
/* Trees on a driver: random programs, memory, functions that cannot be recorded, threads,
 * and each driver call and allocation failing in turn. */
#define _GNU_SOURCE /* pthread_barrier_t */
#include "replay/copy.h"
#include "unit/tree_device.h"
#include "unit/tree_random.h"

#include <gph/memory_ledger.h>
#include <pthread.h>

static gph_status world_tree(const gph_tree_options *options, gph_tree **out)
{
    gph_tree_options with = *options;
    with.stream = device_stream;
    return gph_tree_create(device_runtime, device_arena, &with, out, &error);
}

/* Nothing is left: no page, no executable. */
static void check_device_is_empty(void)
{
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    gph_error why;
    uint32_t count = 0;
    CHECK_OK(gph_ledger_get(device_arena, NULL, 0, &count, &total, &why), why);
    CHECK(total.mapped_bytes == 0 && total.exec_bytes == 0);
}

static void world_end(gph_tree *ended)
{
    gph_tree_destroy(ended);
    check_device_is_empty();
}

static gph_tensor world_tensor(uint32_t n, uint32_t units, uint64_t seed)
{
    return device_tensor(n, units, seed);
}

static value world_value(const gph_tensor *tensor)
{
    return device_value(tensor);
}

static bool was_armed; /* a failed free may leave a block in the books for a while */

static void world_arm(uint32_t nth)
{
    shim.fail_at = nth;
    was_armed = true;
}

static bool world_disarm(void)
{
    const bool has_failed = shim.fail_at < 0;
    shim.fail_at = -1;
    return has_failed;
}

static void world_check(const gph_tree_stats *stats)
{
    gph_pool *pool = NULL;
    gph_pool_stats books = GPH_SIZED(gph_pool_stats);
    gph_tree_objects(tree, NULL, &pool);
    gph_pool_stats_get(pool, &books);
    const uint32_t blocks = tree->is_fresh ? stats->live_blocks : 0;
    CHECK(books.allocation_count == blocks ||
          (was_armed && books.allocation_count > blocks));
}

static void world_timed(uint64_t ns)
{
    (void)ns;
}

static void random_programs_do_what_a_model_does(void)
{
    unsigned long long first = 0, last = 16;
    const char *range = getenv("TREE_SEEDS");
    if (range != NULL)
        CHECK(sscanf(range, "%llu:%llu", &first, &last) == 2);
    failures_max = 40;
    for (uint64_t seed = first; seed < last && atomic_load(&test_failures) == 0; seed++) {
        was_armed = false;
        run_seed(seed, 200);
    }
    printf("# %llu calls, %llu replays, %llu restores, %llu outputs refused\n",
           (unsigned long long)total_calls, (unsigned long long)total_replays,
           (unsigned long long)total_restores, (unsigned long long)total_refused);
    CHECK(range != NULL || total_replays > total_calls / 20);
}

/* ---- a program of its own ---- */

static gph_tree_function *add(gph_tree *to, spec *s, const uint8_t *inputs,
                              uint32_t count)
{
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    gph_tree_function *out = NULL;
    gph_error why;
    opt.inputs = inputs;
    opt.input_count = count;
    opt.output_count = s->outputs;
    while (gph_tree_function_add(to, spec_fn, s, &opt, &out, &why) != GPH_OK)
        CHECK(why.code == GPH_E_NO_MEMORY && atomic_load(&device_heap.fail_at) < 0);
    return out;
}

static bool is_of(gph_tree *of, gph_tree_output output, const spec *s, const value *input)
{
    gph_tensor at;
    gph_error why;
    if (!CHECK_OK(gph_tree_output_tensor(of, output, &at, &why), why))
        return false;
    const value got = device_value(&at),
                expected = spec_value(s, 0, NULL, 0, input, 1, s->units[0]);
    return CHECK(same_value(&got, &expected));
}

/* One call fails, or none: then it works the second time. */
static gph_tree_output call(gph_tree *to, gph_tree_function *function,
                            gph_tree_input input)
{
    gph_tree_output out = {0};
    gph_error why;
    gph_status status = gph_tree_call(to, function, NULL, &input, &out, &why);
    if (status != GPH_OK) {
        CHECK(shim.fail_at < 0 && atomic_load(&device_heap.fail_at) < 0);
        CHECK(why.code == status && why.message[0] != '\0');
        status = gph_tree_call(to, function, NULL, &input, &out, &why);
    }
    CHECK_OK(status, why);
    return out;
}

/* A root, then one of two branches, as often as all is recorded. */
static void run_branches(gph_tree *to, gph_tensor in, uint64_t salt, int times)
{
    spec s[3] = {{.temporaries = 2, .outputs = 1, .units = {3}},
                 {.temporaries = 1, .outputs = 1, .units = {2}},
                 {.temporaries = 3, .outputs = 1, .units = {4}}};
    gph_tree_function *fn[3];
    for (uint32_t i = 0; i < 3; i++) {
        s[i].salt = spec_mix(salt, i);
        fn[i] = add(to, &s[i], NULL, 1);
    }
    const value v = device_value(&in);
    for (int i = 0; i < times; i++) {
        const uint32_t branch = i >= 3 && i % 2 == 1 ? 2 : 1;
        gph_tensor at;
        gph_error why;
        const gph_tree_output y = call(to, fn[0], (gph_tree_input){.tensor = in});
        const gph_tree_output z = call(to, fn[branch], (gph_tree_input){.output = y});
        is_of(to, y, &s[0], &v);
        CHECK_OK(gph_tree_output_tensor(to, y, &at, &why), why);
        const value mid = device_value(&at);
        is_of(to, z, &s[branch], &mid);
        if (i % 3 == 0)
            gph_tree_output_release(to, y);
    }
}

static gph_tree *new_tree(void)
{
    gph_tree_options opt = GPH_TREE_OPTIONS_INIT;
    gph_tree *out = NULL;
    gph_error why;
    opt.stream = device_stream;
    gph_status status = gph_tree_create(device_runtime, device_arena, &opt, &out, &why);
    if (status != GPH_OK) {
        CHECK(out == NULL && shim.fail_at < 0 && atomic_load(&device_heap.fail_at) < 0);
        status = gph_tree_create(device_runtime, device_arena, &opt, &out, &why);
    }
    CHECK_OK(status, why);
    return out;
}

static void every_driver_call_may_fail(void)
{
    const gph_tensor in = device_tensor(0, 2, 5);
    bool has_ended = false;
    long nth = 0;
    for (; nth < 3000 && !has_ended && atomic_load(&test_failures) == 0; nth++) {
        shim.fail_at = nth;
        gph_tree *one = new_tree();
        run_branches(one, in, 3, 10);
        gph_tree_destroy(one);
        has_ended = shim.fail_at >= 0;
        shim.fail_at = -1;
        check_device_is_empty();
    }
    CHECK(has_ended && nth > 50);
    printf("# %ld calls\n", nth);
}

static void every_allocation_may_fail(void)
{
    const gph_tensor in = device_tensor(0, 2, 5);
    bool has_ended = false;
    long nth = 0;
    for (; nth < 3000 && !has_ended && atomic_load(&test_failures) == 0; nth++) {
        atomic_store(&device_heap.fail_at, nth);
        gph_tree *one = new_tree();
        run_branches(one, in, 3, 10);
        gph_tree_destroy(one);
        has_ended = atomic_load(&device_heap.fail_at) >= 0;
        atomic_store(&device_heap.fail_at, -1);
        check_device_is_empty();
    }
    CHECK(has_ended && nth > 50);
    printf("# %ld allocations\n", nth);
}

/* ---- memory ---- */

enum { LAYERS = 6, LARGE = 256 * 1024 };

/* A layer: a temporary, an output, both large. */
static gph_status layer(void *user, gph_call *in, gph_error *why)
{
    (void)user;
    const int64_t shape[] = {LARGE};
    const gph_cuda_calls *cu = gph_cuda(in->runtime);
    CUdeviceptr temporary = 0, out = 0;
    GPHI_TRY(gph_pool_alloc(in->pool, 2 * LARGE, in->stream, &temporary, why));
    GPHI_TRY(gph_pool_alloc(in->pool, LARGE, in->stream, &out, why));
    GPHI_TRY(gph_cuda_check(cu->MemsetD8Async(temporary, 3, 2 * LARGE, in->stream),
                            "cuMemsetD8Async", why));
    GPHI_TRY(
        gph_cuda_check(cu->MemcpyDtoDAsync(out, in->inputs[0].data, LARGE, in->stream),
                       "cuMemcpyDtoDAsync", why));
    GPHI_TRY(gph_pool_free(in->pool, temporary, in->stream, why));
    in->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_U8, 1, shape);
    return GPH_OK;
}

static uint64_t eager_peak(CUdeviceptr x)
{
    const int64_t shape[] = {LARGE};
    gph_pool *pool = NULL;
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    CHECK_OK(gph_pool_create(device_arena, NULL, &pool, &error), error);
    gph_callable_options opt = GPH_CALLABLE_OPTIONS_INIT;
    opt.function = layer;
    opt.pool = pool;
    opt.stream = device_stream;
    opt.output_count = 1;
    gph_tensor in = gph_tensor_dense(x, GPH_DTYPE_U8, 1, shape), out = {0};
    for (int i = 0; i < LAYERS; i++) {
        const gph_arguments arguments = {.inputs = &in, .input_count = 1};
        CHECK_OK(gph_function_call(device_runtime, &opt, &arguments, device_stream, &out,
                                   &error),
                 error);
        if (i != 0)
            CHECK_OK(gph_pool_free(pool, in.data, device_stream, &error), error);
        in = out;
    }
    CHECK_OK(gph_pool_free(pool, in.data, device_stream, &error), error);
    gph_pool_stats_get(pool, &stats);
    CHECK(below.cuStreamSynchronize(device_stream) == 0);
    gph_pool_release(pool);
    return stats.peak_bytes;
}

static void a_tree_takes_no_more_than_the_eager_program(void)
{
    const int64_t shape[] = {LARGE};
    CUdeviceptr x = 0;
    gph_pool *pool = NULL;
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    CHECK(below.cuMemAlloc(&x, LARGE) == 0);
    const uint64_t eager = eager_peak(x);
    gph_tree *one = new_tree();
    gph_tree_function *fn[2];
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    const uint8_t is_static[] = {GPH_TREE_INPUT_STATIC};
    opt.inputs = is_static;
    opt.input_count = opt.output_count = 1;
    for (int i = 0; i < 2; i++)
        CHECK_OK(gph_tree_function_add(one, layer, NULL, &opt, &fn[i], &error), error);
    for (int step = 0; step < 12; step++) { /* branches at every layer */
        CHECK_OK(gph_tree_step_begin(one, &error), error);
        gph_tree_input in = {.tensor = gph_tensor_dense(x, GPH_DTYPE_U8, 1, shape)};
        for (int i = 0; i < LAYERS; i++)
            in = (gph_tree_input){.output = call(one, fn[(step / 3 >> i / 2) & 1], in),
                                  .take = 1};
    }
    gph_tree_objects(one, NULL, &pool);
    gph_pool_stats_get(pool, &stats);
    printf("# eager peak %llu KiB, tree %llu KiB, its pages %llu KiB\n",
           (unsigned long long)eager / 1024, (unsigned long long)stats.peak_bytes / 1024,
           (unsigned long long)stats.mapped_bytes / 1024);
    CHECK(stats.peak_bytes * 100 <= eager * 102);
    gph_tree_destroy(one);
    CHECK(below.cuMemFree(x) == 0);
    check_device_is_empty();
}

/* ---- who copies inputs ---- */

static gph_tree_stats stats_of(const gph_tree *of)
{
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(of, &stats);
    return stats;
}

enum { BYTES = 1000 };

static gph_status copy_small(void *user, gph_call *in, gph_error *why)
{
    (void)user;
    CUdeviceptr out = 0;
    GPHI_TRY(gph_pool_alloc(in->pool, BYTES, in->stream, &out, why));
    in->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_U8, 1, in->inputs[0].shape);
    return gph_cuda_check(
        gph_cuda(in->runtime)
            ->MemcpyDtoDAsync(out, in->inputs[0].data, BYTES, in->stream),
        "cuMemcpyDtoDAsync", why);
}

/* From the device inside the graph, whatever was copied last; from the host by a call. */
static void inputs_are_copied_by_the_graph(gphi_copy_way way)
{
    static char text[4096];
    const int64_t shape[] = {BYTES};
    CUdeviceptr from[2] = {0, 0};
    void *pinned = NULL;
    uint8_t back[BYTES];
    device_runtime->copy_way = way;
    gph_tree *one = new_tree();
    gph_tree_function *fn = NULL;
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    opt.input_count = opt.output_count = 1;
    CHECK_OK(gph_tree_function_add(one, copy_small, NULL, &opt, &fn, &error), error);
    CHECK(below.cuMemHostAlloc(&pinned, BYTES, 0) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(below.cuMemAlloc(&from[i], LARGE) == 0);
    for (int step = 0; step < 12; step++) {
        const bool is_host = step % 4 == 3;
        const CUdeviceptr at =
            is_host ? (CUdeviceptr)(uintptr_t)pinned : from[step % 2] + (unsigned)step;
        if (is_host)
            memset(pinned, step + 1, BYTES);
        else
            CHECK(below.cuMemsetD8Async(at, (uint8_t)(step + 1), BYTES, device_stream) ==
                  0);
        const gph_tree_input in = {.tensor =
                                       gph_tensor_dense(at, GPH_DTYPE_U8, 1, shape)};
        const gph_tree_output out = call(one, fn, in);
        CUdeviceptr data = 0;
        CHECK_OK(gph_tree_output_data(one, out, &data, &error), error);
        CHECK(below.cuStreamSynchronize(device_stream) == 0);
        CHECK(below.cuMemcpyDtoH(back, data, BYTES) == 0);
        CHECK(back[0] == step + 1 && back[BYTES - 1] == step + 1);
        gph_tree_output_release(one, out);
    }
    const gph_tree_stats stats = stats_of(one);
    const bool by_graph = way == GPHI_COPY_AUTO;
    CHECK(stats.replays == 10 && stats.inputs_pulled == (by_graph ? 8u : 0u));
    CHECK(stats.inputs_copied == (by_graph ? 3u : 11u));
    gph_buffer to = {.text = text, .bytes = sizeof(text)};
    CHECK_OK(gph_tree_write(one, GPH_TREE_LONG, gph_write_buffer, &to, &error), error);
    CHECK(strstr(text, by_graph ? "[1000], by the graph" : "[1000], by a call") != NULL);
    gph_tree_destroy(one);
    device_runtime->copy_way = GPHI_COPY_AUTO;
    CHECK(below.cuMemFreeHost(pinned) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(below.cuMemFree(from[i]) == 0);
}

static void copied_inputs_need_no_call(void)
{
    inputs_are_copied_by_the_graph(GPHI_COPY_AUTO);
    inputs_are_copied_by_the_graph(GPHI_COPY_EACH);
}

/* ---- functions that do not fit a graph ---- */

static void a_synchronizing_function_runs_eagerly(void)
{
    spec s = {.salt = 9, .outputs = 1, .units = {2}, .capture_fails = 900};
    const gph_tensor in = device_tensor(0, 2, 5);
    const value v = device_value(&in);
    gph_tree *one = new_tree();
    gph_tree_function *fn = add(one, &s, NULL, 1);
    for (int i = 0; i < 4; i++) {
        gph_tree_event event = GPH_SIZED(gph_tree_event);
        is_of(one, call(one, fn, (gph_tree_input){.tensor = in}), &s, &v);
        gph_tree_event_get(one, &event);
        CHECK(event.action == (i == 0 ? GPH_TREE_WARMED : GPH_TREE_EAGER));
        CHECK(i == 0 || event.reason == GPH_TREE_CAPTURE);
        CHECK(i == 0 || strstr(event.text, "cuStreamSynchronize") != NULL);
    }
    gph_tree_destroy(one);
    check_device_is_empty();
}

static void a_tensor_that_is_none_is_refused_with_its_value(void)
{
    static const struct {
        uint32_t dtype;
        int64_t shape;
        const char *text;
    } rows[] = {
        {77, 5, "input 0: 77 is not a gph_dtype"},
        {GPH_DTYPE_F32, -5, "input 0: shape[0] is -5"},
        {GPH_DTYPE_F32, (int64_t)1 << 61, "input 0: f32[2305843009213693952] spans"},
    };
    spec s = {.salt = 9, .outputs = 1, .units = {2}};
    const gph_tensor in = device_tensor(0, 2, 5);
    const value v = device_value(&in);
    gph_tree *one = new_tree();
    gph_tree_function *fn = add(one, &s, NULL, 1);
    for (int i = 0; i < 4; i++) { /* before the warm-up, and beside a recording */
        for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
            gph_tree_input bad = {.tensor = in};
            gph_tree_output out;
            gph_error why = {0};
            bad.tensor.dtype = rows[k].dtype;
            bad.tensor.shape[0] = rows[k].shape;
            CHECK(gph_tree_call(one, fn, NULL, &bad, &out, &why) == GPH_E_INVALID);
            if (!CHECK(strstr(why.message, rows[k].text) != NULL &&
                       strstr(why.message, ", warm-up: ") != NULL))
                fprintf(stderr, "  %s\n", why.message);
        }
        is_of(one, call(one, fn, (gph_tree_input){.tensor = in}), &s, &v);
    }
    gph_tree_destroy(one);
    check_device_is_empty();
}

/* Keeps a workspace from its first call on, in whichever pool that was. */
struct keeper {
    CUdeviceptr workspace;
    gph_pool *pool;
};

static gph_status keep(void *user, gph_call *in, gph_error *why)
{
    struct keeper *k = user;
    if (k->workspace == 0) {
        GPHI_TRY(gph_pool_alloc(in->pool, 4 * UNIT, in->stream, &k->workspace, why));
        k->pool = in->pool;
    }
    CUdeviceptr out = 0;
    GPHI_TRY(gph_pool_alloc(in->pool, 2 * UNIT, in->stream, &out, why));
    GPHI_TRY(device_store(in, k->workspace, 4, 1, 1, why));
    gph_call from = *in;
    const gph_tensor workspace = spec_tensor(k->workspace, 4);
    from.inputs = &workspace;
    GPHI_TRY(device_store(&from, out, 2, 2, 1, why));
    in->outputs[0] = spec_tensor(out, 2);
    return GPH_OK;
}

/* `late`: it comes when others are recorded already, who may write over it. */
static void keep_from(int late)
{
    const gph_tensor in = device_tensor(0, 2, 5);
    struct keeper k = {0};
    spec s = {.salt = 9, .temporaries = 3, .outputs = 1, .units = {4}};
    gph_tree *one = new_tree();
    gph_tree_function *other = add(one, &s, NULL, 1), *fn = NULL;
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    opt.input_count = opt.output_count = 1;
    CHECK_OK(gph_tree_function_add(one, keep, &k, &opt, &fn, &error), error);
    const value v = device_value(&in);
    for (int i = 0; i < 12; i++) {
        const gph_tree_output y = call(one, other, (gph_tree_input){.tensor = in});
        is_of(one, y, &s, &v);
        if (i < late)
            continue;
        gph_tensor at_y, at_z;
        const gph_tree_output z = call(one, fn, (gph_tree_input){.output = y});
        CHECK_OK(gph_tree_output_tensor(one, y, &at_y, &error), error);
        CHECK_OK(gph_tree_output_tensor(one, z, &at_z, &error), error);
        const value from = device_value(&at_y), got = device_value(&at_z);
        uint64_t hash = 1, all = 2;
        for (uint32_t u = 0; u < from.units; u++)
            hash = spec_mix(hash, from.unit[u]);
        for (uint32_t u = 0; u < 4; u++)
            all = spec_mix(all, spec_mix(hash, u));
        CHECK(got.unit[0] == spec_mix(all, 0) && got.unit[1] == spec_mix(all, 1));
        const gph_tensor workspace = spec_tensor(k.workspace, 4);
        const value kept = device_value(&workspace);
        CHECK(kept.unit[3] == spec_mix(hash, 3));
    }
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(one, &stats);
    CHECK(stats.eager == stats.eager_for[GPH_TREE_OVERLAP]);
    CHECK((stats.eager != 0) == (late != 0));
    CHECK(below.cuStreamSynchronize(device_stream) == 0);
    CHECK_OK(gph_pool_free(k.pool, k.workspace, device_stream, &error), error);
    gph_tree_destroy(one);
    check_device_is_empty();
}

static void a_kept_workspace_stays_whole(void)
{
    keep_from(0);
    keep_from(3);
}

/* ---- random numbers ---- */

/* A number of the generator's words, by a copy: seed and offset. */
static gph_status draw_words(void *user, gph_call *in, gph_error *why)
{
    (void)user;
    CUdeviceptr out = 0;
    const gph_cuda_calls *cu = gph_cuda(in->runtime);
    GPHI_TRY(gph_pool_alloc(in->pool, 16, in->stream, &out, why));
    in->outputs[0] = gph_tensor_dense(out, GPH_DTYPE_U64, 1, (int64_t[]){2});
    in->rng_count = 3;
    return gph_cuda_check(cu->MemcpyDtoDAsync(out, in->rng, 16, in->stream),
                          "cuMemcpyDtoDAsync", why);
}

/* rng_trees: calls differ, and seeding again gives the same numbers, however each call was
 * carried out. */
static void a_seed_gives_the_same_numbers_again(void)
{
    gph_rng *rng = NULL;
    gph_tree *one = NULL;
    gph_tree_function *fn = NULL;
    gph_tree_options with = GPH_TREE_OPTIONS_INIT;
    gph_tree_function_options opt = GPH_TREE_FUNCTION_OPTIONS_INIT;
    CHECK_OK(gph_rng_create(device_runtime, 7, &rng, &error), error);
    with.stream = device_stream;
    with.rng = rng;
    opt.output_count = 1;
    CHECK_OK(gph_tree_create(device_runtime, device_arena, &with, &one, &error), error);
    CHECK_OK(gph_tree_function_add(one, draw_words, NULL, &opt, &fn, &error), error);
    for (int round = 0; round < 4; round++) {
        gph_rng_state_set(rng, (gph_rng_state){.seed = 11});
        for (uint64_t i = 0; i < 3; i++) {
            gph_tree_output y;
            CUdeviceptr at = 0;
            uint64_t words[2] = {0};
            CHECK_OK(gph_tree_call(one, fn, NULL, NULL, &y, &error), error);
            CHECK_OK(gph_tree_output_data(one, y, &at, &error), error);
            CHECK(below.cuStreamSynchronize(device_stream) == 0);
            CHECK(below.cuMemcpyDtoH(words, at, sizeof(words)) == 0);
            CHECK(words[0] == 11 && words[1] == 3 * i);
        }
        CHECK(gph_rng_state_get(rng).offset == 9);
    }
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(one, &stats);
    CHECK(stats.warmups == 1 && stats.recordings == 1 && stats.replays == 10);
    gph_tree_destroy(one);
    gph_rng_destroy(rng);
    check_device_is_empty();
}

/* ---- threads ---- */

enum { THREADS = 4 };

static CUcontext context;

static void *use_a_tree(void *user)
{
    const uint64_t salt = (uint64_t)(uintptr_t)user;
    gph_error why;
    CUstream stream = NULL;
    gph_tree *one = NULL;
    gph_tree_options opt = GPH_TREE_OPTIONS_INIT;
    CHECK(below.cuCtxSetCurrent(context) == 0);
    CHECK(below.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == 0);
    opt.stream = stream;
    spec s[2] = {{.salt = salt, .temporaries = 2, .outputs = 1, .units = {2}},
                 {.salt = salt + 1, .temporaries = 1, .outputs = 1, .units = {3}}};
    if (!CHECK_OK(gph_tree_create(device_runtime, device_arena, &opt, &one, &why), why))
        return NULL;
    gph_tree_function *fn[2] = {add(one, &s[0], NULL, 1), add(one, &s[1], NULL, 1)};
    const gph_tensor in = spec_tensor(device_weights, 2);
    for (int i = 0; i < 40; i++) {
        gph_tree_input input = {.tensor = in};
        gph_tree_output y, z;
        uint64_t word[2] = {0};
        CUdeviceptr at = 0;
        CHECK_OK(gph_tree_call(one, fn[0], NULL, &input, &y, &why), why);
        input = (gph_tree_input){.output = y, .take = 1};
        CHECK_OK(gph_tree_call(one, fn[1], NULL, &input, &z, &why), why);
        CHECK_OK(gph_tree_output_data(one, z, &at, &why), why);
        CHECK(below.cuStreamSynchronize(stream) == 0);
        CHECK(below.cuMemcpyDtoH(word, at, sizeof(word)) == 0);
        value v = {.units = 2, .unit = {spec_mix(5, 0), spec_mix(5, 1)}};
        v = spec_value(&s[0], 0, NULL, 0, &v, 1, 2);
        v = spec_value(&s[1], 0, NULL, 0, &v, 1, 3);
        CHECK(word[0] == v.unit[0] && word[1] == v.unit[0] + 1);
    }
    gph_tree_stats stats = GPH_SIZED(gph_tree_stats);
    gph_tree_stats_get(one, &stats);
    CHECK(stats.replays == 76 && stats.eager == 0);
    gph_tree_destroy(one);
    CHECK(below.cuStreamDestroy(stream) == 0);
    return NULL;
}

static void trees_of_several_threads(void)
{
    pthread_t threads[THREADS];
    device_tensor(0, 2, 5);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, use_a_tree, (void *)(i * 100)) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    check_device_is_empty();
}

static pthread_barrier_t inside;

static gph_status wait_inside(void *user, gph_call *in, gph_error *why)
{
    (void)user;
    (void)in;
    (void)why;
    pthread_barrier_wait(&inside);
    pthread_barrier_wait(&inside);
    return GPH_OK;
}

static void *call_and_wait(void *user)
{
    gph_tree_function **fn = user;
    gph_error why;
    CHECK(below.cuCtxSetCurrent(context) == 0);
    CHECK_OK(gph_tree_call(tree, *fn, NULL, NULL, NULL, &why), why);
    return NULL;
}

static void a_second_thread_is_refused(void)
{
    gph_tree_function *fn = NULL;
    pthread_t thread;
    tree = new_tree();
    CHECK_OK(gph_tree_function_add(tree, wait_inside, NULL, NULL, &fn, &error), error);
    pthread_barrier_init(&inside, NULL, 2);
    CHECK(pthread_create(&thread, NULL, call_and_wait, &fn) == 0);
    pthread_barrier_wait(&inside);
    CHECK(gph_tree_call(tree, fn, NULL, NULL, NULL, &error) == GPH_E_STATE);
    CHECK(gph_tree_step_begin(tree, &error) == GPH_E_STATE);
    pthread_barrier_wait(&inside);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_barrier_destroy(&inside);
    gph_tree_destroy(tree);
}

static void bad_options_are_refused(void)
{
    gph_tree_options opt = GPH_TREE_OPTIONS_INIT;
    gph_tree *none = NULL;
    opt.stream = CU_STREAM_LEGACY;
    CHECK(gph_tree_create(device_runtime, device_arena, &opt, &none, &error) ==
          GPH_E_INVALID);
    CHECK(gph_tree_create(device_runtime, NULL, NULL, &none, &error) == GPH_E_INVALID);
    CHECK(gph_tree_create(NULL, device_arena, NULL, &none, &error) == GPH_E_INVALID);
    CHECK(none == NULL);
    check_device_is_empty();
    CHECK_OK(gph_tree_create(device_runtime, device_arena, NULL, &none, &error), error);
    CUstream stream = NULL;
    gph_tree_objects(none, &stream, NULL);
    CHECK(stream != NULL);
    gph_tree_destroy(none);
}

int main(void)
{
    if (!device_open(getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO,
                     &error)) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    below.cuCtxGetCurrent(&context);
    RUN(bad_options_are_refused);
    RUN(random_programs_do_what_a_model_does);
    RUN(a_tree_takes_no_more_than_the_eager_program);
    RUN(copied_inputs_need_no_call);
    RUN(a_synchronizing_function_runs_eagerly);
    RUN(a_tensor_that_is_none_is_refused_with_its_value);
    RUN(a_kept_workspace_stays_whole);
    RUN(a_seed_gives_the_same_numbers_again);
    RUN(trees_of_several_threads);
    RUN(a_second_thread_is_refused);
    RUN(every_driver_call_may_fail);
    RUN(every_allocation_may_fail);
    device_close();
    return test_done();
}
