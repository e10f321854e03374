// SPDX-License-Identifier: Apache-2.0
/* Stream capture: fork and join, what may be asked, and what a capture forbids. */
#include "driver.h"
#include "kernels.h"

#include <pthread.h>

static CUmodule module;
static CUfunction store, nothing;

static CUresult put(CUstream stream, CUdeviceptr at, unsigned value)
{
    void *params[] = {&at, &value};
    return cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static unsigned word_at(CUdeviceptr at)
{
    unsigned out = 0xdead;
    OK(cu.cuMemcpyDtoH(&out, at, sizeof(out)));
    return out;
}

struct bench {
    CUstream a, b, blocking;
    CUevent fork, join;
    CUdeviceptr at;
};

static struct bench set_up(void)
{
    struct bench s;
    OK(cu.cuStreamCreate(&s.a, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&s.b, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&s.blocking, CU_STREAM_DEFAULT));
    OK(cu.cuEventCreate(&s.fork, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&s.join, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuMemAlloc(&s.at, 64));
    OK(cu.cuMemsetD32(s.at, 0, 16));
    OK(cu.cuCtxSynchronize());
    return s;
}

static void tear_down(struct bench *s)
{
    OK(cu.cuStreamDestroy(s->a));
    OK(cu.cuStreamDestroy(s->b));
    OK(cu.cuStreamDestroy(s->blocking));
    OK(cu.cuEventDestroy(s->fork));
    OK(cu.cuEventDestroy(s->join));
    OK(cu.cuMemFree(s->at));
}

static void begin(CUstream stream)
{
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

/* The capture must end in `code`, and the stream works afterwards. */
static void end_fails(CUstream stream, CUresult code)
{
    CUgraph graph = (CUgraph)&module;
    CHECK_IS(cu.cuStreamEndCapture(stream, &graph), code);
    CHECK(graph == NULL);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    OK(cu.cuStreamIsCapturing(stream, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_NONE);
}

static size_t node_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static void captured_work_runs_at_launch_only(void)
{
    struct bench s = set_up();
    CUgraph graph;
    CUgraphExec exec;
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuMemcpyDtoDAsync(s.at + 4, s.at, 4, s.a));
    OK(cu.cuMemsetD32Async(s.at + 8, 7, 1, s.a));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    CHECK(node_count(graph) == 3);
    CHECK(word_at(s.at) == 0);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.a));
    OK(cu.cuStreamSynchronize(s.a));
    CHECK(word_at(s.at) == 1 && word_at(s.at + 4) == 1 && word_at(s.at + 8) == 7);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

static void fork_and_join_through_events(void)
{
    struct bench s = set_up();
    CUgraph graph;
    CUgraphExec exec;
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuStreamWaitEvent(s.b, s.fork, 0));
    OK(put(s.b, s.at + 4, 2));
    OK(put(s.a, s.at + 8, 3));
    OK(cu.cuEventRecord(s.join, s.b));
    OK(cu.cuStreamWaitEvent(s.a, s.join, 0));
    OK(put(s.a, s.at + 12, 4));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    size_t edges = 0;
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(node_count(graph) == 4 && edges == 4);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.b));
    OK(cu.cuStreamSynchronize(s.b));
    for (unsigned i = 0; i < 4; i++)
        CHECK(word_at(s.at + 4ull * i) == i + 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R88, R89. */
static void begin_and_end_in_wrong_states(void)
{
    struct bench s = set_up();
    CUgraph graph = NULL;
    REFUSED(STREAM_CAPTURE_UNSUPPORTED,
            cu.cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuStreamBeginCapture(s.a, (CUstreamCaptureMode)3));
    REFUSED(ILLEGAL_STATE, cu.cuStreamEndCapture(s.a, &graph));
    begin(s.a);
    REFUSED(ILLEGAL_STATE, cu.cuStreamBeginCapture(s.a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    CHECK(node_count(graph) == 0);
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R90. */
static void an_unjoined_fork_is_refused(void)
{
    struct bench s = set_up();
    CUgraph graph;
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuStreamWaitEvent(s.b, s.fork, 0));
    OK(put(s.b, s.at + 4, 2));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    OK(cu.cuStreamSynchronize(s.b));

    begin(s.a); /* a fork without work needs no join */
    OK(put(s.a, s.at, 1));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuStreamWaitEvent(s.b, s.fork, 0));
    OK(put(s.a, s.at, 2));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    CHECK(node_count(graph) == 2);
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R91: isolation and merge. */
static void foreign_events_are_refused(void)
{
    struct bench s = set_up();
    begin(s.a); /* an event that was never recorded is none: an H100 goes on */
    OK(cu.cuStreamWaitEvent(s.a, s.fork, 0));
    CUgraph empty = NULL;
    OK(cu.cuStreamEndCapture(s.a, &empty));
    OK(cu.cuGraphDestroy(empty));
    OK(cu.cuEventRecord(s.fork, s.b));
    begin(s.a);
    OK(put(s.a, s.at, 1));
    REFUSED(STREAM_CAPTURE_ISOLATION, cu.cuStreamWaitEvent(s.a, s.fork, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuEventRecord(s.fork, s.a));
    begin(s.b);
    REFUSED(STREAM_CAPTURE_MERGE, cu.cuStreamWaitEvent(s.b, s.fork, 0));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    end_fails(s.b, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    tear_down(&s);
}

/* R89: the end belongs to the origin. */
static void the_end_belongs_to_the_origin(void)
{
    struct bench s = set_up();
    CUgraph graph;
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuStreamWaitEvent(s.b, s.fork, 0));
    REFUSED(STREAM_CAPTURE_UNMATCHED, cu.cuStreamEndCapture(s.b, &graph));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    tear_down(&s);
}

static CUcontext shared_context;
static CUstream shared_stream;

static void *end_elsewhere(void *out)
{
    CUgraph graph;
    OK(cu.cuCtxSetCurrent(shared_context));
    *(CUresult *)out = cu.cuStreamEndCapture(shared_stream, &graph);
    if (*(CUresult *)out == CUDA_SUCCESS)
        OK(cu.cuGraphDestroy(graph));
    return NULL;
}

static CUresult from_another_thread(void *(*run)(void *))
{
    pthread_t thread;
    CUresult out = CUDA_SUCCESS;
    pthread_create(&thread, NULL, run, &out);
    pthread_join(thread, NULL);
    return out;
}

static void another_thread_ends_relaxed_captures_only(void)
{
    struct bench s = set_up();
    CUgraph graph;
    shared_stream = s.a;
    begin(s.a);
    CHECK(from_another_thread(end_elsewhere) == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    REFUSED(ILLEGAL_STATE, cu.cuStreamEndCapture(s.a, &graph)); /* it is over */
    OK(cu.cuStreamBeginCapture(s.a, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(from_another_thread(end_elsewhere) == CUDA_SUCCESS);
    tear_down(&s);
}

/* R93: queries and synchronization. */
static void waiting_for_a_capture_is_refused(void)
{
    struct bench s = set_up();
    begin(s.a);
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamSynchronize(s.a));
    REFUSED(STREAM_CAPTURE_INVALIDATED, put(s.a, s.at, 1));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(s.a);
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamQuery(s.a));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(s.a);
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuCtxSynchronize());
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    tear_down(&s);
}

static void captured_events_cannot_be_queried(void)
{
    struct bench s = set_up();
    CUgraph graph;
    begin(s.a);
    OK(cu.cuEventRecord(s.fork, s.a));
    REFUSED(CAPTURED_EVENT, cu.cuEventQuery(s.fork));
    end_fails(s.a, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    REFUSED(INVALID_VALUE, cu.cuEventQuery(s.fork));
    REFUSED(INVALID_VALUE, cu.cuEventSynchronize(s.fork));
    REFUSED(INVALID_VALUE, cu.cuStreamWaitEvent(s.b, s.fork, 0));
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuEventSynchronize(s.fork));
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R94. */
static void the_legacy_stream_beside_a_capture(void)
{
    struct bench s = set_up();
    CUstreamCaptureStatus status;
    CUgraph graph;
    begin(s.blocking);
    REFUSED(STREAM_CAPTURE_IMPLICIT, cu.cuStreamIsCapturing(CU_STREAM_LEGACY, &status));
    OK(put(s.blocking, s.at, 1)); /* asking does no harm */
    REFUSED(STREAM_CAPTURE_IMPLICIT, put(CU_STREAM_LEGACY, s.at, 2));
    end_fails(s.blocking, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    begin(s.a); /* non-blocking: the legacy work escapes */
    OK(put(CU_STREAM_LEGACY, s.at, 3));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    CHECK(node_count(graph) == 0);
    OK(cu.cuStreamSynchronize(CU_STREAM_LEGACY));
    CHECK(word_at(s.at) == 3);
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R95: the matrix of mode and thread for calls that may be unsafe. */
static void *alloc_elsewhere(void *out)
{
    CUdeviceptr at;
    OK(cu.cuCtxSetCurrent(shared_context));
    *(CUresult *)out = cu.cuMemAlloc(&at, 4);
    if (*(CUresult *)out == CUDA_SUCCESS)
        OK(cu.cuMemFree(at));
    return NULL;
}

static void unsafe_calls_go_by_mode_and_thread(void)
{
    static const struct {
        CUstreamCaptureMode mode;
        bool same, other; /* refused */
    } rows[] = {{CU_STREAM_CAPTURE_MODE_GLOBAL, true, true},
                {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, true, false},
                {CU_STREAM_CAPTURE_MODE_RELAXED, false, false}};
    struct bench s = set_up();
    for (size_t i = 0; i < 3; i++) {
        CUdeviceptr at;
        CUgraph graph;
        OK(cu.cuStreamBeginCapture(s.a, rows[i].mode));
        const CUresult other = from_another_thread(alloc_elsewhere);
        CHECK(other == (rows[i].other ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0));
        const CUresult ended = cu.cuStreamEndCapture(s.a, &graph);
        CHECK(ended == (rows[i].other ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : 0));
        if (ended == CUDA_SUCCESS)
            OK(cu.cuGraphDestroy(graph));
        OK(cu.cuStreamBeginCapture(s.a, rows[i].mode));
        const CUresult same = cu.cuMemAlloc(&at, 4);
        CHECK(same == (rows[i].same ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : 0));
        if (same == CUDA_SUCCESS)
            OK(cu.cuMemFree(at));
        if (cu.cuStreamEndCapture(s.a, &graph) == CUDA_SUCCESS)
            OK(cu.cuGraphDestroy(graph));
    }
    tear_down(&s);
}

/* R96. */
static void a_thread_may_exchange_its_mode(void)
{
    struct bench s = set_up();
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUdeviceptr at;
    CUgraph graph;
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
    begin(s.a);
    OK(cu.cuMemAlloc(&at, 4));
    OK(cu.cuMemFree(at));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
    /* The documentation says INVALID_VALUE for other modes; an H100 takes them. */
    mode = (CUstreamCaptureMode)9;
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    OK(cu.cuThreadExchangeStreamCaptureMode(&mode));
    CHECK(mode == (CUstreamCaptureMode)9);
    if (driver_is_soft) /* the real driver crashes */
        REFUSED(INVALID_VALUE, cu.cuThreadExchangeStreamCaptureMode(NULL));
    tear_down(&s);
}

/* R99, R100. */
static void dependencies_can_be_seen_and_set(void)
{
    struct bench s = set_up();
    CUstreamCaptureStatus status;
    cuuint64_t id = 0, again = 0;
    CUgraph graph = NULL, captured;
    const CUgraphNode *nodes = NULL;
    size_t count = 9;
    REFUSED(ILLEGAL_STATE, cu.cuStreamUpdateCaptureDependencies(s.a, NULL, NULL, 0, 1));
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuStreamGetCaptureInfo(s.a, &status, &id, &graph, &nodes, NULL, &count));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1 && graph != NULL);
    CUgraphNode first = nodes[0], extra;
    OK(cu.cuGraphAddEmptyNode(&extra, graph, &first, 1));
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &extra, NULL, 1,
                                            CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cu.cuStreamGetCaptureInfo(s.a, &status, &again, NULL, &nodes, NULL, &count));
    CHECK(count == 2 && again == id);
    OK(cu.cuStreamUpdateCaptureDependencies(s.a, &extra, NULL, 1,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    REFUSED(INVALID_VALUE, cu.cuStreamUpdateCaptureDependencies(s.a, &extra, NULL, 1, 2));
    OK(put(s.a, s.at, 2));
    OK(cu.cuStreamEndCapture(s.a, &captured));
    CHECK(captured == graph && node_count(graph) == 3);
    size_t edges = 0;
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    CHECK(edges == 2);
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R39. */
static void capture_into_an_existing_graph(void)
{
    struct bench s = set_up();
    CUgraph graph, out;
    CUgraphExec exec;
    CUgraphNode root;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&root, graph, NULL, 0));
    OK(cu.cuStreamBeginCaptureToGraph(s.a, graph, &root, NULL, 1,
                                      CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(put(s.a, s.at, 8));
    /* The documentation says that it cannot be instantiated now; an H100 does it. */
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuStreamEndCapture(s.a, &out));
    CHECK(out == graph && node_count(graph) == 2);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.a));
    OK(cu.cuStreamSynchronize(s.a));
    CHECK(word_at(s.at) == 8);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* A graph launch cannot be captured (C20). */
static void a_graph_launch_is_not_captured(void)
{
    struct bench s = set_up();
    CUgraph graph;
    CUgraphExec exec;
    begin(s.a);
    OK(put(s.a, s.at, 1));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    begin(s.b);
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuGraphLaunch(exec, s.b));
    end_fails(s.b, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* R92: external flags make nodes. */
static void external_events_become_nodes(void)
{
    struct bench s = set_up();
    CUgraph graph;
    CUgraphExec exec;
    REFUSED(ILLEGAL_STATE,
            cu.cuEventRecordWithFlags(s.join, s.a, CU_EVENT_RECORD_EXTERNAL));
    REFUSED(ILLEGAL_STATE, cu.cuStreamWaitEvent(s.a, s.fork, CU_EVENT_WAIT_EXTERNAL));
    begin(s.a);
    OK(cu.cuStreamWaitEvent(s.a, s.fork, CU_EVENT_WAIT_EXTERNAL));
    OK(put(s.a, s.at, 4));
    OK(cu.cuEventRecordWithFlags(s.join, s.a, CU_EVENT_RECORD_EXTERNAL));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    CHECK(node_count(graph) == 3);
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.a));
    OK(cu.cuEventSynchronize(s.join));
    CHECK(word_at(s.at) == 4);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    tear_down(&s);
}

/* As an H200 says it: arrays by their handles and places, of arrays neither pitch nor height. */
static void captured_copies_name_their_arrays(void)
{
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 16,
                                           .Height = 8,
                                           .Depth = 4,
                                           .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                           .NumChannels = 4};
    struct bench s = set_up();
    CUarray from, to;
    CUgraph graph;
    CUgraphNode node;
    CUDA_MEMCPY3D got;
    size_t count = 1;
    OK(cu.cuArray3DCreate(&from, &shape));
    OK(cu.cuArray3DCreate(&to, &shape));
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = from,
                                .srcXInBytes = 4,
                                .srcY = 2,
                                .srcZ = 3,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = to,
                                .dstXInBytes = 12,
                                .dstY = 4,
                                .WidthInBytes = 16,
                                .Height = 3,
                                .Depth = 1};
    OK(cu.cuStreamBeginCapture(s.a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cu.cuMemcpy3DAsync(&copy, s.a));
    OK(cu.cuStreamEndCapture(s.a, &graph));
    OK(cu.cuGraphGetNodes(graph, &node, &count));
    OK(cu.cuGraphMemcpyNodeGetParams(node, &got));
    CHECK(got.srcArray == from && got.dstArray == to);
    CHECK(got.srcXInBytes == 4 && got.srcY == 2 && got.srcZ == 3);
    CHECK(got.dstXInBytes == 12 && got.dstY == 4 && got.dstZ == 0);
    CHECK(got.WidthInBytes == 16 && got.Height == 3 && got.Depth == 1);
    OK(cu.cuGraphMemcpyNodeSetParams(node, &got)); /* what is read can be set */
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuArrayDestroy(from));
    OK(cu.cuArrayDestroy(to));
    tear_down(&s);
}

int main(void)
{
    DEVICE_OR_SKIP();
    shared_context = use_primary();
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuModuleGetFunction(&nothing, module, "nothing"));
    RUN(captured_work_runs_at_launch_only);
    RUN(fork_and_join_through_events);
    RUN(begin_and_end_in_wrong_states);
    RUN(an_unjoined_fork_is_refused);
    RUN(foreign_events_are_refused);
    RUN(the_end_belongs_to_the_origin);
    RUN(another_thread_ends_relaxed_captures_only);
    RUN(waiting_for_a_capture_is_refused);
    RUN(captured_events_cannot_be_queried);
    RUN(the_legacy_stream_beside_a_capture);
    RUN(unsafe_calls_go_by_mode_and_thread);
    RUN(a_thread_may_exchange_its_mode);
    RUN(dependencies_can_be_seen_and_set);
    RUN(capture_into_an_existing_graph);
    RUN(a_graph_launch_is_not_captured);
    RUN(external_events_become_nodes);
    RUN(captured_copies_name_their_arrays);
    OK(cu.cuModuleUnload(module));
    return test_done();
}
