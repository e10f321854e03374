// SPDX-License-Identifier: Apache-2.0
/* Dispatch while each call of the driver and each allocation fails in turn: nothing leaks,
 * and no request that was taken is lost.
 *
 *   libgph ── shim (fails the n-th call) ── the driver */
#define _GNU_SOURCE
#include "dispatch_world.h"
#include "fault.h"
#include "shim.h"

static fault_heap heap = {.fail_at = -1};
static gph_runtime *shimmed;
static atomic_int memory, pinned, execs, modules, streams, graphs; /* that live */

static const struct shim_rule rules[] = {
    SHIM_GIVE(cuMemAlloc, memory, 1),
    SHIM_GIVE(cuMemFree, memory, -1),
    SHIM_GIVE(cuMemHostAlloc, pinned, 1),
    SHIM_GIVE(cuMemFreeHost, pinned, -1),
    SHIM_GIVE(cuGraphInstantiateWithParams, execs, 1),
    SHIM_GIVE(cuGraphExecDestroy, execs, -1),
    SHIM_GIVE(cuModuleLoadData, modules, 1),
    SHIM_GIVE(cuModuleUnload, modules, -1),
    SHIM_GIVE(cuStreamCreate, streams, 1),
    SHIM_GIVE(cuStreamDestroy, streams, -1),
    SHIM_GIVE(cuGraphCreate, graphs, 1),
    SHIM_GIVE(cuGraphDestroy, graphs, -1),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuFuncLoad),
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuMemHostGetDevicePointer),
    SHIM_CALL(cuMemcpyHtoD),
    SHIM_CALL(cuGraphAddKernelNode),
    SHIM_CALL(cuGraphLaunch),
    SHIM_END,
};

static void count_all(int out[6])
{
    const int now[] = {memory, pinned, execs, modules, streams, graphs};
    memcpy(out, now, sizeof(now));
}

static gph_status open_dispatch(gph_dispatch **out, gph_error *error)
{
    gph_dispatch_options options = GPH_DISPATCH_OPTIONS_INIT;
    options.idle_us = 300;
    gph_status status = gph_dispatch_create(shimmed, &options, out, error);
    for (uint32_t i = 0; i < 2 && status == GPH_OK; i++) {
        CUgraph graph = graph_for(*out, "add");
        status = gph_dispatch_add(*out, i, graph, error);
        OK(below.cuGraphDestroy(graph));
    }
    if (status == GPH_OK)
        status = gph_dispatch_start(*out, error);
    return status;
}

/* Requests that were taken, by number, are served, also where a launch failed. */
static gph_status serve(gph_dispatch *dispatch, gph_error *error)
{
    const uint64_t words[] = {world.at[AT_DEVICE], 1};
    gph_dispatch_stats stats = GPH_SIZED(gph_dispatch_stats);
    gph_status status = GPH_OK;
    OK(below.cuMemsetD32(world.at[AT_DEVICE], 0, 1));
    OK(below.cuCtxSynchronize());
    for (uint32_t i = 0; i < 6; i++) {
        const gph_status sent =
            gph_dispatch_send(dispatch, i % 2, words, sizeof(words), NULL, error);
        status = status == GPH_OK ? sent : status;
        if (i == 2)
            OK(below.cuCtxSynchronize()); /* it falls asleep */
    }
    shim.fail_at = -1;
    CHECK_OK(gph_dispatch_wait(dispatch, 0, &world.error), world.error);
    gph_dispatch_stats_get(dispatch, &stats);
    CHECK(stats.sent == stats.done && stats.done == 6);
    CHECK(word_at(world.at[AT_DEVICE]) == 6);
    return status;
}

static gph_status do_all(gph_error *error)
{
    gph_dispatch *dispatch = NULL;
    gph_status status = open_dispatch(&dispatch, error);
    if (status == GPH_OK)
        status = serve(dispatch, error);
    shim.fail_at = -1;
    const long left = atomic_exchange(&heap.fail_at, -1);
    gph_dispatch_destroy(dispatch);
    atomic_store(&heap.fail_at, left);
    return status;
}

static long sweep(bool of_heap)
{
    for (long nth = 0; nth < 1000; nth++) {
        gph_error error = {0};
        int before[6], after[6];
        const long live = atomic_load(&heap.live_bytes), calls = atomic_load(&shim.calls);
        count_all(before);
        atomic_store(&heap.fail_at, of_heap ? nth : -1);
        shim.fail_at = of_heap ? -1 : nth;
        const gph_status status = do_all(&error);
        const bool done = of_heap ? atomic_load(&heap.fail_at) >= 0
                                  : atomic_load(&shim.calls) - calls <= nth;
        atomic_store(&heap.fail_at, -1);
        count_all(after);
        const gph_status wanted =
            of_heap ? GPH_E_NO_MEMORY : (gph_status)CUDA_ERROR_UNKNOWN;
        /* How often it sleeps, and so is launched, is not the same each time. */
        CHECK(status == GPH_OK || (status == wanted && !done));
        if (!CHECK(memcmp(before, after, sizeof(before)) == 0 &&
                   atomic_load(&heap.live_bytes) == live))
            fprintf(stderr, "  failure %ld (%s) leaks\n", nth,
                    of_heap ? "allocation" : shim.failed);
        if (done)
            return nth;
    }
    return -1;
}

static void survives_every_failed_driver_call(void)
{
    CHECK(sweep(false) > 20);
}

static void survives_every_failed_allocation(void)
{
    CHECK(sweep(true) > 5);
}

int main(void)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    const int skipped = world_open();
    if (skipped)
        return skipped;
    dispatch_open();
    gph_driver_info_get(world.runtime, &info);
    if (!CHECK(shim_open(info.driver, rules)) ||
        !CHECK_OK(gphi_runtime_create(&allocator, &shim_source, &shimmed, &world.error),
                  world.error))
        return 1;
    RUN(survives_every_failed_driver_call);
    RUN(survives_every_failed_allocation);
    return test_done();
}
