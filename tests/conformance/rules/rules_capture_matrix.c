// SPDX-License-Identifier: Apache-2.0
/* Which call may be made while a capture is open: every call of capture_calls.h, by the
 * capturing thread and by another one, in each mode of the capture, on a blocking and on
 * a non-blocking stream, in each mode of the calling thread. A row:
 *
 *     cuMemAlloc same G B 900/901 900/901 0/0+0
 *
 * the call, its thread, the capture's mode (Global, Thread-local, Relaxed), its stream
 * (Blocking, Non-blocking), and for the calling thread's mode G, T, R: what the call
 * returned, what ending the capture returned, and how many nodes the graph has. The row
 * `cuMemAlloc 0` is the call without a capture; there NOT_READY counts as 0, for whether
 * work is done by then is a matter of time.
 *
 * capture_matrix.expected was recorded on an H100: rules_capture_matrix --record FILE
 * (- for the output). */
#include "capture_calls.h"

#include <pthread.h>
#include <unistd.h>

#ifndef CAPTURE_MATRIX
#define CAPTURE_MATRIX "tests/conformance/rules/capture_matrix.expected"
#endif

static const struct call calls[] = {
    {"cuMemAlloc", NULL, mem_alloc, free_memory},
    {"cuMemAllocPitch", NULL, mem_alloc_pitch, free_memory},
    {"cuMemFree", have_memory, mem_free, kept_memory},
    {"cuMemFree(0)", NULL, mem_free_null, NULL},
    {"cuMemAllocHost", NULL, mem_alloc_host, free_host},
    {"cuMemHostAlloc", NULL, mem_host_alloc, free_host},
    {"cuMemFreeHost", have_host, mem_free_host, kept_host},
    {"cuMemHostRegister", NULL, mem_host_register, unregister},
    {"cuMemHostUnregister", have_registered, mem_host_unregister, kept_registered},
    {"cuMemHostGetDevicePointer", NULL, mem_host_pointer, NULL},
    {"cuMemHostGetFlags", NULL, mem_host_flags, NULL},
    {"cuMemAllocManaged", NULL, mem_managed, free_memory},
    {"cuMemAdvise", NULL, mem_advise, NULL},
    {"cuMemRangeGetAttribute", NULL, mem_range, NULL},
    {"cuMemGetInfo", NULL, mem_info, NULL},
    {"cuMemGetAddressRange", NULL, mem_address_range, NULL},
    {"cuPointerGetAttribute", NULL, pointer_get, NULL},
    {"cuPointerSetAttribute", NULL, pointer_set, NULL},
    {"cuArrayCreate", NULL, array_create, destroy_array},
    {"cuArray3DCreate", NULL, array_3d_create, destroy_array},
    {"cuArrayDestroy", have_array, array_destroy, kept_array},
    {"cuArrayGetDescriptor", have_array, array_describe, drop_array},
    {"cuMipmappedArrayCreate", NULL, mipmap_create, destroy_mipmap},
    {"cuTexObjectCreate", have_array, texture_create, drop_texture},
    {"cuMemAddressReserve", NULL, va_reserve, free_range},
    {"cuMemAddressFree", have_range, va_free, kept_range},
    {"cuMemCreate", NULL, va_create, release_handle},
    {"cuMemRelease", have_handle, va_release, kept_handle},
    {"cuMemMap", have_both, va_map, drop_map},
    {"cuMemSetAccess", have_map, va_access, drop_mapped},
    {"cuMemUnmap", have_map, va_unmap, drop_unmapped},
    {"cuMemPoolCreate", NULL, pool_create, destroy_pool},
    {"cuMemPoolDestroy", have_pool, pool_destroy, kept_pool},
    {"cuMemPoolTrimTo", NULL, pool_trim, NULL},
    {"cuMemPoolGetAttribute", NULL, pool_get, NULL},
    {"cuMemPoolSetAttribute", NULL, pool_set, NULL},
    {"cuMemPoolSetAccess", NULL, pool_set_access, NULL},
    {"cuMemPoolGetAccess", NULL, pool_get_access, NULL},
    {"cuDeviceGetMemPool", NULL, device_get_pool, NULL},
    {"cuDeviceGetDefaultMemPool", NULL, device_default_pool, NULL},
    {"cuDeviceSetMemPool", NULL, device_set_pool, NULL},
    {"cuMemAllocAsync(capturing)", NULL, alloc_capturing, NULL},
    {"cuMemAllocAsync(other)", NULL, alloc_other, free_pooled},
    {"cuMemAllocAsync(legacy)", NULL, alloc_legacy, free_pooled},
    {"cuMemAllocFromPoolAsync(capturing)", NULL, alloc_pool_capturing, NULL},
    {"cuMemAllocFromPoolAsync(other)", NULL, alloc_pool_other, free_pooled},
    {"cuMemFreeAsync(capturing)", have_pooled, free_capturing, kept_pooled},
    {"cuMemFreeAsync(other)", have_pooled, free_other, kept_pooled},
    {"cuMemFreeAsync(legacy)", have_pooled, free_legacy, kept_pooled},
    {"cuDeviceGraphMemTrim", NULL, graph_trim, NULL},
    {"cuDeviceGetGraphMemAttribute", NULL, graph_mem_get, NULL},
    {"cuDeviceSetGraphMemAttribute", NULL, graph_mem_set, NULL},
    {"cuModuleLoadData", NULL, module_load, unload},
    {"cuModuleUnload", have_module, module_unload, kept_module},
    {"cuModuleGetFunction", NULL, module_function, NULL},
    {"cuModuleGetGlobal", NULL, module_global, NULL},
    {"cuLibraryLoadData", NULL, library_load, unload_library},
    {"cuLibraryUnload", have_library, library_unload, kept_library},
    {"cuKernelGetFunction", have_library, library_function, drop_library},
    {"cuFuncGetAttribute", NULL, func_get, NULL},
    {"cuFuncSetAttribute", NULL, func_set, NULL},
    {"cuFuncSetCacheConfig", NULL, func_cache, NULL},
    {"cuFuncLoad", NULL, func_load, NULL},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL, occupancy, NULL},
    {"cuCtxSynchronize", NULL, ctx_synchronize, NULL},
    {"cuCtxSetLimit", NULL, ctx_set_limit, NULL},
    {"cuCtxGetLimit", NULL, ctx_get_limit, NULL},
    {"cuCtxSetCacheConfig", NULL, ctx_set_cache, NULL},
    {"cuCtxGetCacheConfig", NULL, ctx_get_cache, NULL},
    {"cuCtxResetPersistingL2Cache", NULL, ctx_reset_l2, NULL},
    {"cuCtxGetStreamPriorityRange", NULL, ctx_priorities, NULL},
    {"cuCtxPushCurrent", NULL, ctx_push_pop, NULL},
    {"cuDevicePrimaryCtxRetain", NULL, primary_retain_release, NULL},
    {"cuCtxRecordEvent", have_event, ctx_record, drop_event},
    {"cuCtxWaitEvent", NULL, ctx_wait, NULL},
    {"cuCtxGetFlags", NULL, ctx_flags, NULL},
    {"cuProfilerStart", NULL, profiler_start, NULL},
    {"cuProfilerStop", NULL, profiler_stop, NULL},
    {"cuStreamCreate", NULL, stream_create, destroy_stream},
    {"cuStreamDestroy", have_stream, stream_destroy, kept_stream},
    {"cuStreamQuery(capturing)", NULL, query_capturing, NULL},
    {"cuStreamQuery(other)", NULL, query_other, NULL},
    {"cuStreamQuery(legacy)", NULL, query_legacy, NULL},
    {"cuStreamSynchronize(capturing)", NULL, sync_capturing, NULL},
    {"cuStreamSynchronize(other)", NULL, sync_other, NULL},
    {"cuStreamSynchronize(legacy)", NULL, sync_legacy, NULL},
    {"cuStreamSynchronize(per-thread)", NULL, sync_per_thread, NULL},
    {"cuStreamWaitEvent(capturing)", NULL, wait_capturing, NULL},
    {"cuStreamWaitEvent(capturing,unrecorded)", NULL, wait_capturing_fresh, NULL},
    {"cuStreamWaitEvent(capturing,external)", NULL, wait_capturing_external, NULL},
    {"cuStreamWaitEvent(other)", NULL, wait_other, NULL},
    {"cuStreamWaitEvent(legacy)", NULL, wait_legacy, NULL},
    {"cuStreamGetFlags", NULL, stream_flags, NULL},
    {"cuStreamGetFlags(other)", NULL, stream_flags_other, NULL},
    {"cuStreamGetFlags(legacy)", NULL, stream_flags_legacy, NULL},
    {"cuStreamGetPriority", NULL, stream_priority, NULL},
    {"cuStreamGetPriority(legacy)", NULL, stream_priority_legacy, NULL},
    {"cuStreamGetDevice", NULL, stream_device, NULL},
    {"cuStreamGetDevice(legacy)", NULL, stream_device_legacy, NULL},
    {"cuStreamGetId", NULL, stream_id, NULL},
    {"cuStreamGetId(legacy)", NULL, stream_id_legacy, NULL},
    {"cuStreamGetCtx", NULL, stream_context, NULL},
    {"cuStreamGetCtx(legacy)", NULL, stream_context_legacy, NULL},
    {"cuStreamGetAttribute", NULL, stream_get_attribute, NULL},
    {"cuStreamGetAttribute(legacy)", NULL, stream_get_attribute_legacy, NULL},
    {"cuStreamSetAttribute", NULL, stream_set_attribute, NULL},
    {"cuStreamCopyAttributes", NULL, stream_copy_attributes, NULL},
    {"cuStreamAttachMemAsync(capturing)", NULL, attach_capturing, NULL},
    {"cuStreamAttachMemAsync(other)", NULL, attach_other, NULL},
    {"cuStreamAttachMemAsync(legacy)", NULL, attach_legacy, NULL},
    {"cuMemPrefetchAsync(capturing)", NULL, prefetch_capturing, NULL},
    {"cuMemPrefetchAsync(other)", NULL, prefetch_other, NULL},
    {"cuMemPrefetchAsync(legacy)", NULL, prefetch_legacy, NULL},
    {"cuStreamAddCallback(capturing)", NULL, callback_capturing, NULL},
    {"cuStreamAddCallback(other)", NULL, callback_other, NULL},
    {"cuStreamAddCallback(legacy)", NULL, callback_legacy, NULL},
    {"cuStreamBeginCapture(capturing)", NULL, begin_capturing, NULL},
    {"cuStreamBeginCapture(legacy)", NULL, begin_legacy, NULL},
    {"cuStreamBeginCapture(other)", NULL, begin_other, NULL},
    {"cuStreamEndCapture(other)", NULL, end_other, NULL},
    {"cuStreamEndCapture(legacy)", NULL, end_legacy, NULL},
    {"cuStreamIsCapturing", NULL, is_capturing, NULL},
    {"cuStreamIsCapturing(legacy)", NULL, is_capturing_legacy, NULL},
    {"cuStreamGetCaptureInfo", NULL, info_capturing, NULL},
    {"cuStreamGetCaptureInfo(legacy)", NULL, info_legacy, NULL},
    {"cuStreamUpdateCaptureDependencies(capturing)", NULL, update_capturing, NULL},
    {"cuStreamUpdateCaptureDependencies(other)", NULL, update_other, NULL},
    {"cuStreamUpdateCaptureDependencies(legacy)", NULL, update_legacy, NULL},
    {"cuStreamWriteValue32(capturing)", NULL, write_capturing, NULL},
    {"cuStreamWriteValue32(other)", NULL, write_other, NULL},
    {"cuStreamWriteValue32(legacy)", NULL, write_legacy, NULL},
    {"cuStreamBatchMemOp(capturing)", NULL, batch_capturing, NULL},
    {"cuStreamWaitValue32(capturing)", NULL, wait_value_capturing, NULL},
    {"cuEventCreate", NULL, event_create, destroy_event},
    {"cuEventDestroy", have_event, event_destroy, kept_event},
    {"cuEventQuery", NULL, event_query, NULL},
    {"cuEventQuery(unrecorded)", NULL, event_query_fresh, NULL},
    {"cuEventQuery(captured)", have_event, event_query_captured, drop_event},
    {"cuEventSynchronize", NULL, event_synchronize, NULL},
    {"cuEventSynchronize(captured)", have_event, event_synchronize_captured, drop_event},
    {"cuEventElapsedTime", NULL, event_elapsed, NULL},
    {"cuEventElapsedTime(captured)", have_event, event_elapsed_captured, drop_event},
    {"cuEventRecord(capturing)", have_event, record_capturing, drop_event},
    {"cuEventRecord(capturing,external)", have_event, record_external, drop_event},
    {"cuEventRecord(other)", have_event, record_other, drop_event},
    {"cuEventRecord(legacy)", have_event, record_legacy, drop_event},
    {"cuLaunchKernel(capturing)", NULL, launch_capturing, NULL},
    {"cuLaunchKernel(capturing,wrong)", NULL, launch_bad, NULL},
    {"cuLaunchKernel(other)", NULL, launch_other, NULL},
    {"cuLaunchKernel(legacy)", NULL, launch_legacy, NULL},
    {"cuLaunchKernel(per-thread)", NULL, launch_per_thread, NULL},
    {"cuLaunchCooperativeKernel(capturing)", NULL, launch_cooperative, NULL},
    {"cuLaunchHostFunc(capturing)", NULL, host_capturing, NULL},
    {"cuLaunchHostFunc(other)", NULL, host_other, NULL},
    {"cuLaunchHostFunc(legacy)", NULL, host_legacy, NULL},
    {"cuMemcpyDtoDAsync(capturing)", NULL, copy_capturing, NULL},
    {"cuMemcpyDtoDAsync(capturing,wrong)", NULL, copy_bad, NULL},
    {"cuMemcpyDtoDAsync(other)", NULL, copy_other, NULL},
    {"cuMemcpyDtoDAsync(legacy)", NULL, copy_legacy, NULL},
    {"cuMemcpyHtoDAsync(capturing,pageable)", NULL, copy_pageable_in, NULL},
    {"cuMemcpyDtoHAsync(capturing,pageable)", NULL, copy_pageable_out, NULL},
    {"cuMemcpyDtoHAsync(other,pageable)", NULL, copy_pageable_other, NULL},
    {"cuMemcpyDtoH", NULL, copy_to_host, NULL},
    {"cuMemcpyHtoD", NULL, copy_to_device, NULL},
    {"cuMemcpyDtoD", NULL, copy_in_device, NULL},
    {"cuMemcpy", NULL, copy_any, NULL},
    {"cuMemcpy2D", NULL, copy_2d, NULL},
    {"cuMemcpyPeer", NULL, copy_peer, NULL},
    {"cuMemcpyPeerAsync(capturing)", NULL, copy_peer_capturing, NULL},
    {"cuMemcpyPeerAsync(other)", NULL, copy_peer_other, NULL},
    {"cuMemcpyBatchAsync(capturing)", NULL, copy_batch_capturing, NULL},
    {"cuMemcpyBatchAsync(other)", NULL, copy_batch_other, NULL},
    {"cuMemcpyBatchAsync(legacy)", NULL, copy_batch_legacy, NULL},
    {"cuMemcpy3DBatchAsync(capturing)", NULL, copy_3d_batch_capturing, NULL},
    {"cuMemcpy3DBatchAsync(other)", NULL, copy_3d_batch_other, NULL},
    {"cuMemDiscardBatchAsync(capturing)", NULL, discard_capturing, NULL},
    {"cuMemPrefetchBatchAsync(capturing)", NULL, prefetch_batch_capturing, NULL},
    {"cuMemsetD32", NULL, fill, NULL},
    {"cuMemsetD32Async(capturing)", NULL, fill_capturing, NULL},
    {"cuMemsetD32Async(capturing,wrong)", NULL, fill_bad, NULL},
    {"cuMemsetD32Async(other)", NULL, fill_other, NULL},
    {"cuMemsetD32Async(legacy)", NULL, fill_legacy, NULL},
    {"cuGraphCreate", NULL, graph_create, destroy_graph},
    {"cuGraphDestroy", have_graph, graph_destroy, kept_graph},
    {"cuGraphClone", NULL, graph_clone, destroy_graph},
    {"cuGraphAddEmptyNode", have_graph, graph_add, drop_graph},
    {"cuGraphAddMemAllocNode", have_graph, graph_add_alloc, drop_graph},
    {"cuGraphGetNodes", NULL, graph_nodes, NULL},
    {"cuGraphDebugDotPrint", NULL, graph_dot, NULL},
    {"cuGraphInstantiate", NULL, graph_instantiate, destroy_exec},
    {"cuGraphInstantiateWithParams", NULL, graph_instantiate_with, destroy_exec},
    {"cuGraphExecDestroy", have_exec, exec_destroy, kept_exec},
    {"cuGraphExecUpdate", NULL, exec_update, NULL},
    {"cuGraphExecGetFlags", NULL, exec_flags, NULL},
    {"cuGraphUpload(capturing)", NULL, exec_upload_capturing, NULL},
    {"cuGraphUpload(other)", NULL, exec_upload_other, NULL},
    {"cuGraphUpload(legacy)", NULL, exec_upload_legacy, NULL},
    {"cuGraphLaunch(capturing)", NULL, exec_launch_capturing, NULL},
    {"cuGraphLaunch(other)", NULL, exec_launch_other, NULL},
    {"cuGraphLaunch(legacy)", NULL, exec_launch_legacy, NULL},
    {"cuUserObjectCreate", NULL, object_create, release_object},
    {"cuUserObjectRelease", have_object, object_release, kept_object},
};
#define CALL_COUNT (sizeof(calls) / sizeof(*calls))

/* ---- a cell ---- */

struct cell {
    const struct call *call;
    bool elsewhere;
    CUstreamCaptureMode mode, own; /* the capture's, the calling thread's */
    CUresult result, end;
    size_t nodes;
};

static void make_call(struct cell *cell)
{
    CUstreamCaptureMode mode = cell->own;
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    cell->result = cell->call->run();
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
}

static void *from_elsewhere(void *cell)
{
    OK(cu.cuCtxSetCurrent(b.context));
    make_call(cell);
    return NULL;
}

static void run_cell(struct cell *cell)
{
    CUgraph graph = NULL;
    if (cell->call->before)
        cell->call->before();
    OK(cu.cuStreamBeginCapture(b.capturing, cell->mode));
    if (cell->elsewhere) {
        pthread_t thread;
        if (!CHECK(pthread_create(&thread, NULL, from_elsewhere, cell) == 0))
            exit(1);
        pthread_join(thread, NULL);
    } else {
        make_call(cell);
    }
    cell->end = cu.cuStreamEndCapture(b.capturing, &graph);
    cell->nodes = 0;
    if (graph) {
        OK(cu.cuGraphGetNodes(graph, NULL, &cell->nodes));
        OK(cu.cuGraphDestroy(graph));
    }
    if (cell->call->after)
        cell->call->after(cell->result);
    OK(cu.cuCtxSynchronize());
}

static void set_up(void)
{
    const CUmemAllocationProp prop = physical();
    const CUmemPoolProps props = pooled();
    CUgraphNode node;
    OK(cu.cuCtxGetCurrent(&b.context));
    OK(cu.cuStreamCreate(&b.other, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&b.recorded, 0));
    OK(cu.cuEventCreate(&b.later, 0));
    OK(cu.cuEventCreate(&b.fresh, 0));
    OK(cu.cuMemAlloc(&b.at, 4096));
    OK(cu.cuMemsetD8(b.at, 0, 4096));
    OK(cu.cuMemAllocHost(&b.pinned, 4096));
    OK(cu.cuMemAllocManaged(&b.managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    OK(cu.cuModuleLoadData(&b.module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&b.nothing, b.module, "nothing"));
    OK(cu.cuMemPoolCreate(&b.pool, &props));
    OK(cu.cuDeviceGetDefaultMemPool(&b.default_pool, 0));
    OK(cu.cuMemGetAllocationGranularity(&b.granularity, &prop,
                                        CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cu.cuGraphCreate(&b.graph, 0));
    snprintf(b.dot_path, sizeof(b.dot_path), "/tmp/gph-matrix-XXXXXX");
    const int file = mkstemp(b.dot_path);
    CHECK(file >= 0);
    close(file);
    OK(cu.cuGraphAddEmptyNode(&node, b.graph, NULL, 0));
    OK(cu.cuGraphInstantiateWithFlags(&b.exec, b.graph, 0));
    OK(cu.cuEventRecord(b.recorded, b.other));
    OK(cu.cuEventRecord(b.later, b.other));
    OK(cu.cuCtxSynchronize());
}

static void tear_down(void)
{
    unlink(b.dot_path);
    OK(cu.cuGraphExecDestroy(b.exec));
    OK(cu.cuGraphDestroy(b.graph));
    OK(cu.cuMemPoolDestroy(b.pool));
    OK(cu.cuModuleUnload(b.module));
    OK(cu.cuMemFree(b.managed));
    OK(cu.cuMemFreeHost(b.pinned));
    OK(cu.cuMemFree(b.at));
    OK(cu.cuEventDestroy(b.recorded));
    OK(cu.cuEventDestroy(b.later));
    OK(cu.cuEventDestroy(b.fresh));
    OK(cu.cuStreamDestroy(b.other));
}

/* ---- rows ---- */

#define ROW_BYTES 160

/* Takes a row; `built` is false where softcuda does not have the call at all. */
typedef void take_row(const char *row, bool built, void *user);

static size_t write_cell(char *row, size_t at, const struct cell *cell)
{
    const int n = cell->end == CUDA_SUCCESS
                      ? snprintf(row + at, ROW_BYTES - at, " %d/0+%zu", (int)cell->result,
                                 cell->nodes)
                      : snprintf(row + at, ROW_BYTES - at, " %d/%d", (int)cell->result,
                                 (int)cell->end);
    return at + (size_t)n;
}

static void write_rows(const struct call *call, bool built, take_row *take, void *user)
{
    for (unsigned i = 0; i < 12; i++) {
        const unsigned mode = i / 2 % 3;
        char row[ROW_BYTES];
        size_t at = (size_t)snprintf(row, sizeof(row), "%s %s %c %c", call->name,
                                     i >= 6 ? "other" : "same", "GTR"[mode], "BN"[i % 2]);
        if (!built) {
            take(row, built, user);
            continue;
        }
        OK(cu.cuStreamCreate(&b.capturing, i % 2 ? CU_STREAM_NON_BLOCKING : 0));
        for (unsigned own = 0; own < 3; own++) {
            struct cell cell = {.call = call,
                                .elsewhere = i >= 6,
                                .mode = (CUstreamCaptureMode)mode,
                                .own = (CUstreamCaptureMode)own};
            run_cell(&cell);
            at = write_cell(row, at, &cell);
        }
        OK(cu.cuStreamDestroy(b.capturing));
        take(row, built, user);
    }
}

static void write_matrix(take_row *take, void *user)
{
    for (size_t i = 0; i < CALL_COUNT; i++) {
        const struct call *call = &calls[i];
        char row[ROW_BYTES];
        OK(cu.cuStreamCreate(&b.capturing, CU_STREAM_NON_BLOCKING));
        if (call->before)
            call->before();
        const CUresult result = call->run();
        if (call->after)
            call->after(result);
        /* Two calls change what their stream is in. */
        CUgraph graph = NULL;
        if (cu.cuStreamEndCapture(b.capturing, &graph) == CUDA_SUCCESS)
            OK(cu.cuGraphDestroy(graph));
        OK(cu.cuStreamDestroy(b.capturing));
        OK(cu.cuCtxSynchronize());
        snprintf(row, sizeof(row), "%s %d", call->name,
                 result == CUDA_ERROR_NOT_READY ? 0 : (int)result);
        const bool built = !driver_is_soft || result != CUDA_ERROR_NOT_SUPPORTED;
        take(row, built, user);
        write_rows(call, built, take, user);
    }
}

static void print_row(const char *row, bool built, void *file)
{
    (void)built;
    fprintf(file, "%s\n", row);
}

/* ---- comparison ---- */

#define ROWS_MAX 4096

struct expected {
    char (*rows)[ROW_BYTES];
    unsigned count, compared, not_built, not_recorded;
};

static bool read_table(struct expected *out)
{
    FILE *file = fopen(CAPTURE_MATRIX, "r");
    if (file == NULL)
        return false;
    out->rows = calloc(ROWS_MAX, ROW_BYTES);
    if (!CHECK(out->rows != NULL))
        exit(1);
    while (out->count < ROWS_MAX && fgets(out->rows[out->count], ROW_BYTES, file)) {
        char *row = out->rows[out->count];
        row[strcspn(row, "\n")] = '\0';
        out->count += row[0] != '#';
    }
    fclose(file);
    return true;
}

/* Bytes of a row up to its answers: a call, or a call with its cell. */
static size_t key_bytes(const char *row)
{
    size_t words = 0, at = 0;
    for (const char *c = row; *c != '\0'; c++)
        words += *c == ' ';
    const size_t wanted = words == 1 ? 1 : 4;
    for (size_t seen = 0; row[at] != '\0' && seen < wanted; at++)
        seen += row[at] == ' ';
    return at;
}

static const char *find_row(const struct expected *expected, const char *row)
{
    const size_t bytes = key_bytes(row);
    for (unsigned i = 0; i < expected->count; i++)
        if (strncmp(expected->rows[i], row, bytes) == 0 &&
            key_bytes(expected->rows[i]) == bytes)
            return expected->rows[i];
    return NULL;
}

static void compare_row(const char *row, bool built, void *user)
{
    struct expected *expected = user;
    if (!built) {
        expected->not_built++;
        return;
    }
    const char *want = find_row(expected, row);
    if (want == NULL) {
        expected->not_recorded++;
        return;
    }
    expected->compared++;
    if (!CHECK(strcmp(row, want) == 0))
        fprintf(stderr, "  is       %s\n  expected %s\n", row, want);
}

static void calls_during_captures(void)
{
    struct expected expected = {0};
    if (!read_table(&expected))
        SKIP("no table was recorded");
    set_up();
    write_matrix(compare_row, &expected);
    tear_down();
    free(expected.rows);
    CHECK(expected.compared > 0);
    printf(
        "# %u rows compared, %u of calls that softcuda does not have, %u not recorded\n",
        expected.compared, expected.not_built, expected.not_recorded);
}

static int record(const char *path)
{
    DEVICE_OR_SKIP();
    int version = 0;
    char name[128] = "";
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    OK(cu.cuDriverGetVersion(&version));
    OK(cu.cuDeviceGetName(name, sizeof(name), 0));
    fprintf(file, "# driver %d.%d on %s\n", version / 1000, version % 1000 / 10, name);
    use_primary();
    set_up();
    write_matrix(print_row, file);
    tear_down();
    return fclose(file) != 0 || atomic_load(&test_failures) != 0;
}

static void run(void)
{
    RULE_TEST(M_C01_matrix, calls_during_captures);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--record") == 0)
        return record(argv[2]);
    return rule_main(argc, argv, run);
}
