// SPDX-License-Identifier: Apache-2.0
/* Captures with everything in them, on softcuda, while each call of the driver and each
 * allocation fails in turn: stream, forked streams, graphs, events and memory come back.
 *
 *   libgph ── shim (counts what it gave out, fails the n-th call) ── softcuda */
#include "base/fail.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "shim.h"
#include "test.h"
#include <gph/replay.h>

static struct {
    atomic_int graphs, execs, events;
} live;

static const struct shim_rule rules[] = {
    SHIM_CALL(cuStreamIsCapturing),
    SHIM_CALL(cuStreamBeginCapture),
    SHIM_CALL(cuStreamGetCaptureInfo),
    SHIM_CALL(cuStreamUpdateCaptureDependencies),
    SHIM_CALL(cuStreamGetCtx),
    SHIM_CALL(cuCtxPushCurrent),
    SHIM_CALL(cuEventRecord),
    SHIM_CALL(cuStreamWaitEvent),
    SHIM_CALL(cuGraphGetNodes),
    SHIM_CALL(cuGraphGetEdges),
    SHIM_CALL(cuGraphNodeGetType),
    SHIM_CALL(cuGraphMemsetNodeGetParams),
    SHIM_CALL(cuGraphLaunch),
    SHIM_GIVE(cuStreamEndCapture, live.graphs, 1),
    SHIM_GIVE(cuGraphDestroy, live.graphs, -1),
    SHIM_GIVE(cuEventCreate, live.events, 1),
    SHIM_GIVE(cuEventDestroy, live.events, -1),
    SHIM_GIVE(cuGraphInstantiateWithParams, live.execs, 1),
    SHIM_GIVE(cuGraphExecDestroy, live.execs, -1),
    SHIM_END,
};

static CUstream stream, side, third;
static CUdeviceptr words;
static int released;
static gph_pool *pool; /* of the capture, or NULL */

static void release(void *user)
{
    (void)user;
    released++;
}

static gph_status on_break(void *user, const gph_break *call, gph_error *error)
{
    gph_runtime *runtime = user;
    if (call->is_replay)
        return GPH_OK;
    return gph_cuda_check(gph_cuda(runtime)->MemsetD32Async(words, 1, 1, call->stream),
                          "cuMemsetD32Async", error);
}

static gph_status fill(gph_runtime *runtime, CUstream where, gph_error *error)
{
    return gph_cuda_check(gph_cuda(runtime)->MemsetD32Async(words, 1, 1, where),
                          "cuMemsetD32Async", error);
}

/* A temporary of the pool and an output. */
static gph_status use_pool(gph_capture *capture, gph_error *error)
{
    CUdeviceptr temporary = 0, out = 0;
    if (pool == NULL)
        return GPH_OK;
    GPHI_TRY(gph_pool_alloc(pool, 4096, stream, &temporary, error));
    GPHI_TRY(gph_pool_alloc(pool, 4096, side, &out, error));
    GPHI_TRY(gph_pool_free(pool, temporary, stream, error));
    return gph_capture_output(capture, out, error);
}

/* Both segments; `third` is forgotten in each. */
static gph_status record(gph_runtime *runtime, gph_capture *capture, gph_error *error)
{
    GPHI_TRY(gph_region_push(capture, "layer.1", error));
    GPHI_TRY(fill(runtime, stream, error));
    GPHI_TRY(gph_capture_fork(capture, side, error));
    GPHI_TRY(gph_capture_fork(capture, third, error));
    GPHI_TRY(fill(runtime, side, error));
    GPHI_TRY(fill(runtime, third, error));
    GPHI_TRY(gph_region_push(capture, "attn", error));
    GPHI_TRY(gph_capture_join(capture, side, error));
    GPHI_TRY(use_pool(capture, error));
    GPHI_TRY(fill(runtime, stream, error));
    GPHI_TRY(gph_region_pop(capture, error));
    GPHI_TRY(gph_capture_hold(capture, release, NULL, error));
    GPHI_TRY(gph_capture_break(capture, on_break, runtime, error));
    GPHI_TRY(gph_capture_fork(capture, third, error));
    GPHI_TRY(fill(runtime, third, error));
    return fill(runtime, stream, error);
}

static gph_status use(gph_recording *recording, gph_error *error)
{
    gph_graph *data = NULL;
    gph_replay *replay = NULL;
    gph_status status = gph_recording_describe(recording, 0, &data, error);
    if (status == GPH_OK)
        status = gph_replay_create(recording, NULL, &replay, error);
    if (status == GPH_OK)
        status = gph_replay_launch(replay, stream, error);
    const char *failed = atomic_load(&shim.failed);
    if (replay != NULL && status != GPH_OK && strcmp(failed, "cuGraphLaunch") == 0)
        CHECK(strstr(error->message, "segment ") == error->message &&
              strstr(error->message, " of 2: launching ") != NULL);
    gph_replay_destroy(replay);
    gph_graph_destroy(data);
    return status;
}

static gph_status do_it_all(gph_runtime *runtime, uint32_t join, uint32_t flags)
{
    const CUstream streams[] = {side, third};
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    options.join = join;
    options.flags = flags;
    options.streams = streams;
    options.stream_count = 2;
    options.pool = pool;
    gph_error error = {0};
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    gph_status status = gph_capture_begin(runtime, stream, &options, &capture, &error);
    CHECK((status == GPH_OK) == (capture != NULL));
    if (status == GPH_OK) {
        status = record(runtime, capture, &error);
        if (status == GPH_OK)
            status = gph_capture_finish(capture, &recording, &error);
        else
            CHECK(gph_capture_abort(capture, NULL) == GPH_OK);
    }
    if (status == GPH_OK)
        status = use(recording, &error);
    CHECK(error.code == status);
    CHECK((status == GPH_OK) == (error.message[0] == '\0'));
    gph_recording_destroy(recording);
    return status;
}

static bool is_free(CUstream which)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return below.cuStreamIsCapturing(which, &status) == CUDA_SUCCESS &&
           status == CU_STREAM_CAPTURE_STATUS_NONE;
}

static void check_nothing_is_left(long nth)
{
    const bool fine = CHECK(is_free(stream) && is_free(side) && is_free(third)) &&
                      CHECK(live.graphs == 0 && live.execs == 0) &&
                      CHECK(live.events == 0) && CHECK(gphi_capture_open_count() == 0);
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    if (pool != NULL)
        gph_pool_stats_get(pool, &stats);
    CHECK(stats.allocation_count == 0 && stats.recording_count == 0);
    CHECK(pool == NULL || stats.users == 1);
    if (!fine)
        fprintf(stderr, "  failure %ld\n", nth);
}

/* A runtime with a pool. */
static gph_runtime *open_with_pool(const gph_allocator *allocator, gph_arena **arena)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = UINT64_C(1) << 26;
    CHECK_OK(gphi_runtime_create(allocator, &shim_source, &runtime, &error), error);
    CHECK_OK(gph_arena_create(runtime, &options, arena, &error), error);
    CHECK_OK(gph_pool_create(*arena, NULL, &pool, &error), error);
    return runtime;
}

static void close_with_pool(gph_runtime *runtime, gph_arena *arena)
{
    gph_pool_release(pool);
    pool = NULL;
    gph_arena_destroy(arena);
    gph_close(runtime);
}

/* The number of failures until nothing failed. */
static long sweep_calls(uint32_t join, uint32_t flags, gph_status expected)
{
    gph_arena *arena = NULL;
    gph_runtime *runtime = open_with_pool(NULL, &arena);
    for (long nth = 0; nth < 2000; nth++) {
        released = 0;
        shim.fail_at = nth;
        const gph_status status = do_it_all(runtime, join, flags);
        const bool is_done = shim.fail_at >= 0;
        shim.fail_at = -1;
        CHECK(released <= 1);
        check_nothing_is_left(nth);
        if (is_done) {
            CHECK(status == expected && released == 1);
            close_with_pool(runtime, arena);
            return nth;
        }
        /* A name that could not be found out is not a failure. */
        CHECK(status == CUDA_ERROR_UNKNOWN || status == expected ||
              status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED ||
              status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        if (nth % 8 == 0) /* and all of it works again */
            CHECK(do_it_all(runtime, GPH_JOIN_AUTO, flags) == GPH_OK);
    }
    close_with_pool(runtime, arena);
    return -1;
}

static void survives_every_failed_driver_call(void)
{
    CHECK(sweep_calls(GPH_JOIN_AUTO, 0, GPH_OK) > 30);
    CHECK(sweep_calls(GPH_JOIN_AUTO, GPH_CAPTURE_RUN, GPH_OK) > 30);
    CHECK(sweep_calls(GPH_JOIN_NAME, 0, CUDA_ERROR_STREAM_CAPTURE_UNJOINED) > 20);
    CHECK(sweep_calls(GPH_JOIN_ERROR, 0, CUDA_ERROR_STREAM_CAPTURE_UNJOINED) > 20);
}

static void survives_every_failed_allocation(void)
{
    int failures = 0;
    for (int join = GPH_JOIN_ERROR; join <= GPH_JOIN_NAME; join++)
        for (long nth = 0; nth < 2000; nth++) {
            fault_heap heap = {.fail_at = -1};
            const gph_allocator allocator = {fault_realloc, &heap};
            gph_arena *arena = NULL;
            gph_runtime *runtime = open_with_pool(&allocator, &arena);
            released = 0;
            atomic_store(&heap.fail_at, nth);
            const gph_status status = do_it_all(runtime, (uint32_t)join, GPH_CAPTURE_RUN);
            const bool is_done = atomic_load(&heap.fail_at) >= 0;
            const gph_status expected =
                join == GPH_JOIN_AUTO ? GPH_OK : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
            /* A pool may go on without memory, and find less to use again. */
            CHECK(status == GPH_E_NO_MEMORY || status == expected);
            failures += status == GPH_E_NO_MEMORY;
            atomic_store(&heap.fail_at, -1);
            check_nothing_is_left(nth);
            close_with_pool(runtime, arena);
            CHECK(atomic_load(&heap.live_bytes) == 0);
            if (!is_done)
                continue;
            CHECK(released == 1 && status == expected);
            break;
        }
    CHECK(failures > 30);
}

static void an_abort_gives_streams_back_whatever_fails(void)
{
    gph_arena *arena = NULL;
    gph_runtime *runtime = open_with_pool(NULL, &arena);
    gph_error error = {0};
    for (long nth = 0; nth < 100; nth++) {
        gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
        gph_capture *capture = NULL;
        options.pool = pool;
        CHECK_OK(gph_capture_begin(runtime, stream, &options, &capture, &error), error);
        CHECK_OK(gph_capture_fork(capture, side, &error), error);
        CHECK_OK(use_pool(capture, &error), error);
        CHECK_OK(fill(runtime, side, &error), error);
        shim.fail_at = nth;
        CHECK(gph_capture_abort(capture, &error) == GPH_OK);
        const bool is_done = shim.fail_at >= 0;
        shim.fail_at = -1;
        check_nothing_is_left(nth);
        if (is_done)
            break;
    }
    close_with_pool(runtime, arena);
}

int main(void)
{
    if (!shim_open(GPH_DRIVER_SOFT, rules))
        return 77;
    CUcontext context = NULL;
    const bool is_up =
        below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
        below.cuCtxSetCurrent(context) == 0 && below.cuStreamCreate(&stream, 1) == 0 &&
        below.cuStreamCreate(&side, 1) == 0 && below.cuStreamCreate(&third, 1) == 0 &&
        below.cuMemAlloc(&words, 64) == 0;
    if (!CHECK(is_up))
        return 1;
    RUN(survives_every_failed_driver_call);
    RUN(survives_every_failed_allocation);
    RUN(an_abort_gives_streams_back_whatever_fails);
    shim_close();
    return test_done();
}
