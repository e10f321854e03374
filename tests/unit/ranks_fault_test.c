// SPDX-License-Identifier: Apache-2.0
/* A group of one rank and its communicator, on softcuda, while each allocation and each call
 * of the driver fails in turn: nothing stays behind.
 *
 *   libgph ── shim (counts what it gave out, fails the n-th call) ── softcuda */
#include "base/fail.h"
#include "cuda/runtime.h"
#include "fault.h"
#include "shim.h"
#include "test.h"
#include <gph/callable.h>
#include <gph/ranks_comm.h>

#include <stdio.h>
#include <unistd.h>

enum { COUNT = 100 };

static struct {
    atomic_int memory, host, modules;
} live;

/* Without cuStreamQuery, which is called as often as the machine is slow. */
static const struct shim_rule rules[] = {
    SHIM_GIVE(cuMemAlloc, live.memory, 1),
    SHIM_GIVE(cuMemFree, live.memory, -1),
    SHIM_GIVE(cuMemHostAlloc, live.host, 1),
    SHIM_GIVE(cuMemFreeHost, live.host, -1),
    SHIM_GIVE(cuModuleLoadData, live.modules, 1),
    SHIM_GIVE(cuModuleUnload, live.modules, -1),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuMemsetD8),
    SHIM_CALL(cuStreamSynchronize),
    SHIM_CALL(cuStreamGetCaptureInfo),
    SHIM_CALL(cuMemHostGetDevicePointer),
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuDeviceGetUuid),
    SHIM_CALL(cuUserObjectCreate),
    SHIM_CALL(cuGraphRetainUserObject),
    SHIM_CALL(cuLaunchKernel),
    SHIM_CALL(cuIpcGetMemHandle),
    SHIM_END,
};

static CUstream stream;
static CUdeviceptr words;
static fault_heap heap = {.fail_at = -1}, group_heap = {.fail_at = -1};

#define OK(call) CHECK((call) == 0)

/* ---- what is done ---- */

static gph_status sum(gph_comm *comm, gph_error *error)
{
    return gph_comm_all_reduce(comm, words, words, COUNT, GPH_DTYPE_F32, GPH_COMM_SUM,
                               stream, error);
}

/* Two sums in a graph of the driver's own, which is compared and launched. */
static gph_status captured(gph_ranks *ranks, gph_runtime *runtime, gph_comm *comm,
                           gph_error *error)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    OK(below.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    gph_status status = sum(comm, error);
    GPHI_THEN(status, sum(comm, error));
    OK(below.cuStreamEndCapture(stream, &graph));
    GPHI_THEN(status, gph_comm_graph_agree(comm, graph, error));
    OK(below.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(below.cuGraphDestroy(graph));
    if (status == GPH_OK) {
        OK(below.cuGraphLaunch(exec, stream));
        status = gph_ranks_wait(ranks, runtime, stream, error);
    }
    OK(below.cuStreamSynchronize(stream));
    OK(below.cuGraphExecDestroy(exec));
    return status;
}

static gph_status with_comm(gph_ranks *ranks, gph_runtime *runtime, gph_error *error)
{
    gph_comm_options options = GPH_COMM_OPTIONS_INIT;
    gph_comm *comm = NULL;
    options.way = GPH_COMM_OWN;
    options.own_bytes = 4096;
    options.name = "faulty";
    gph_status status = gph_comm_create(ranks, runtime, &options, &comm, error);
    CHECK((status == GPH_OK) == (comm != NULL));
    GPHI_THEN(status, sum(comm, error));
    GPHI_THEN(status, gph_ranks_wait(ranks, runtime, stream, error));
    GPHI_THEN(status, captured(ranks, runtime, comm, error));
    OK(below.cuStreamSynchronize(stream)); /* eager work ends before its memory goes */
    gph_comm_destroy(comm);
    return status;
}

static gph_status work(gph_runtime *runtime, gph_error *error)
{
    static unsigned number;
    const gph_allocator allocator = {fault_realloc, &group_heap};
    gph_ranks_options options = GPH_RANKS_OPTIONS_INIT;
    gph_ranks *ranks = NULL;
    char name[64];
    snprintf(name, sizeof(name), "fault %ld %u", (long)getpid(), number++);
    options.count = 1;
    options.name = name;
    options.allocator = &allocator;
    gph_status status = gph_ranks_open(&options, &ranks, error);
    CHECK((status == GPH_OK) == (ranks != NULL));
    GPHI_THEN(status, with_comm(ranks, runtime, error));
    gph_ranks_close(ranks);
    return status;
}

/* ---- sweeps ---- */

static void check_clean(void)
{
    CHECK(live.memory == 0);
    CHECK(live.host == 0);
    CHECK(live.modules == 0);
    CHECK(group_heap.live_bytes == 0);
    CHECK(heap.live_bytes == 0);
}

static atomic_long *fail_at;

/* One run whose nth call of that kind fails; false: there are not so many. */
static bool run_with(long nth, gph_status *status, gph_error *error)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_runtime *runtime = NULL;
    *error = (gph_error){0};
    if (!CHECK_OK(gphi_runtime_create(&allocator, &shim_source, &runtime, error), *error))
        return false;
    atomic_store(fail_at, nth);
    *status = work(runtime, error);
    const bool has_failed = atomic_exchange(fail_at, -1) < 0;
    gph_close(runtime);
    check_clean();
    return has_failed;
}

/* Each error says something; each that is met comes out, unless it was an excuse. */
static void sweep(const char *what, atomic_long *which, gph_status code)
{
    gph_status status = GPH_OK;
    gph_error error;
    long nth = 0;
    fail_at = which;
    while (nth < 2000 && run_with(nth, &status, &error)) {
        if (!CHECK(status == code && error.code == code && error.message[0]))
            fprintf(stderr, "  %s %ld (%s): %d %s\n", what, nth,
                    shim.failed ? shim.failed : "", (int)status, error.message);
        nth++;
    }
    CHECK_OK(status, error); /* the last run met none */
    CHECK(nth > 1 && nth < 2000);
    printf("# %s: %ld\n", what, nth);
}

static bool open_all(void)
{
    CUcontext context = NULL;
    if (!shim_open(GPH_DRIVER_SOFT, rules))
        return false;
    OK(below.cuInit(0));
    OK(below.cuDevicePrimaryCtxRetain(&context, 0));
    OK(below.cuCtxSetCurrent(context));
    OK(below.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(below.cuMemAlloc(&words, 4 * COUNT));
    OK(below.cuMemsetD8(words, 0, 4 * COUNT));
    OK(below.cuCtxSynchronize());
    return true;
}

static void allocations_fail_in_turn(void)
{
    if (!stream && !open_all())
        SKIP("no softcuda");
    sweep("allocations of the runtime", &heap.fail_at, GPH_E_NO_MEMORY);
    sweep("allocations of the group", &group_heap.fail_at, GPH_E_NO_MEMORY);
}

static void calls_of_the_driver_fail_in_turn(void)
{
    if (!stream && !open_all())
        SKIP("no softcuda");
    shim.code = CUDA_ERROR_UNKNOWN;
    sweep("calls of the driver", &shim.fail_at, (gph_status)CUDA_ERROR_UNKNOWN);
}

int main(void)
{
    RUN(allocations_fail_in_turn);
    RUN(calls_of_the_driver_fail_in_turn);
    return test_done();
}
