// SPDX-License-Identifier: Apache-2.0
/* R39, R94-R100 and what was measured beside them: what captures forbid, what can be
 * asked of them and set. */
#include "capture_bench.h"

/* ---- R94: the legacy stream ---- */

static CUresult put_legacy(void)
{
    return put(CU_STREAM_LEGACY, 0, 9);
}

static void the_legacy_stream_beside_blocking_captures(void)
{
    static const CUstreamCaptureMode modes[] = {GLOBAL, THREAD_LOCAL, RELAXED};
    for (int i = 0; i < 3; i++) {
        OK(begin(s.blocking, modes[i]));
        REFUSED(STREAM_CAPTURE_IMPLICIT, put(CU_STREAM_LEGACY, 0, 9));
        end_fails(s.blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        OK(begin(s.blocking, modes[i]));
        CHECK(elsewhere(put_legacy) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        end_fails(s.blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    OK(begin(s.blocking, RELAXED)); /* synchronous calls use it, too */
    REFUSED(STREAM_CAPTURE_IMPLICIT, cu.cuMemcpyDtoD(s.at, s.at + 32, 4));
    end_fails(s.blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(word(0) == 0);
}

static void asking_about_the_legacy_stream_does_no_harm(void)
{
    CUstreamCaptureStatus out;
    OK(begin(s.blocking, RELAXED));
    CHECK(status(CU_STREAM_LEGACY) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    REFUSED(STREAM_CAPTURE_IMPLICIT,
            cu.cuStreamGetCaptureInfo(NULL, &out, NULL, NULL, NULL, NULL, NULL));
    OK(put(s.blocking, 0, 1));
    end_with(s.blocking, 1);
}

static void legacy_work_escapes_other_captures(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(CU_STREAM_LEGACY, 0, 3));
    end_with(s.a, 0);
    OK(cu.cuStreamSynchronize(CU_STREAM_LEGACY));
    CHECK(word(0) == 3);
    OK(begin(s.a, RELAXED)); /* until a blocking stream joins */
    fork_b();
    OK(cu.cuStreamWaitEvent(s.blocking, s.fork, 0));
    REFUSED(STREAM_CAPTURE_IMPLICIT, put(CU_STREAM_LEGACY, 0, 4));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void the_legacy_stream_joins_no_capture(void)
{
    OK(begin(s.a, RELAXED));
    OK(cu.cuEventRecord(s.fork, s.a));
    REFUSED(STREAM_CAPTURE_IMPLICIT, cu.cuStreamWaitEvent(CU_STREAM_LEGACY, s.fork, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* ---- R95, R96: unsafe calls ---- */

static void unsafe_calls_go_by_mode_and_thread(void)
{
    static const struct {
        CUstreamCaptureMode mode;
        bool same, other; /* refused */
    } rows[] = {
        {GLOBAL, true, true}, {THREAD_LOCAL, true, false}, {RELAXED, false, false}};
    for (int i = 0; i < 3; i++) {
        OK(begin(s.a, rows[i].mode));
        CHECK(elsewhere(allocate) ==
              (rows[i].other ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS));
        if (rows[i].other)
            end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        else
            end_with(s.a, 0);
        OK(begin(s.a, rows[i].mode));
        CHECK(allocate() ==
              (rows[i].same ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS));
        if (rows[i].same)
            end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        else
            end_with(s.a, 0);
    }
}

static void an_unsafe_call_ends_the_captures_that_forbid_it(void)
{
    OK(begin(s.a, GLOBAL));
    OK(begin(s.b, GLOBAL));
    OK(begin(s.c, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, allocate());
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_fails(s.b, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_with(s.c, 0);
    OK(begin(s.a, GLOBAL));
    OK(begin(s.b, THREAD_LOCAL));
    CHECK(elsewhere(allocate) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_with(s.b, 0);
}

static void threads_exchange_their_modes(void)
{
    CUstreamCaptureMode mode = RELAXED;
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == GLOBAL); /* the default */
    OK(begin(s.a, GLOBAL));
    OK(allocate());
    CHECK(elsewhere(allocate) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    mode = (CUstreamCaptureMode)9; /* taken, and as strict as global */
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == RELAXED);
    OK(begin(s.a, GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, allocate());
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    mode = GLOBAL;
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == (CUstreamCaptureMode)9);
    if (driver_is_soft) /* the real driver crashes */
        REFUSED(INVALID_VALUE, cu.cuThreadExchangeStreamCaptureMode(NULL));
}

/* ---- R97, C12, C13: what an error does ---- */

static void callback(CUstream stream, CUresult result, void *user)
{
    (void)stream, (void)result, (void)user;
}

static void nothing_is_added_to_an_invalid_capture(void)
{
    OK(begin(s.a, THREAD_LOCAL));
    OK(put(s.a, 0, 1));
    fork_b();
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, allocate());
    REFUSED(STREAM_CAPTURE_INVALIDATED, put(s.a, 0, 2));
    REFUSED(STREAM_CAPTURE_INVALIDATED, put(s.b, 0, 2));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuEventRecord(s.join, s.b));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuMemcpyDtoDAsync(s.at, 4096, 4, s.a));
    REFUSED(STREAM_CAPTURE_INVALIDATED,
            cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0, 1));
    REFUSED(STREAM_CAPTURE_INVALIDATED,
            cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0, 2));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamAddCallback(s.a, callback, NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWaitEvent(s.c, s.fork, 0));
    CHECK(status(s.c) == CU_STREAM_CAPTURE_STATUS_NONE);
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamSynchronize(s.a));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, allocate());
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(status(s.b) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(put(s.b, 0, 5));
    OK(cu.cuStreamSynchronize(s.b));
    CHECK(word(0) == 5);
}

static CUresult copy_batch(CUstream stream)
{
    CUdeviceptr dst = s.at, src = s.at + 32;
    size_t bytes = 4, first = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    return cu.cuMemcpyBatchAsync(&dst, &src, &bytes, 1, &attributes, &first, 1, stream);
}

static void batches_of_copies_are_left_out(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, copy_batch(s.a));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end_with(s.a, 1);
}

static void wrong_addresses_are_left_out(void)
{
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoDAsync(s.at, 4096, 4, s.a));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(s.at + 4, s.a));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end_with(s.a, 0);
}

static CUgraph captured_fill(CUdeviceptr at)
{
    OK(begin(s.a, GLOBAL));
    OK(cu.cuMemsetD32Async(at, 1, 4, s.a));
    return end(s.a);
}

static void wrong_fills_are_found_at_instantiation(void)
{
    CUgraphExec exec = NULL;
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params;
    CUgraph graph = captured_fill(4096), parent, good = captured_fill(s.at);
    size_t count = 1;
    CHECK(nodes_of(graph) == 1);
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphCreate(&parent, 0));
    OK(cu.cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, parent, 0));
    OK(cu.cuGraphInstantiateWithFlags(&exec, good, 0));
    CUgraphExecUpdateResultInfo info = {0};
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, cu.cuGraphExecUpdate(exec, graph, &info));
    CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR && info.errorNode != NULL);
    OK(cu.cuGraphLaunch(exec, s.a)); /* as it was */
    OK(cu.cuStreamSynchronize(s.a));
    CHECK(word(0) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphGetNodes(graph, &node, &count));
    OK(cu.cuGraphMemsetNodeGetParams(node, &params));
    CHECK(params.dst == 4096);
    REFUSED(INVALID_VALUE, cu.cuGraphMemsetNodeSetParams(node, &params));
    params.dst = s.at;
    OK(cu.cuGraphMemsetNodeSetParams(node, &params));
    run_graph(graph);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(parent));
    OK(cu.cuGraphDestroy(good));
}

/* What is there counts when it is asked, not when it was captured. */
static void fills_of_freed_memory_are_not_instantiated(void)
{
    CUgraphExec exec = NULL;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 4 << 20));
    CUgraph graph = captured_fill(at);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuMemFree(at));
    CUgraphExec second = NULL;
    CUgraphExecUpdateResultInfo info;
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&second, graph, 0));
    OK(cu.cuGraphExecUpdate(exec, graph, &info)); /* nothing changes */
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void memory_operations_are_captured_anywhere(void)
{
    CUstreamBatchMemOpParams op = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32};
    op.writeValue.address = s.at;
    OK(begin(s.a, RELAXED));
    OK(cu.cuStreamWriteValue32(s.a, 0x1000, 1, 0));
    OK(cu.cuStreamBatchMemOp(s.a, 0, &op, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamWriteValue32(s.a, s.at + 2, 1, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamBatchMemOp(s.a, 1, &op, 1));
    op.operation = (CUstreamBatchMemOpType)77;
    REFUSED(INVALID_VALUE, cu.cuStreamBatchMemOp(s.a, 1, &op, 0));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end_with(s.a, 2);
}

/* C6: what is said where two things are wrong. */
static void captures_are_judged_first(void)
{
    CUdeviceptr at = 0;
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuMemAllocAsync(NULL, 64, s.a));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuMemAllocAsync(NULL, 64, s.b));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuMemAllocAsync(NULL, 64, s.a));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuMemAllocAsync(&at, 0, s.a));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuMemFreeAsync(0, s.a));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamWriteValue32(s.a, 0x1000, 0, 0));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuEventRecordWithFlags(s.other, s.a, 9));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamWaitEvent(s.a, s.other, 9));
    REFUSED(STREAM_CAPTURE_INVALIDATED,
            cu.cuLaunchKernel(s.store, 1, 1, 1, 1, 1, 1, 0, s.a, NULL, NULL));
    REFUSED(INVALID_VALUE, cu.cuLaunchHostFunc(s.a, NULL, NULL));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    static const CUresult unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    for (int i = 0; i < 5; i++) {
        OK(begin(s.a, GLOBAL));
        switch (i) {
        case 0: CHECK_IS(cu.cuMemAlloc(NULL, 64), unsupported); break;
        case 1: CHECK_IS(cu.cuMemFree(0x1000), unsupported); break;
        case 2: CHECK_IS(cu.cuMemPoolTrimTo(NULL, 0), unsupported); break;
        case 3: CHECK_IS(cu.cuMemFreeAsync(0x1000, s.b), unsupported); break;
        default: CHECK_IS(cu.cuMemAllocAsync(&at, 0, s.b), unsupported);
        }
        end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    OK(begin(s.blocking, GLOBAL));
    REFUSED(STREAM_CAPTURE_IMPLICIT,
            cu.cuLaunchKernel(s.nothing, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    end_fails(s.blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void waiting_for_nothing_spoils(void)
{
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_HANDLE, cu.cuEventRecord(NULL, s.a));
    REFUSED(INVALID_HANDLE, cu.cuEventQuery(NULL));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    REFUSED(INVALID_HANDLE, cu.cuStreamWaitEvent(s.a, NULL, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void wrong_flags_disturb_no_capture(void)
{
    CUgraph graph;
    CUgraphExec exec = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 64));
    end_with(s.a, 0);
    OK(begin(s.a, GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuGraphInstantiateWithFlags(&exec, NULL, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, GLOBAL)); /* these are known, and exclude each other */
    REFUSED(
        STREAM_CAPTURE_UNSUPPORTED,
        cu.cuGraphInstantiateWithFlags(&exec, graph,
                                       CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                           CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuGraphDestroy(graph));
}

/* The shape of a launch invalidates a capture, its parameters and attributes do not. */
static void wrong_launches_spoil_the_capture(void)
{
    OK(begin(s.a, RELAXED));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(s.store, 1, 1, 1, 1, 1, 1, 0, s.a, NULL, NULL));
    end_with(s.a, 0);
    OK(begin(s.a, RELAXED));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(s.nothing, 1, 1, 1, 1, 1, 1, 300000, s.a, NULL, NULL));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(
        COOPERATIVE_LAUNCH_TOO_LARGE,
        cu.cuLaunchCooperativeKernel(s.nothing, 100000, 1, 1, 1024, 1, 1, 0, s.a, NULL));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(INVALID_VALUE,
            cu.cuLaunchKernel(s.nothing, 1, 1, 1, 4096, 1, 1, 0, s.a, NULL, NULL));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* ---- R98: what cannot be captured ---- */

static void callbacks_and_launches_are_not_captured(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuGraphLaunch(exec, s.a));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuGraphUpload(exec, s.a));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamAddCallback(s.a, callback, NULL, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void managed_memory_is_not_moved_in_captures(void)
{
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUdeviceptr managed;
    OK(cu.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED,
            cu.cuStreamAttachMemAsync(s.a, managed, 0, CU_MEM_ATTACH_GLOBAL));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED,
            cu.cuMemPrefetchAsync(managed, 4096, here, 0, s.a));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuMemFree(managed));
}

static void events_of_contexts_are_not_captured(void)
{
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuCtxRecordEvent(s.context, s.other));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(begin(s.a, RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuCtxWaitEvent(s.context, s.other));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* ---- R99: information ---- */

struct info {
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
};

static struct info info_of(CUstream stream)
{
    struct info out = {.id = 77, .count = 77};
    OK(cu.cuStreamGetCaptureInfo(stream, &out.status, &out.id, &out.graph, &out.nodes,
                                 &out.data, &out.count));
    return out;
}

static void information_is_of_the_whole_sequence(void)
{
    struct info none = info_of(s.a);
    CHECK(none.status == CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK(none.id == 77 && none.count == 77 && none.graph == NULL); /* untouched */
    OK(begin(s.a, RELAXED));
    const struct info first = info_of(s.a);
    CHECK(first.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && first.count == 0);
    CHECK(first.graph != NULL && first.id != 77);
    OK(put(s.a, 0, 1));
    fork_b();
    const struct info joined = info_of(s.b);
    CHECK(joined.id == first.id && joined.graph == first.graph && joined.count == 1);
    CHECK(joined.count == 1 && joined.nodes[0] == frontier(s.a));
    REFUSED(INVALID_VALUE,
            cu.cuStreamGetCaptureInfo(s.a, NULL, NULL, NULL, NULL, NULL, NULL));
    REFUSED(INVALID_VALUE, cu.cuStreamIsCapturing(s.a, NULL));
    CHECK(end(s.a) == first.graph);
    CHECK(nodes_of(first.graph) == 1);
    OK(cu.cuGraphDestroy(first.graph));
    OK(begin(s.a, RELAXED));
    CHECK(info_of(s.a).id != first.id);
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamQuery(s.a));
    none = info_of(s.a); /* an invalid capture says no more than that it is one */
    CHECK(none.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    CHECK(none.id == 77 && none.count == 77 && none.graph == NULL);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void the_graph_can_be_used_meanwhile(void)
{
    CUgraph clone, parent;
    CUgraphNode extra, child;
    OK(begin(s.a, RELAXED));
    OK(put(s.a, 0, 6));
    CUgraph graph = captured_graph(s.a);
    OK(cu.cuGraphAddEmptyNode(&extra, graph, NULL, 0));
    OK(cu.cuGraphClone(&clone, graph));
    OK(cu.cuGraphCreate(&parent, 0));
    OK(cu.cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
    OK(put(s.a, 1, 7));
    CHECK(nodes_of(clone) == 2);
    end_with(s.a, 3);
    run_graph(parent);
    CHECK(word(0) == 6 && word(1) == 0);
    OK(cu.cuGraphDestroy(clone));
    OK(cu.cuGraphDestroy(parent));
}

static void the_graph_and_its_nodes_stay(void)
{
    CUgraphNode extra;
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    CUgraph graph = captured_graph(s.a);
    OK(cu.cuGraphAddEmptyNode(&extra, graph, NULL, 0));
    REFUSED(ILLEGAL_STATE, cu.cuGraphDestroyNode(extra));
    REFUSED(ILLEGAL_STATE, cu.cuGraphDestroyNode(frontier(s.a)));
    REFUSED(ILLEGAL_STATE, cu.cuGraphDestroy(graph));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(put(s.a, 0, 2));
    end_with(s.a, 3);
}

static void an_open_graph_can_be_instantiated(void)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuStreamBeginCaptureToGraph(s.a, graph, NULL, NULL, 0, RELAXED));
    OK(put(s.a, 0, 8));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(put(s.a, 1, 9));
    OK(cu.cuGraphLaunch(exec, s.b));
    OK(cu.cuStreamSynchronize(s.b));
    CHECK(word(0) == 8 && word(1) == 0);
    CHECK(end(s.a) == graph && nodes_of(graph) == 2);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

static void uploads_are_judged_by_their_stream(void)
{
    CUgraph graph;
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hUploadStream = s.b};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(begin(s.a, THREAD_LOCAL));
    OK(cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
    end_with(s.a, 0);
    OK(cu.cuGraphExecDestroy(exec));
    OK(begin(s.a, RELAXED));
    params.hUploadStream = s.a;
    REFUSED(STREAM_CAPTURE_UNSUPPORTED,
            cu.cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK(params.result_out == CUDA_GRAPH_INSTANTIATE_ERROR);
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuGraphDestroy(graph));
}

static void lossy_information_lacks_the_count(void)
{
    static const CUgraphEdgeData half = {.from_port = 1, .type = 1};
    struct info got = {.id = 77, .count = 77};
    OK(begin(s.a, RELAXED));
    OK(put(s.a, 0, 1));
    CUgraphNode first = frontier(s.a);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, &half, 1, 1));
    REFUSED(LOSSY_QUERY, cu.cuStreamGetCaptureInfo(s.a, &got.status, &got.id, &got.graph,
                                                   &got.nodes, NULL, &got.count));
    CHECK(got.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && got.id != 77);
    CHECK(got.graph == captured_graph(s.a) && got.nodes != NULL && got.count == 77);
    REFUSED(INVALID_VALUE, cu.cuStreamGetCaptureInfo(s.a, &got.status, NULL, NULL, NULL,
                                                     &got.data, &got.count));
    CHECK(got.count == 77);
    OK(cu.cuStreamGetCaptureInfo(s.a, &got.status, NULL, NULL, NULL, NULL, &got.count));
    CHECK(got.count == 1);
    end_with(s.a, 1);
}

/* ---- R100: dependencies ---- */

static void dependencies_are_set_in_open_captures(void)
{
    CUgraph other;
    CUgraphNode foreign, first, extra;
    REFUSED(ILLEGAL_STATE, cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0, 1));
    REFUSED(ILLEGAL_STATE, cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0, 2));
    OK(cu.cuGraphCreate(&other, 0));
    OK(cu.cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    OK(begin(s.a, GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuStreamBeginCaptureToGraph(s.b, captured_graph(s.a),
                                                          &foreign, NULL, 1, 7));
    OK(put(s.a, 0, 1));
    REFUSED(INVALID_VALUE, cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0, 2));
    REFUSED(INVALID_VALUE,
            cu.cuStreamUpdateCaptureDependencies(s.a, &foreign, NULL, 1, 0));
    REFUSED(INVALID_VALUE,
            cu.cuStreamUpdateCaptureDependencies(s.a, &foreign, NULL, 1, 1));
    REFUSED(INVALID_VALUE, cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 1, 1));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    first = frontier(s.a);
    OK(cu.cuGraphAddEmptyNode(&extra, captured_graph(s.a), NULL, 0));
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, NULL, 1, 0)); /* is there */
    CHECK(info_of(s.a).count == 1);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &extra, NULL, 1, 0));
    const struct info both = info_of(s.a);
    CHECK(both.count == 2 && both.nodes[0] == first && both.nodes[1] == extra);
    CUgraphNode twice[2] = {extra, extra};
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, twice, NULL, 2, 1));
    CHECK(frontier(s.a) == extra);
    OK(put(s.a, 1, 1));
    CUgraph graph = end(s.a);
    CHECK(nodes_of(graph) == 3 && edges_of(graph) == 1);
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuGraphDestroy(other));
}

static void run(void)
{
    CAPTURE_TEST(R39, an_open_graph_can_be_instantiated);
    CAPTURE_TEST(M_instantiate_upload, uploads_are_judged_by_their_stream);
    CAPTURE_TEST(R94, the_legacy_stream_beside_blocking_captures);
    CAPTURE_TEST(R94, asking_about_the_legacy_stream_does_no_harm);
    CAPTURE_TEST(R94, legacy_work_escapes_other_captures);
    CAPTURE_TEST(R94, the_legacy_stream_joins_no_capture);
    CAPTURE_TEST(R95, unsafe_calls_go_by_mode_and_thread);
    CAPTURE_TEST(R95, an_unsafe_call_ends_the_captures_that_forbid_it);
    CAPTURE_TEST(R96, threads_exchange_their_modes);
    CAPTURE_TEST(R97, nothing_is_added_to_an_invalid_capture);
    CAPTURE_TEST(M_C12_dropped, batches_of_copies_are_left_out);
    CAPTURE_TEST(M_C12_address, wrong_addresses_are_left_out);
    CAPTURE_TEST(M_capture_fill, wrong_fills_are_found_at_instantiation);
    CAPTURE_TEST(M_capture_fill, fills_of_freed_memory_are_not_instantiated);
    CAPTURE_TEST(M_capture_words, memory_operations_are_captured_anywhere);
    CAPTURE_TEST(M_capture_order, captures_are_judged_first);
    CAPTURE_TEST(M_wait_nothing, waiting_for_nothing_spoils);
    CAPTURE_TEST(M_instantiate_flags, wrong_flags_disturb_no_capture);
    CAPTURE_TEST(M_C13_spoilt, wrong_launches_spoil_the_capture);
    CAPTURE_TEST(R98, callbacks_and_launches_are_not_captured);
    CAPTURE_TEST(R98, managed_memory_is_not_moved_in_captures);
    CAPTURE_TEST(R98, events_of_contexts_are_not_captured);
    CAPTURE_TEST(R99, information_is_of_the_whole_sequence);
    CAPTURE_TEST(R99, the_graph_can_be_used_meanwhile);
    CAPTURE_TEST(M_info_lossy, lossy_information_lacks_the_count);
    CAPTURE_TEST(M_R99_kept, the_graph_and_its_nodes_stay);
    CAPTURE_TEST(R100, dependencies_are_set_in_open_captures);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
