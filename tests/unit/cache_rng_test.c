// SPDX-License-Identifier: Apache-2.0
/* Caches with a generator: whatever way a call goes, it draws what an eager call draws.
 */
#define _GNU_SOURCE
#include "cuda/runtime.h"
#include "fault.h"
#include "shim.h"
#include "unit/callable_run.h"

#include <gph/cache_figures.h>

enum { SEED = 99, MOST = 64, WORDS = 4 * MOST };

static int64_t fails_at;  /* tokens at which the function fails after its work */
static uint32_t fails_in; /* a gph_phase */
static gph_rng *rng, *twin;
static gphi_cuda_table real;

/* [tokens, 4] random words; how far it goes on depends on the key, and 1 token draws
 * nothing. */
static gph_status draw(void *user, gph_call *call, gph_error *out)
{
    (void)user;
    const int64_t tokens = call->key[0];
    unsigned n = (unsigned)tokens, skip = tokens > 4 ? 2 : 0;
    CUdeviceptr at = 0, words = call->rng;
    gph_status status =
        gph_pool_alloc(call->pool, (uint64_t)tokens * 16, call->stream, &at, out);
    if (status != GPH_OK)
        return status;
    call->outputs[0] = gph_tensor_dense(at, GPH_DTYPE_U32, 2, (int64_t[]){tokens, 4});
    void *params[] = {&at, &n, &words, &skip};
    if (tokens == 1)
        status = cu->MemsetD32Async(at, 7, 4, call->stream);
    else
        status = cu->LaunchKernel(philox_fill, 1, 1, 1, MOST, 1, 1, 0, call->stream,
                                  params, NULL);
    call->rng_count = tokens == 1 ? 0 : skip + 1;
    if (tokens == fails_at && call->phase == fails_in)
        status = CUDA_ERROR_NOT_SUPPORTED;
    if (status == GPH_OK)
        return GPH_OK;
    call->outputs[0] = (gph_tensor){0};
    (void)gph_pool_free(call->pool, at, call->stream, NULL);
    return gph_cuda_check(status, "cuLaunchKernel", out);
}

static const gph_cache_axis axis = {
    .name = "tokens", .ladder = GPH_LADDER_POWERS, .last = 16};
static const gph_cache_tensor result = {
    .dtype = GPH_DTYPE_U32, .rank = 2, .shape = {1, 4}, .axis = {1}};

static gph_cache_options options_of(double hot_share, uint32_t lazy)
{
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    options.pool = pool;
    options.axes = &axis;
    options.axis_count = 1;
    options.outputs = &result;
    options.output_count = 1;
    options.function = draw;
    options.rng = rng;
    options.hot_share = hot_share;
    options.lazy = lazy;
    return options;
}

static gph_cache *make(double hot_share, uint32_t lazy)
{
    const gph_cache_options options = options_of(hot_share, lazy);
    gph_cache *cache = NULL;
    CHECK_OK(gph_cache_create(runtime, &options, &cache, &error), error);
    gph_rng_state_set(rng, (gph_rng_state){.seed = SEED});
    gph_rng_state_set(twin, (gph_rng_state){.seed = SEED});
    return cache;
}

static bool same_state(void)
{
    const gph_rng_state a = gph_rng_state_get(rng), b = gph_rng_state_get(twin);
    return a.seed == b.seed && a.offset == b.offset;
}

/* The same for `tokens`, eagerly, by the other generator; the first `count` of them. */
static bool is_as_eager(int64_t tokens, int64_t count, const gph_tensor *got)
{
    uint32_t a[WORDS] = {0}, b[WORDS] = {1};
    const size_t bytes = (size_t)count * 16;
    gph_tensor output = {0};
    gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
    options.function = draw;
    options.pool = pool;
    options.stream = stream;
    options.rng = twin;
    options.output_count = 1;
    const gph_arguments arguments = {.key = &tokens, .key_count = 1};
    CU(MemcpyDtoHAsync, a, got->data, bytes, stream);
    if (!CHECK_OK(
            gph_function_call(runtime, &options, &arguments, stream, &output, &error),
            error))
        return false;
    CU(MemcpyDtoHAsync, b, output.data, bytes, stream);
    CU(StreamSynchronize, stream);
    CHECK_OK(gph_pool_free(pool, output.data, stream, &error), error);
    return got->shape[0] == count && memcmp(a, b, bytes) == 0 && same_state();
}

static gph_status call_it(gph_cache *cache, int64_t tokens, gph_cache_match *match,
                          gph_tensor *output)
{
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    *output = (gph_tensor){0};
    args.stream = stream;
    args.sizes = &tokens;
    args.outputs = output;
    const gph_status status = gph_cache_call(cache, &args, &error);
    *match = args.match;
    return status;
}

/* `verdict` 0: any. */
static bool draws(gph_cache *cache, int64_t tokens, gph_cache_verdict verdict)
{
    static const int64_t values[] = {1, 2, 4, 8, 16};
    gph_tensor output;
    gph_cache_match match;
    return CHECK_OK(call_it(cache, tokens, &match, &output), error) &&
           CHECK(verdict == 0 || match.verdict == verdict) &&
           is_as_eager(match.key == GPH_CACHE_NONE ? tokens : values[match.key], tokens,
                       &output);
}

static bool replays(gph_cache *cache, uint32_t key)
{
    gph_tensor output = {0};
    return CHECK_OK(gph_cache_replay(cache, key, stream, &error), error) &&
           CHECK_OK(gph_cache_output(cache, key, 0, &output, &error), error) &&
           is_as_eager(INT64_C(1) << key, INT64_C(1) << key, &output);
}

static gph_cache_exec exec_of(gph_cache *cache, uint32_t key)
{
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    CHECK_OK(gph_cache_key_get(cache, key, &info, &error), error);
    return info.exec;
}

/* Work until there is none; returns what was done, a bit a kind. */
static unsigned work(gph_cache *cache)
{
    unsigned all = 0;
    gph_cache_work_kind kind = GPH_CACHE_WORK_CAPTURE;
    for (int i = 0; i < 20 && kind != GPH_CACHE_WORK_NONE; i++) {
        kind = GPH_CACHE_WORK_NONE;
        CHECK_OK(gph_cache_work(cache, stream, &kind, NULL, &error), error);
        all |= 1u << kind;
    }
    CHECK(same_state());
    return all;
}

static void any_mix_of_calls_draws_as_eager_calls(void)
{
    static const uint32_t keys[] = {0, 1, 2, 3};
    gph_cache *cache = make(0.2, GPH_CACHE_LAZY_WORK);
    CHECK_OK(gph_cache_start(cache, stream, keys, 4, NULL, NULL, &error), error);
    CHECK(same_state() && gph_rng_state_get(rng).offset == 0);
    for (int round = 0; round < 3; round++) {
        CHECK(draws(cache, 4, GPH_CACHE_EXACT));
        CHECK(draws(cache, 4, GPH_CACHE_EXACT));
        CHECK(draws(cache, 3, GPH_CACHE_PADDED));
        CHECK(draws(cache, 40, GPH_CACHE_EAGER));
        CHECK(draws(cache, 8, GPH_CACHE_EXACT));
        CHECK(draws(cache, 1, GPH_CACHE_EXACT));
        CHECK(draws(cache, 5, GPH_CACHE_PADDED));
        CHECK(draws(cache, 2, GPH_CACHE_EXACT));
        CHECK(draws(cache, 4, GPH_CACHE_EXACT));
    }
    CHECK(draws(cache, 16, GPH_CACHE_MISS));
    CHECK(draws(cache, 12, GPH_CACHE_MISS));
    CHECK((work(cache) & 1u << GPH_CACHE_WORK_CAPTURE) != 0);
    CHECK(draws(cache, 16, GPH_CACHE_EXACT));
    CHECK(exec_of(cache, 2) == GPH_CACHE_EXEC_SHARED);
    gph_rng_state_set(rng, (gph_rng_state){.seed = 5, .offset = UINT32_MAX});
    gph_rng_state_set(twin, (gph_rng_state){.seed = 5, .offset = UINT32_MAX});
    for (int i = 0; i < 70; i++)
        CHECK(replays(cache, 2));
    CHECK((work(cache) & 1u << GPH_CACHE_WORK_OWN) != 0);
    CHECK(exec_of(cache, 2) == GPH_CACHE_EXEC_OWN);
    for (int i = 0; i < 70; i++) { /* hot and cold in turn; then another is hot */
        CHECK(i >= 4 || draws(cache, 4, GPH_CACHE_EXACT));
        CHECK(draws(cache, 8, GPH_CACHE_EXACT));
        CHECK(i % 8 != 0 || draws(cache, 2, GPH_CACHE_EXACT));
    }
    CHECK((work(cache) & 1u << GPH_CACHE_WORK_SHARE) != 0);
    CHECK(exec_of(cache, 2) == GPH_CACHE_EXEC_SHARED);
    for (int i = 0; i < 6; i++)
        CHECK(draws(cache, i % 2 == 0 ? 4 : 8, GPH_CACHE_EXACT));
    CHECK_OK(gph_cache_evict(cache, 2, &error), error);
    CHECK(draws(cache, 3, GPH_CACHE_PADDED)); /* by the next one */
    CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
    CHECK(draws(cache, 4, GPH_CACHE_EXACT) && draws(cache, 4, GPH_CACHE_EXACT));
    gph_cache_destroy(cache);
}

static void own_executables_and_captures_in_calls_draw_so_too(void)
{
    for (int own = 0; own < 2; own++) {
        gph_cache *cache = make(own ? -1 : 0, GPH_CACHE_LAZY_CALL);
        for (int i = 0; i < 24; i++)
            CHECK(draws(cache, (int64_t)1 << (i * i + i / 3) % 5, 0));
        CHECK(exec_of(cache, 1) == (own ? GPH_CACHE_EXEC_OWN : GPH_CACHE_EXEC_SHARED));
        gph_cache_destroy(cache);
    }
}

static bool refuses;

/* In place before any executable is made: they keep the entry. */
static CUresult launch_or_refuse(CUgraphExec exec, CUstream where)
{
    return refuses ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : real.cuGraphLaunch(exec, where);
}

static void what_fails_takes_no_numbers(void)
{
    gph_cache_match match;
    gph_tensor output;
    runtime->cu.cuGraphLaunch = launch_or_refuse;
    for (int own = 0; own < 2; own++) {
        gph_cache *cache = make(own ? -1 : 0, GPH_CACHE_LAZY_OFF);
        for (uint32_t phase = GPH_PHASE_EAGER; phase <= GPH_PHASE_CAPTURE; phase++) {
            const uint32_t key = 3;
            fails_at = 8;
            fails_in = phase;
            const gph_status status =
                phase == GPH_PHASE_EAGER
                    ? call_it(cache, 8, &match, &output)
                    : gph_cache_start(cache, stream, &key, 1, NULL, NULL, &error);
            CHECK(status == CUDA_ERROR_NOT_SUPPORTED && same_state());
            fails_at = 0;
            CHECK(draws(cache, 8, GPH_CACHE_MISS));
        }
        CHECK_OK(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error), error);
        for (int i = 0; i < 6; i++) {
            refuses = true;
            CHECK(gph_cache_replay(cache, 2, stream, &error) ==
                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
            CHECK(call_it(cache, 4, &match, &output) ==
                  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
            refuses = false;
            CHECK(same_state() && replays(cache, i % 2 == 0 ? 2 : 3));
        }
        gph_cache_destroy(cache);
    }
    runtime->cu.cuGraphLaunch = real.cuGraphLaunch;
}

/* ---- everything fails in turn ---- */

static fault_heap heap = {.fail_at = -1};
static bool is_beyond; /* what was to fail was never reached */

static const struct shim_rule rules[] = {
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuGraphExecUpdate),
    SHIM_CALL(cuGraphInstantiateWithParams),
    SHIM_CALL(cuGraphKernelNodeSetParams),
    SHIM_CALL(cuMemAlloc),
    SHIM_CALL(cuMemsetD32Async),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_CALL(cuStreamBeginCapture),
    SHIM_CALL(cuStreamEndCapture),
    SHIM_END,
};

static void arm(long allocation, long call)
{
    atomic_store(&heap.fail_at, allocation);
    shim.fail_at = call;
    shim_over(&runtime->cu, rules, call >= 0);
}

static void disarm(void)
{
    is_beyond = atomic_load(&heap.fail_at) >= 0 || shim.fail_at >= 0;
    arm(-1, -1);
}

/* One thing after the other. After the one that fails the generator is where it
 * stood, and what comes next draws as ever. */
static gph_status use(gph_cache *cache)
{
    static const int64_t sizes[] = {4, 8, 8, 3, 40, 4, 16, 4};
    static const uint32_t keys[] = {1, 2, 3};
    gph_cache_match match;
    gph_tensor output;
    gph_status status = gph_cache_start(cache, stream, keys, 3, NULL, NULL, &error);
    gph_rng_state before = {.seed = SEED};
    for (int i = 0; i < 8 && status == GPH_OK; i++) {
        before = gph_rng_state_get(rng);
        status = call_it(cache, sizes[i], &match, &output);
        if (status == GPH_OK)
            CHECK(gph_rng_state_get(rng).offset > before.offset);
    }
    const bool fails = status != GPH_OK;
    disarm();
    if (fails)
        CHECK(gph_rng_state_get(rng).offset == before.offset);
    gph_rng_state_set(twin, gph_rng_state_get(rng));
    for (int i = 0; i < 8; i++) {
        static const int64_t values[] = {1, 2, 4, 8, 16};
        if (CHECK_OK(call_it(cache, sizes[i], &match, &output), error))
            CHECK(is_as_eager(match.key == GPH_CACHE_NONE ? sizes[i] : values[match.key],
                              sizes[i], &output));
    }
    return status;
}

static gph_status do_it_all(long allocation, long call)
{
    gph_cache *cache = NULL;
    error = (gph_error){0};
    gph_cache_options options = options_of(allocation % 3 == 1 ? -1 : 0, 0);
    CHECK_OK(gph_arena_create(runtime, NULL, &arena, &error), error);
    CHECK_OK(gph_pool_create(arena, NULL, &pool, &error), error);
    CHECK_OK(gph_rng_create(runtime, SEED, &rng, &error), error);
    CHECK_OK(gph_rng_create(runtime, SEED, &twin, &error), error);
    options.pool = pool;
    options.rng = rng;
    arm(allocation, call);
    gph_status status = gph_cache_create(runtime, &options, &cache, &error);
    if (status == GPH_OK)
        status = use(cache);
    else
        disarm();
    CU(StreamSynchronize, stream);
    gph_cache_destroy(cache);
    gph_rng_destroy(twin);
    gph_rng_destroy(rng);
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    /* Where a free itself had no memory, the pool keeps what was to go. */
    const bool is_kept =
        status != GPH_OK && strstr(error.message, "keeping events") != NULL;
    if (!CHECK(stats.allocation_count <= is_kept && stats.recording_count == 0))
        fprintf(stderr, "  allocation %ld, call %ld: %u left, %s\n", allocation, call,
                stats.allocation_count, error.message);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return status;
}

static void no_lines(void *user, gph_log_level level, const char *area,
                     const char *message)
{
    (void)user, (void)level, (void)area, (void)message;
}

static void everything_fails_in_turn(void)
{
    gph_log_set(no_lines, NULL); /* each failure is logged there, too */
    gph_pool *const outer = pool;
    gph_arena *const around = arena;
    const gph_allocator before = runtime->heap;
    runtime->heap = (gph_allocator){fault_realloc, &heap};
    CHECK_OK(do_it_all(-1, -1), error);
    const long live = atomic_load(&heap.live_bytes);
    for (int kind = 0; kind < 2; kind++) {
        long failures = 0;
        for (long nth = 0; nth < 5000 && atomic_load(&test_failures) < 20; nth++) {
            const gph_status status =
                do_it_all(kind == 0 ? nth : -1, kind == 1 ? nth : -1);
            CHECK(status == GPH_OK || kind == 1 || status == GPH_E_NO_MEMORY);
            if (!CHECK(atomic_load(&heap.live_bytes) == live))
                fprintf(stderr, "  %s %ld leaks\n", kind ? "call" : "allocation", nth);
            failures += status != GPH_OK;
            if (status == GPH_OK && nth > 0 && is_beyond)
                break;
        }
        printf("%ld failures\n", failures);
        CHECK(failures > 30);
    }
    runtime->heap = before;
    pool = outer;
    arena = around;
}

int main(void)
{
    if (!set_up())
        return 1;
    real = runtime->cu;
    CHECK_OK(gph_rng_create(runtime, SEED, &rng, &error), error);
    CHECK_OK(gph_rng_create(runtime, SEED, &twin, &error), error);
    RUN(any_mix_of_calls_draws_as_eager_calls);
    RUN(own_executables_and_captures_in_calls_draw_so_too);
    RUN(what_fails_takes_no_numbers);
    gph_rng_destroy(twin);
    gph_rng_destroy(rng);
    RUN(everything_fails_in_turn);
    return tear_down();
}
