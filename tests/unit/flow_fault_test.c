// SPDX-License-Identifier: Apache-2.0
/* Captured control flow, on softcuda, while each call of the driver and each allocation
 * fails in turn: stream, graphs, modules and memory come back.
 *
 *   libgph ── shim (knows whose each graph is, fails the n-th call) ── softcuda */
#include "base/fail.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "shim.h"
#include "test.h"
#include <gph/memory.h>
#include <gph/replay_flow.h>

static struct {
    atomic_int graphs, execs, modules;
} live;

static const struct shim_rule rules[] = {
    SHIM_CALL(cuStreamIsCapturing),
    SHIM_CALL(cuStreamBeginCaptureToGraph),
    SHIM_CALL(cuStreamGetCaptureInfo),
    SHIM_CALL(cuStreamUpdateCaptureDependencies),
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuCtxGetId),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuFuncLoad),
    SHIM_CALL(cuGraphConditionalHandleCreate),
    SHIM_CALL(cuGraphAddNode),
    SHIM_CALL(cuGraphGetNodes),
    SHIM_CALL(cuGraphGetEdges),
    SHIM_CALL(cuGraphNodeGetType),
    SHIM_CALL(cuGraphMemsetNodeGetParams),
    SHIM_CALL(cuLaunchKernel),
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuMemcpyDtoHAsync),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_GIVE(cuStreamBeginCapture, live.graphs, 1),
    SHIM_GIVE(cuGraphDestroy, live.graphs, -1),
    SHIM_GIVE(cuModuleLoadData, live.modules, 1),
    SHIM_GIVE(cuModuleUnload, live.modules, -1),
    SHIM_GIVE(cuGraphInstantiateWithParams, live.execs, 1),
    SHIM_GIVE(cuGraphExecDestroy, live.execs, -1),
    SHIM_END,
};

static CUstream stream;
static CUdeviceptr words;

/* A capture that failed takes its graph along, but for a body's. */
static CUresult shim_cuStreamEndCapture(CUstream which, CUgraph *out)
{
    if (shim_fails("cuStreamEndCapture"))
        return CUDA_ERROR_UNKNOWN;
    return below.cuStreamEndCapture(which, out);
}

static bool find_own(const char *name, int version, gph_cuda_fn *out)
{
    (void)version;
    if (strcmp(name, "cuStreamEndCapture") == 0)
        *out = (gph_cuda_fn)shim_cuStreamEndCapture;
    return *out != NULL;
}

static gph_status fill(gph_runtime *runtime, CUdeviceptr at, unsigned value,
                       gph_error *error)
{
    return gph_cuda_check(gph_cuda(runtime)->MemsetD32Async(at, value, 1, stream),
                          "cuMemsetD32Async", error);
}

/* A temporary of the body that is open. */
static gph_status pass(gph_pool *pool, gph_error *error)
{
    CUdeviceptr at = 0;
    GPHI_TRY(gph_pool_alloc(pool, 4096, stream, &at, error));
    return gph_pool_free(pool, at, stream, error);
}

/* if (w0 < w1) { while (w2) { w2 = 0 } } else { w3 = 5 }  switch (w3) { ... case 2: }
 * and an IF in line, of nothing */
static gph_status record(gph_runtime *runtime, gph_capture *capture, gph_pool *pool,
                         gph_error *error)
{
    gph_condition less = GPH_CONDITION_INIT, word = GPH_CONDITION_INIT;
    less.kind = GPH_CONDITION_COMPARE;
    less.relation = GPH_LESS;
    less.left = words;
    less.right = words + 4;
    word.left = words + 8;
    GPHI_TRY(fill(runtime, words + 16, 1, error));
    GPHI_TRY(gph_region_push(capture, "outer", error));
    GPHI_TRY(gph_capture_if(capture, &less, 2, error));
    GPHI_TRY(gph_region_push(capture, "inner", error));
    GPHI_TRY(gph_capture_while(capture, &word, error));
    GPHI_TRY(fill(runtime, words + 8, 0, error));
    GPHI_TRY(pass(pool, error));
    GPHI_TRY(gph_capture_flow_end(capture, error));
    GPHI_TRY(gph_region_pop(capture, error));
    GPHI_TRY(gph_capture_else(capture, error));
    GPHI_TRY(pass(pool, error));
    GPHI_TRY(fill(runtime, words + 12, 5, error));
    GPHI_TRY(gph_capture_flow_end(capture, error));
    GPHI_TRY(gph_region_pop(capture, error));
    word.left = words + 12;
    GPHI_TRY(gph_capture_switch(capture, &word, 3, error));
    GPHI_TRY(gph_capture_case(capture, 2, error));
    GPHI_TRY(fill(runtime, words + 8, 7, error));
    GPHI_TRY(gph_capture_flow_end(capture, error));
    less.flags = words + 32;
    GPHI_TRY(gph_capture_if(capture, &less, 2, error));
    GPHI_TRY(gph_capture_else(capture, error));
    return gph_capture_flow_end(capture, error);
}

static gph_status use(gph_recording *recording, gph_error *error)
{
    gph_graph *data = NULL;
    gph_replay *replay = NULL;
    gph_status status = gph_recording_describe(recording, 0, &data, error);
    GPHI_THEN(status, gph_replay_create(recording, NULL, &replay, error));
    GPHI_THEN(status, gph_replay_launch(replay, stream, error));
    gph_replay_destroy(replay);
    gph_graph_destroy(data);
    return status;
}

static gph_status capture_and_use(gph_runtime *runtime, gph_pool *pool, gph_error *error)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    options.join = GPH_JOIN_AUTO;
    options.pool = pool;
    gph_status status = gph_capture_begin(runtime, stream, &options, &capture, error);
    if (status == GPH_OK) {
        status = record(runtime, capture, pool, error);
        if (status == GPH_OK)
            status = gph_capture_finish(capture, &recording, error);
        else
            CHECK(gph_capture_abort(capture, NULL) == GPH_OK);
    }
    GPHI_THEN(status, use(recording, error));
    gph_recording_destroy(recording);
    gph_pool_stats_get(pool, &stats);
    CHECK(stats.allocated_bytes == 0 && stats.recording_count == 0);
    CHECK(status != GPH_OK || stats.peak_bytes == 4096); /* both bodies have the same */
    return status;
}

static gph_status do_it_all(gph_runtime *runtime)
{
    gph_error error = {0};
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    gph_status status = gph_arena_create(runtime, NULL, &arena, &error);
    GPHI_THEN(status, gph_pool_create(arena, NULL, &pool, &error));
    GPHI_THEN(status, capture_and_use(runtime, pool, &error));
    CHECK(error.code == status);
    CHECK((status == GPH_OK) == (error.message[0] == '\0'));
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return status;
}

static void check_nothing_is_left(long nth, int modules)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CHECK(below.cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(below.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS);
    if (!CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE) ||
        !CHECK(live.graphs == 0 && live.execs == 0 && live.modules <= modules) ||
        !CHECK(gphi_capture_open_count() == 0))
        fprintf(stderr, "  failure %ld of %s: %d graphs, %d executables, %d modules\n",
                nth, atomic_load(&shim.failed), live.graphs, live.execs, live.modules);
    live.graphs = live.execs = live.modules = 0;
}

static gph_runtime *open_with(const gph_allocator *allocator)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_runtime_create(allocator, &shim_source, &runtime, &error), error);
    return runtime;
}

static void survives_every_failed_driver_call(void)
{
    gph_runtime *runtime = open_with(NULL);
    bool is_done = false;
    long nth = 0;
    for (; nth < 2000 && !is_done; nth++) {
        shim.fail_at = nth;
        const gph_status status = do_it_all(runtime);
        is_done = shim.fail_at >= 0;
        shim.fail_at = -1;
        CHECK(is_done ? status == GPH_OK : true);
        /* A module stays where nobody could say that its context is there. */
        check_nothing_is_left(nth, is_done ? 0 : 1);
        if (nth % 8 == 0) {
            CHECK(do_it_all(runtime) == GPH_OK);
            check_nothing_is_left(nth, 0);
        }
    }
    int version = 0; /* before 12.3 the host chooses: fewer calls */
    CHECK(below.cuDriverGetVersion(&version) == CUDA_SUCCESS);
    CHECK(is_done && nth > (version < 12030 ? 60 : 120));
    gph_close(runtime);
}

static void survives_every_failed_allocation(void)
{
    int failures = 0;
    bool is_done = false;
    for (long nth = 0; nth < 2000 && !is_done; nth++) {
        fault_heap heap = {.fail_at = -1};
        const gph_allocator allocator = {fault_realloc, &heap};
        gph_runtime *runtime = open_with(&allocator);
        atomic_store(&heap.fail_at, nth);
        const gph_status status = do_it_all(runtime);
        is_done = atomic_load(&heap.fail_at) >= 0;
        /* A pool that cannot note which frees come before a stream shares less. */
        CHECK(status == GPH_OK || (status == GPH_E_NO_MEMORY && !is_done));
        failures += status != GPH_OK;
        atomic_store(&heap.fail_at, -1);
        check_nothing_is_left(nth, 0);
        gph_close(runtime);
        CHECK(atomic_load(&heap.live_bytes) == 0);
    }
    CHECK(failures > 60);
}

int main(void)
{
    if (!shim_open(GPH_DRIVER_SOFT, rules))
        return 77;
    shim.special = find_own;
    CUcontext context = NULL;
    if (!CHECK(below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
               below.cuCtxSetCurrent(context) == 0 &&
               below.cuStreamCreate(&stream, 1) == 0 &&
               below.cuMemAlloc(&words, 64) == 0 &&
               below.cuMemsetD32Async(words, 0, 16, stream) == 0))
        return 1;
    RUN(survives_every_failed_driver_call);
    RUN(survives_every_failed_allocation);
    shim_close();
    return test_done();
}
