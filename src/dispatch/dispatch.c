// SPDX-License-Identifier: Apache-2.0
/* Making a dispatch, and its graphs. */
#include "dispatch/dispatch.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"

#include <string.h>

enum { CAPACITY = 256, CAPACITY_MAX = 65536, IDLE_US = 1000 };

/* A wait of the device for requests is at most so long in one round: the time that a place
 * of the device, or a worker of softcuda, is occupied without a break. */
enum { SPIN_NS = 20000 };

/* The device's memory: its words, the table of graphs, a block each. */
enum {
    ENTRIES_AT = 64,
    BLOCKS_AT = ENTRIES_AT + DISPATCH_ENTRIES * sizeof(dispatch_entry),
    MEMORY_BYTES = BLOCKS_AT + DISPATCH_ENTRIES * GPH_DISPATCH_BYTES
};
_Static_assert(sizeof(dispatch_device) <= ENTRIES_AT, "the device's words");
_Static_assert(DISPATCH_WORDS * 8 == (int)GPH_DISPATCH_BYTES,
               "the arguments of a request");
_Static_assert((int)DISPATCH_ENTRIES == (int)GPH_DISPATCH_GRAPHS, "the limit of graphs");
_Static_assert(sizeof(dispatch_request) == 64, "a request is a line");

enum { ROUND, START };
static const gphi_kernel_text dispatch_text = {
    .what = "the kernels of dispatch",
    .ptx = gphi_dispatch_ptx,
    .names = {[ROUND] = "gph_dispatch_round", [START] = "gph_dispatch_start"}};

gph_status gphi_dispatch_check(const gph_dispatch *dispatch, CUresult result,
                               const char *call, gph_error *error)
{
    return gphi_cuda_check(error, result, call, "dispatch %s", dispatch->name);
}

/* ---- making ---- */

static gph_status read_options(const gph_dispatch_options *options,
                               gph_dispatch_options *out, gph_error *error)
{
    GPHI_TRY(
        gphi_options_read(out, sizeof(*out), "gph_dispatch_options", options, error));
    out->capacity = out->capacity == 0 ? CAPACITY : out->capacity;
    out->idle_us = out->idle_us == 0 ? IDLE_US : out->idle_us;
    if (out->order > GPH_DISPATCH_IN_ORDER)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.order %u is not a gph_dispatch_order", out->order);
    if ((out->capacity & (out->capacity - 1)) != 0 || out->capacity > CAPACITY_MAX)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.capacity %u is not a power of two up to %d",
                         out->capacity, CAPACITY_MAX);
    return GPH_OK;
}

/* The words of both sides, and the queue, which the device reads where it lies. */
static gph_status take_pinned(gph_dispatch *dispatch, CUdeviceptr *there,
                              gph_error *error)
{
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    const size_t bytes =
        sizeof(*dispatch->host) + dispatch->options.capacity * sizeof(dispatch_request);
    void *host = NULL;
    GPHI_TRY(gphi_dispatch_check(
        dispatch,
        cu->cuMemHostAlloc(&host, bytes,
                           CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc", error));
    memset(host, 0, bytes);
    dispatch->host = host;
    dispatch->queue = (dispatch_request *)(dispatch->host + 1);
    return gphi_dispatch_check(dispatch, cu->cuMemHostGetDevicePointer(there, host, 0),
                               "cuMemHostGetDevicePointer", error);
}

static gph_status take_memory(gph_dispatch *dispatch, gph_error *error)
{
    static const char zeros[MEMORY_BYTES];
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    CUdeviceptr there = 0;
    GPHI_TRY(take_pinned(dispatch, &there, error));
    GPHI_TRY(gphi_dispatch_check(
        dispatch, cu->cuMemAlloc(&dispatch->memory, MEMORY_BYTES), "cuMemAlloc", error));
    GPHI_TRY(gphi_dispatch_check(
        dispatch, gphi_put_words(cu, dispatch->memory, zeros, sizeof(zeros)),
        "cuMemcpyHtoD", error));
    const bool in_order = dispatch->options.order == GPH_DISPATCH_IN_ORDER;
    dispatch->plan = (dispatch_plan){
        .here = (dispatch_device *)(uintptr_t)dispatch->memory,
        .host = (dispatch_host *)(uintptr_t)there,
        .queue = (dispatch_request *)(uintptr_t)(there + sizeof(dispatch_host)),
        .entries = (const dispatch_entry *)(uintptr_t)(dispatch->memory + ENTRIES_AT),
        .idle = UINT64_C(1000) * dispatch->options.idle_us,
        .spin = SPIN_NS,
        .where = UINT64_C(0x0100000000000000) << !in_order, /* tail, or forget */
        .mask = dispatch->options.capacity - 1};
    return GPH_OK;
}

/* What fails leaves what destroy_now() takes apart as far as it came. The stream is the
 * resident graph's alone: whatever else stood in it would wait until that sleeps. */
static gph_status fill(gph_dispatch *dispatch, gph_error *error)
{
    gph_runtime *runtime = dispatch->runtime;
    const char *name = dispatch->options.name ? dispatch->options.name : "dispatch";
    dispatch->name = gphi_heap_text(runtime->heap, name);
    GPHI_TRY(gphi_made(error, dispatch->name, "making a dispatch"));
    GPHI_TRY(take_memory(dispatch, error));
    GPHI_TRY(gphi_dispatch_check(
        dispatch, runtime->cu.cuStreamCreate(&dispatch->stream, CU_STREAM_NON_BLOCKING),
        "cuStreamCreate", error));
    return gphi_kernels_retain(runtime, &dispatch_text, &dispatch->kernels, error);
}

/* Run when no capture is open: freeing memory would invalidate one. */
static void destroy_now(void *user)
{
    gph_dispatch *dispatch = user;
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    if (dispatch->stream)
        GPHI_THEN(result, cu->cuStreamDestroy(dispatch->stream));
    if (dispatch->memory)
        GPHI_THEN(result, cu->cuMemFree(dispatch->memory));
    if (dispatch->host)
        GPHI_THEN(result, cu->cuMemFreeHost(dispatch->host));
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS)
        gphi_log("dispatch", GPH_LOG_ERROR, "memory of dispatch %s stays: %s",
                 dispatch->name, gph_status_name((gph_status)result));
    gphi_kernels_release(dispatch->kernels);
    gphi_heap_text_free(dispatch->runtime->heap, dispatch->name);
    gphi_heap_free(dispatch->runtime->heap, dispatch, sizeof(*dispatch));
}

void gph_dispatch_destroy(gph_dispatch *dispatch)
{
    if (!dispatch)
        return;
    if (dispatch->start)
        gphi_ignore(gph_dispatch_stop(dispatch, NULL),
                    "after an error of the device nothing runs any more");
    gph_exec_destroy(dispatch->start);
    gph_exec_destroy(dispatch->resident);
    for (uint32_t i = 0; i < dispatch->count; i++)
        gph_exec_destroy(dispatch->execs[i]);
    gphi_defer(&dispatch->end, destroy_now, dispatch); /* after them */
}

gph_status gph_dispatch_create(gph_runtime *runtime, const gph_dispatch_options *options,
                               gph_dispatch **out, gph_error *error)
{
    gph_dispatch_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    GPHI_TRY(gphi_need(error, runtime, out));
    gph_dispatch *dispatch = gphi_heap_alloc(runtime->heap, sizeof(*dispatch));
    GPHI_TRY(gphi_made(error, dispatch, "making a dispatch"));
    dispatch->runtime = runtime;
    dispatch->options = opt;
    dispatch->mutex = (gphi_mutex)GPHI_MUTEX_INIT;
    const CUstreamCaptureMode mode = gphi_relax(&runtime->cu);
    const gph_status status = fill(dispatch, error);
    gphi_unrelax(&runtime->cu, mode);
    if (status != GPH_OK) {
        gph_dispatch_destroy(dispatch);
        return status;
    }
    *out = dispatch;
    return GPH_OK;
}

/* ---- graphs ---- */

static CUdeviceptr block_at(const gph_dispatch *dispatch, uint32_t index)
{
    return dispatch->memory + BLOCKS_AT + (CUdeviceptr)index * GPH_DISPATCH_BYTES;
}

CUdeviceptr gph_dispatch_block(const gph_dispatch *dispatch)
{
    return dispatch && dispatch->count < DISPATCH_ENTRIES
               ? block_at(dispatch, dispatch->count)
               : 0;
}

gph_status gph_dispatch_add(gph_dispatch *dispatch, uint32_t kind, CUgraph graph,
                            gph_error *error)
{
    GPHI_TRY(gphi_need(error, dispatch, graph));
    if (dispatch->start)
        return gphi_fail(error, GPH_E_STATE,
                         "dispatch %s was started: graphs are added before",
                         dispatch->name);
    if (dispatch->count == DISPATCH_ENTRIES)
        return gphi_fail(error, GPH_E_STATE, "dispatch %s has %d graphs, which is all",
                         dispatch->name, DISPATCH_ENTRIES);
    const gph_exec_options options = {.size = sizeof(options),
                                      .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
                                      .upload_stream = dispatch->stream};
    GPHI_TRY(gph_exec_create(dispatch->runtime, graph, &options,
                             &dispatch->execs[dispatch->count], error));
    dispatch->kinds[dispatch->count++] = kind;
    return GPH_OK;
}

/* A graph of one kernel. */
static gph_status make_exec(gph_dispatch *dispatch, int kernel, uint32_t flags,
                            void **arguments, gph_exec **out, gph_error *error)
{
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    const CUDA_KERNEL_NODE_PARAMS params = {.func = dispatch->kernels->functions[kernel],
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    const gph_exec_options options = {
        .size = sizeof(options), .flags = flags, .upload_stream = dispatch->stream};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    GPHI_TRY(gphi_dispatch_check(dispatch, cu->cuGraphCreate(&graph, 0), "cuGraphCreate",
                                 error));
    gph_status status = gphi_dispatch_check(
        dispatch, cu->cuGraphAddKernelNode(&node, graph, NULL, 0, &params),
        "cuGraphAddKernelNode", error);
    GPHI_THEN(status, gph_exec_create(dispatch->runtime, graph, &options, out, error));
    gphi_ignore((gph_status)cu->cuGraphDestroy(graph), "the executable has all it needs");
    return status;
}

/* The table goes to the device now: graphs are not added any more. */
static gph_status make_resident(gph_dispatch *dispatch, gph_exec **resident,
                                gph_exec **start, gph_error *error)
{
    const gphi_cuda_table *cu = &dispatch->runtime->cu;
    dispatch_entry entries[DISPATCH_ENTRIES] = {{0}};
    dispatch_plan plan = dispatch->plan;
    void *arguments[2] = {&plan, NULL};
    for (uint32_t i = 0; i < dispatch->count; i++)
        entries[i] = (dispatch_entry){
            .exec = (uintptr_t)gph_exec_handle(dispatch->execs[i]),
            .block = (unsigned long long *)(uintptr_t)block_at(dispatch, i),
            .kind = dispatch->kinds[i]};
    plan.count = dispatch->count;
    GPHI_TRY(gphi_dispatch_check(
        dispatch,
        gphi_put_words(cu, dispatch->memory + ENTRIES_AT, entries, sizeof(entries)),
        "cuMemcpyHtoD", error));
    GPHI_TRY(make_exec(dispatch, ROUND, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
                       arguments, resident, error));
    CUgraphExec handle = gph_exec_handle(*resident);
    arguments[1] = &handle;
    const gph_status status = make_exec(dispatch, START, 0, arguments, start, error);
    if (status != GPH_OK)
        gph_exec_destroy(*resident);
    return status;
}

gph_status gph_dispatch_start(gph_dispatch *dispatch, gph_error *error)
{
    gph_exec *resident = NULL, *start = NULL;
    GPHI_TRY(gphi_need(error, dispatch));
    if (dispatch->start || dispatch->count == 0)
        return gphi_fail(error, GPH_E_STATE, "dispatch %s %s", dispatch->name,
                         dispatch->start ? "was started before" : "has no graph");
    const CUstreamCaptureMode mode = gphi_relax(&dispatch->runtime->cu);
    gph_status status = make_resident(dispatch, &resident, &start, error);
    gphi_unrelax(&dispatch->runtime->cu, mode);
    if (status == GPH_OK) {
        dispatch->resident = resident;
        dispatch->start = start;
    }
    return status;
}
