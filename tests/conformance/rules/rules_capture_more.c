// SPDX-License-Identifier: Apache-2.0
/* R39, R40, R94-R103 and what was measured beside them: what captures forbid, what can be
 * asked of them and set, and which edges captured launches get. */
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

static void wrong_fills_are_found_at_instantiation(void)
{
    CUgraphExec exec = NULL;
    OK(begin(s.a, GLOBAL));
    OK(cu.cuMemsetD32Async(4096, 1, 4, s.a));
    CUgraph graph = end(s.a);
    CHECK(nodes_of(graph) == 1);
    REFUSED(INVALID_VALUE, cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    if (driver_is_soft) { /* what an update with it does was not asked on a GPU */
        CUgraphExecUpdateResultInfo info = {0};
        OK(begin(s.a, GLOBAL));
        OK(cu.cuMemsetD32Async(s.at, 1, 4, s.a));
        CUgraph good = end(s.a);
        OK(cu.cuGraphInstantiateWithFlags(&exec, good, 0));
        REFUSED(GRAPH_EXEC_UPDATE_FAILURE, cu.cuGraphExecUpdate(exec, graph, &info));
        OK(cu.cuGraphLaunch(exec, s.a));
        OK(cu.cuStreamSynchronize(s.a));
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(good));
    }
    OK(cu.cuGraphDestroy(graph));
}

/* The shape of a launch spoils, its parameters and attributes do not. */
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

/* ---- R101: order with eager work ---- */

static atomic_int gate;

static void wait_at_gate(void *user)
{
    (void)user;
    for (int i = 0; i < 20000000 && atomic_load(&gate) == 0; i++)
        ;
}

/* Nothing orders a graph behind what its stream did before the capture; the stream itself
 * goes on behind it. */
static void captures_leave_their_streams_order(void)
{
    CUgraphExec exec;
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(s.a, wait_at_gate, NULL));
    OK(put(s.a, 0, 1));
    OK(begin(s.a, RELAXED));
    OK(put(s.a, 1, 2));
    CUgraph graph = end(s.a);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.b));
    OK(cu.cuStreamSynchronize(s.b)); /* while a stands at the gate */
    OK(cu.cuMemcpyDtoDAsync(s.at + 8, s.at, 4, s.a));
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(s.a));
    CHECK(word(0) == 1 && word(1) == 2 && word(2) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- R102, R103: programmatic edges ---- */

static CUresult launch_with(CUstream stream, CUlaunchAttribute attribute)
{
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    return cu.cuLaunchKernelEx(&config, s.nothing, NULL, NULL);
}

static CUlaunchAttribute serialization(void)
{
    CUlaunchAttribute out = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    out.value.programmaticStreamSerializationAllowed = 1;
    return out;
}

static CUlaunchAttribute trigger(CUevent event, int flags, int at_start)
{
    CUlaunchAttribute out = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT};
    out.value.programmaticEvent.event = event;
    out.value.programmaticEvent.flags = flags;
    out.value.programmaticEvent.triggerAtBlockStart = at_start;
    return out;
}

static CUlaunchAttribute completion(CUevent event)
{
    CUlaunchAttribute out = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    out.value.launchCompletionEvent.event = event;
    return out;
}

/* The data of the only edge between two kernels. */
static CUgraphEdgeData only_edge(CUgraph graph)
{
    CUgraphNode from[4], to[4];
    CUgraphEdgeData data[4] = {{.from_port = 99}};
    size_t count = 4;
    OK(cu.cuGraphGetEdges(graph, from, to, data, &count));
    CHECK(count == 1);
    return data[0];
}

static void serialized_launches_get_programmatic_edges(void)
{
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    OK(launch_with(s.a, serialization()));
    CHECK(half_edge(s.a).type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    CUgraph graph = end(s.a);
    CUgraphEdgeData edge = only_edge(graph);
    CHECK(edge.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC && edge.to_port == 0 &&
          edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    run_graph(graph);
    CHECK(word(0) == 1);
    OK(cu.cuGraphDestroy(graph));
    OK(begin(s.a, GLOBAL)); /* behind what is no kernel, a full one */
    OK(cu.cuMemsetD32Async(s.at, 0, 1, s.a));
    OK(launch_with(s.a, serialization()));
    graph = end(s.a);
    edge = only_edge(graph);
    CHECK(edge.from_port == 0 && edge.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    OK(cu.cuGraphDestroy(graph));
}

static void kernels_record_ports(void)
{
    const struct {
        CUlaunchAttribute attribute;
        int port, type;
    } rows[] = {{trigger(s.other, 0, 0), 1, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
                {trigger(s.other, 0, 1), 2, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
                {completion(s.other), 2, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT}};
    for (int i = 0; i < 3; i++) {
        OK(begin(s.a, GLOBAL));
        OK(launch_with(s.a, rows[i].attribute));
        CHECK(half_edge(s.a).from_port == 0); /* a itself waits in full */
        OK(cu.cuStreamWaitEvent(s.a, s.other, 0));
        CHECK(half_edge(s.a).from_port == 0);
        OK(cu.cuStreamWaitEvent(s.b, s.other, 0));
        const CUgraphEdgeData edge = half_edge(s.b);
        CHECK(edge.from_port == rows[i].port && edge.type == rows[i].type);
        OK(put(s.b, 0, 1));
        join_b();
        CUgraph graph = end(s.a);
        const CUgraphEdgeData kept = only_edge(graph);
        CHECK(kept.from_port == rows[i].port && kept.type == rows[i].type);
        OK(cu.cuGraphDestroy(graph));
    }
}

/* What is behind such an event keeps its half edge, whatever kind of node it is. */
static void half_edges_stay_as_they_are(void)
{
    OK(begin(s.a, GLOBAL));
    OK(launch_with(s.a, trigger(s.other, 0, 0)));
    OK(cu.cuStreamWaitEvent(s.b, s.other, 0));
    OK(cu.cuEventRecord(s.fork, s.b));
    OK(cu.cuStreamWaitEvent(s.c, s.fork, 0));
    CHECK(half_edge(s.c).from_port == 1 && half_edge(s.c).type == 1);
    OK(cu.cuMemsetD32Async(s.at, 7, 1, s.b));
    join_b();
    CUgraph graph = end(s.a);
    const CUgraphEdgeData edge = only_edge(graph);
    CHECK(edge.from_port == 1 && edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    OK(cu.cuGraphDestroy(graph));
}

static void kernels_record_plain_events_only(void)
{
    OK(begin(s.a, GLOBAL));
    REFUSED(NOT_SUPPORTED, launch_with(s.a, trigger(s.timing, 0, 0)));
    REFUSED(NOT_SUPPORTED,
            launch_with(s.a, trigger(s.other, CU_EVENT_RECORD_EXTERNAL, 0)));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    end_with(s.a, 0);
    REFUSED(NOT_SUPPORTED, launch_with(s.a, trigger(s.timing, 0, 0)));
    REFUSED(ILLEGAL_STATE,
            launch_with(s.a, trigger(s.other, CU_EVENT_RECORD_EXTERNAL, 0)));
    OK(launch_with(s.a, trigger(s.other, 0, 0)));
    OK(cu.cuEventSynchronize(s.other));
}

/* Half edges that a program sets, or begins with. */
static void half_edges_follow_the_rules_of_edges(void)
{
    static const CUgraphEdgeData good = {.from_port = 1, .type = 1};
    static const CUgraphEdgeData bad[] = {
        {.from_port = 1}, {.to_port = 1}, {.reserved = {1}}, {.from_port = 3}};
    CUgraphNode extra;
    OK(begin(s.a, GLOBAL));
    OK(put(s.a, 0, 1));
    CUgraphNode first = frontier(s.a);
    OK(cu.cuGraphAddEmptyNode(&extra, captured_graph(s.a), NULL, 0));
    for (int i = 0; i < 4; i++)
        REFUSED(INVALID_VALUE,
                cu.cuStreamUpdateCaptureDependencies(s.a, &first, &bad[i], 1, 1));
    REFUSED(INVALID_VALUE,
            cu.cuStreamUpdateCaptureDependencies(s.a, &extra, &good, 1, 1));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, &good, 1, 1));
    CHECK(half_edge(s.a).from_port == 1 && half_edge(s.a).type == 1);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &first, NULL, 1, 0));
    CHECK(half_edge(s.a).from_port == 0 && half_edge(s.a).type == 0); /* in full now */
    CUgraph graph = end(s.a);
    REFUSED(INVALID_VALUE,
            cu.cuStreamBeginCaptureToGraph(s.a, graph, &extra, &good, 1, GLOBAL));
    REFUSED(INVALID_VALUE,
            cu.cuStreamBeginCaptureToGraph(s.a, graph, &first, &bad[0], 1, GLOBAL));
    CHECK(status(s.a) == CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cu.cuGraphDestroy(graph));
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
    CAPTURE_TEST(M_C13_spoilt, wrong_launches_spoil_the_capture);
    CAPTURE_TEST(R98, callbacks_and_launches_are_not_captured);
    CAPTURE_TEST(R98, managed_memory_is_not_moved_in_captures);
    CAPTURE_TEST(R98, events_of_contexts_are_not_captured);
    CAPTURE_TEST(R99, information_is_of_the_whole_sequence);
    CAPTURE_TEST(R99, the_graph_can_be_used_meanwhile);
    CAPTURE_TEST(M_R99_kept, the_graph_and_its_nodes_stay);
    CAPTURE_TEST(R100, dependencies_are_set_in_open_captures);
    CAPTURE_TEST(R101, captures_leave_their_streams_order);
    CAPTURE_TEST(R102, serialized_launches_get_programmatic_edges);
    CAPTURE_TEST(R102, kernels_record_ports);
    CAPTURE_TEST(R102, half_edges_stay_as_they_are);
    CAPTURE_TEST(R102, kernels_record_plain_events_only);
    CAPTURE_TEST(R103, half_edges_follow_the_rules_of_edges);
}

int main(int argc, char **argv)
{
    return rule_main(argc, argv, run);
}
