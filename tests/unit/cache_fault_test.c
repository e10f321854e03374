// SPDX-License-Identifier: Apache-2.0
/* Every allocation of the library and every driver call fails in turn, in everything a
 * cache does. Afterwards nothing is leaked, no stream is captured, and it all works. */
#define FIXTURE_WITHOUT_SET_UP
#include "cache_fixture.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "shim.h"

#include <gph/cache_figures.h>

static fault_heap heap = {.fail_at = -1};
static uint32_t warmup; /* of the cache */
static uint32_t layers; /* of the model: enough, and keys share a patch */

/* Calls that are made to fail: not those that undo, which a caller cannot help. */
static const struct shim_rule rules[] = {
    SHIM_CALL(cuGraphInstantiateWithParams),
    SHIM_CALL(cuGraphExecUpdate),
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuGraphGetNodes),
    SHIM_CALL(cuGraphNodeGetType),
    SHIM_CALL(cuGraphKernelNodeGetParams),
    SHIM_CALL(cuGraphGetEdges),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_CALL(cuStreamIsCapturing),
    SHIM_CALL(cuStreamBeginCapture),
    SHIM_CALL(cuStreamEndCapture),
    SHIM_CALL(cuMemsetD8Async),
    SHIM_CALL(cuMemsetD32Async),
    SHIM_CALL(cuMemcpyAsync),
    SHIM_CALL(cuMemcpyDtoDAsync),
    SHIM_CALL(cuMemCreate),
    SHIM_CALL(cuMemMap),
    SHIM_CALL(cuMemSetAccess),
    SHIM_CALL(cuMemGetInfo),
    SHIM_CALL(cuEventRecord),
    SHIM_CALL(cuStreamWaitEvent),
    SHIM_END,
};

/* A pool of its own, so that what it keeps is given back at the end. */
static gph_status use_figures(gph_cache *cache)
{
    static char text[4096];
    gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    gph_cache_trace trace = GPH_SIZED(gph_cache_trace);
    gph_cache_forecast forecast = GPH_SIZED(gph_cache_forecast);
    gph_plan_buffer buffers[16];
    model m = {0};
    gph_cache_options options = model_options(&m);
    gph_cache_stats_get(cache, &stats);
    gph_buffer to = {text, sizeof(text), 0};
    gph_status status = gph_cache_write(cache, gph_write_buffer, &to, &error);
    if (status == GPH_OK)
        status = gph_cache_key_get(cache, 2, &info, &error);
    if (status == GPH_OK)
        status = gph_cache_trace_get(cache, 2, buffers, 16, &trace, &error);
    const gph_allocator own = {fault_realloc, &heap};
    if (status == GPH_OK)
        status = gph_cache_forecast_make(&options, &trace, 1, &own, &forecast, &error);
    return status;
}

static gph_status use_calls(gph_cache *cache)
{
    static const int64_t sizes[] = {4, 3, 9, 2};
    gph_status status = GPH_OK;
    for (int i = 0; i < 4 && status == GPH_OK; i++) {
        gph_cache_call_args args = GPH_CACHE_CALL_INIT;
        gph_tensor outputs[2] = {{.data = i == 1 ? device_y : 0}};
        status = call_model(cache, sizes[i], &args, outputs);
    }
    for (int i = 0; i < 66 && status == GPH_OK; i++)
        status = gph_cache_replay(cache, 2, stream, &error);
    return status;
}

static gph_status use_cache(gph_cache *cache)
{
    gph_cache_work_kind kind = GPH_CACHE_WORK_NONE;
    gph_status status = gph_cache_start(cache, stream, NULL, 0, NULL, NULL, &error);
    if (status == GPH_OK)
        status = use_calls(cache);
    if (status == GPH_OK) /* its own for 4 tokens */
        status = gph_cache_work(cache, stream, &kind, NULL, &error);
    if (status == GPH_OK)
        status = use_figures(cache);
    if (status == GPH_OK)
        status = gph_cache_evict(cache, 1, &error);
    if (status == GPH_OK)
        status = use_calls(cache); /* misses it */
    if (status == GPH_OK)
        status = gph_cache_work(cache, stream, &kind, NULL, &error);
    CHECK(status != GPH_OK || kind == GPH_CACHE_WORK_CAPTURE);
    return status;
}

static gph_status do_it_all(void)
{
    model m = {.layers = layers, .other_at = 2};
    gph_cache *cache = NULL;
    pool = NULL;
    arena = NULL;
    gph_status status = gph_arena_create(runtime, NULL, &arena, &error);
    if (status == GPH_OK)
        status = gph_pool_create(arena, NULL, &pool, &error);
    gph_cache_options options = model_options(&m);
    const gph_cache_axis axis = {
        .name = "tokens", .ladder = GPH_LADDER_POWERS, .last = 8};
    options.axes = &axis;
    options.warmup = warmup;
    if (status == GPH_OK)
        status = gph_cache_create(runtime, &options, &cache, &error);
    CHECK((cache != NULL) == (status == GPH_OK));
    if (status == GPH_OK)
        status = use_cache(cache);
    shim_over(&runtime->cu, rules, false); /* what follows undoes */
    CU(StreamSynchronize, stream);
    int capturing = -1;
    CU(StreamIsCapturing, stream, &capturing);
    CHECK(capturing == 0);
    end_cache(cache);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return status;
}

static void every_allocation_fails_in_turn(void)
{
    CHECK_OK(do_it_all(), error);
    const long live = atomic_load(&heap.live_bytes);
    long failures = 0;
    for (long nth = 0; nth < 20000 && atomic_load(&test_failures) < 20; nth++) {
        atomic_store(&heap.fail_at, nth);
        const gph_status status = do_it_all();
        const bool is_over = atomic_load(&heap.fail_at) >= 0;
        atomic_store(&heap.fail_at, -1);
        if (!CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY))
            fprintf(stderr, "  allocation %ld: %s\n", nth, error.message);
        if (!CHECK(atomic_load(&heap.live_bytes) == live))
            fprintf(stderr, "  allocation %ld leaks\n", nth);
        failures += status != GPH_OK;
        if (is_over) {
            CHECK(status == GPH_OK);
            break;
        }
    }
    printf("%ld failures\n", failures);
    CHECK(failures > 50);
}

static void every_driver_call_fails_in_turn(void)
{
    const long live = atomic_load(&heap.live_bytes);
    static const CUresult codes[] = {CUDA_ERROR_UNKNOWN, CUDA_ERROR_OUT_OF_MEMORY};
    for (int c = 0; c < (layers > 0 ? 1 : 2); c++) {
        long failures = 0;
        shim.code = codes[c];
        for (long nth = 0; nth < 20000 && atomic_load(&test_failures) < 20; nth++) {
            shim.fail_at = nth;
            shim_over(&runtime->cu, rules, true);
            const gph_status status = do_it_all();
            if (!CHECK(status == GPH_OK || status == (gph_status)codes[c]))
                fprintf(stderr, "  call %ld: %s: %s\n", nth, gph_status_name(status),
                        error.message);
            if (!CHECK(atomic_load(&heap.live_bytes) == live))
                fprintf(stderr, "  call %ld leaks\n", nth);
            failures += status != GPH_OK;
            if (shim.fail_at >= 0) {
                CHECK(status == GPH_OK);
                break;
            }
        }
        printf("%ld failures\n", failures);
        CHECK(failures > 50);
    }
    shim.fail_at = -1;
    CHECK_OK(do_it_all(), error);
}

static bool set_up_faults(void)
{
    const gph_allocator own = {fault_realloc, &heap};
    runtime_open(GPH_DRIVER_SOFT, &own); /* a GPU's calls are too slow for so many */
    return use_runtime();
}

static void no_lines(void *user, gph_log_level level, const char *area,
                     const char *message)
{
    (void)user, (void)level, (void)area, (void)message;
}

int main(void)
{
    if (!set_up_faults())
        return 1;
    gph_pool_release(pool); /* each round has its own */
    gph_arena_destroy(arena);
    gph_log_set(no_lines, NULL); /* each failure is logged there, too */
    RUN(every_allocation_fails_in_turn);
    RUN(every_driver_call_fails_in_turn);
    warmup = GPH_CACHE_WARM_LARGEST;
    RUN(every_allocation_fails_in_turn);
    RUN(every_driver_call_fails_in_turn);
    warmup = GPH_CACHE_WARM_KERNELS;
    RUN(every_allocation_fails_in_turn);
    layers = 8; /* allocations of a patch: cache_patch_fault_test */
    RUN(every_driver_call_fails_in_turn);
    gph_close(runtime);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    return test_done();
}
