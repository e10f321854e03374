// SPDX-License-Identifier: Apache-2.0
/* Captures and threads: what CUDA lets several threads do with one capture, and what it
 * leaves undefined (graphs are not synchronized, objects go while others use them), which
 * softcuda answers with a code and survives. Wrong handles, too. */
#include <pthread.h>

#include "driver.h"
#include "kernels.h"

enum { ROUNDS = 200 };

static CUcontext context;
static CUstream a, b;
static CUevent event;
static CUfunction store;
static CUdeviceptr memory;

static CUresult put(CUstream stream, unsigned word)
{
    CUdeviceptr at = memory + 4ull * word;
    unsigned value = word + 1;
    void *params[] = {&at, &value};
    return cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static void run_threads(void *(*const bodies[])(void *), int count)
{
    pthread_t threads[8];
    for (int i = 0; i < count; i++)
        if (!CHECK(pthread_create(&threads[i], NULL, bodies[i], (void *)(intptr_t)i) ==
                   0))
            exit(1);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* ---- allowed: work from any thread, each stream one at a time ---- */

enum { FEEDERS = 4, WORDS_EACH = 16 };

static CUstream feeds[FEEDERS];

static void *feed(void *number)
{
    const unsigned which = (unsigned)(intptr_t)number;
    OK(cu.cuCtxSetCurrent(context));
    for (unsigned i = 0; i < WORDS_EACH; i++)
        OK(put(feeds[which], which * WORDS_EACH + i));
    return NULL;
}

/* Threads of any mode may add to one capture, each to a stream of its own. */
static void threads_feed_one_capture(void)
{
    static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                CU_STREAM_CAPTURE_MODE_RELAXED};
    void *(*const bodies[])(void *) = {feed, feed, feed, feed};
    for (int i = 0; i < FEEDERS; i++)
        OK(cu.cuStreamCreate(&feeds[i], CU_STREAM_NON_BLOCKING));
    for (int mode = 0; mode < 3; mode++) {
        CUgraph graph = NULL;
        CUgraphExec exec = NULL;
        size_t nodes = 0;
        unsigned back[FEEDERS * WORDS_EACH];
        OK(cu.cuMemsetD32(memory, 0, FEEDERS * WORDS_EACH));
        OK(cu.cuCtxSynchronize());
        OK(cu.cuStreamBeginCapture(a, modes[mode]));
        OK(cu.cuEventRecord(event, a));
        for (int i = 0; i < FEEDERS; i++)
            OK(cu.cuStreamWaitEvent(feeds[i], event, 0));
        run_threads(bodies, FEEDERS);
        for (int i = 0; i < FEEDERS; i++) {
            OK(cu.cuEventRecord(event, feeds[i]));
            OK(cu.cuStreamWaitEvent(a, event, 0));
        }
        OK(cu.cuStreamEndCapture(a, &graph));
        OK(cu.cuGraphGetNodes(graph, NULL, &nodes));
        CHECK(nodes == FEEDERS * WORDS_EACH);
        OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
        OK(cu.cuGraphLaunch(exec, a));
        OK(cu.cuStreamSynchronize(a));
        OK(cu.cuMemcpyDtoH(back, memory, sizeof(back)));
        for (unsigned i = 0; i < FEEDERS * WORDS_EACH; i++)
            CHECK(back[i] == i + 1);
        OK(cu.cuGraphExecDestroy(exec));
        OK(cu.cuGraphDestroy(graph));
    }
    for (int i = 0; i < FEEDERS; i++)
        OK(cu.cuStreamDestroy(feeds[i]));
}

static void *own_capture(void *number)
{
    const unsigned which = (unsigned)(intptr_t)number;
    CUstream mine;
    OK(cu.cuCtxSetCurrent(context));
    OK(cu.cuStreamCreate(&mine, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < ROUNDS / 4; i++) {
        CUgraph graph = NULL;
        size_t nodes = 0;
        OK(cu.cuStreamBeginCapture(mine, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        OK(put(mine, which));
        OK(put(mine, which));
        OK(cu.cuStreamEndCapture(mine, &graph));
        OK(cu.cuGraphGetNodes(graph, NULL, &nodes));
        CHECK(nodes == 2);
        OK(cu.cuGraphDestroy(graph));
    }
    OK(cu.cuStreamDestroy(mine));
    return NULL;
}

static void captures_of_threads_are_apart(void)
{
    void *(*const bodies[])(void *) = {own_capture, own_capture, own_capture,
                                       own_capture};
    run_threads(bodies, 4);
}

/* ---- not allowed: softcuda gives a code ---- */

static void is_a_code(CUresult result)
{
    static const CUresult codes[] = {CUDA_SUCCESS,
                                     CUDA_ERROR_INVALID_VALUE,
                                     CUDA_ERROR_INVALID_HANDLE,
                                     CUDA_ERROR_ILLEGAL_STATE,
                                     CUDA_ERROR_LOSSY_QUERY,
                                     CUDA_ERROR_NOT_READY,
                                     CUDA_ERROR_NOT_SUPPORTED,
                                     CUDA_ERROR_OUT_OF_MEMORY};
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (result == codes[i])
            return;
    if (!CHECK(result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
               result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD))
        fprintf(stderr, "  %d\n", (int)result);
}

static void end_and_drop(CUstream stream)
{
    CUgraph graph = NULL;
    const CUresult result = cu.cuStreamEndCapture(stream, &graph);
    is_a_code(result);
    if (result == CUDA_SUCCESS)
        is_a_code(cu.cuGraphDestroy(graph));
}

static void *captures(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        is_a_code(cu.cuStreamBeginCapture(a, (CUstreamCaptureMode)(i % 3)));
        is_a_code(put(a, 0));
        is_a_code(cu.cuEventRecord(event, a));
        is_a_code(put(a, 1));
        end_and_drop(a);
    }
    return NULL;
}

static void *ends_it(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        end_and_drop(i % 2 ? a : b);
        is_a_code(cu.cuStreamBeginCapture(b, CU_STREAM_CAPTURE_MODE_RELAXED));
    }
    return NULL;
}

static void *joins_it(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        is_a_code(cu.cuStreamWaitEvent(b, event, 0));
        is_a_code(put(b, 2));
        is_a_code(cu.cuEventRecord(event, b));
        is_a_code(cu.cuStreamWaitEvent(a, event, 0));
    }
    return NULL;
}

static void *asks_it(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        CUstreamCaptureStatus status;
        cuuint64_t id;
        is_a_code(cu.cuStreamIsCapturing(a, &status));
        is_a_code(cu.cuStreamGetCaptureInfo(b, &status, &id, NULL, NULL, NULL, NULL));
        is_a_code(cu.cuStreamUpdateCaptureDependencies(a, NULL, NULL, 0, 1));
        is_a_code(cu.cuStreamQuery(a));
    }
    return NULL;
}

static void *disturbs_it(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr at = 0;
        const CUresult result = cu.cuMemAlloc(&at, 64);
        is_a_code(result);
        while (result == CUDA_SUCCESS && cu.cuMemFree(at) != CUDA_SUCCESS)
            ; /* forbidden meanwhile */
        is_a_code(cu.cuEventQuery(event));
        is_a_code(cu.cuEventSynchronize(event));
    }
    return NULL;
}

/* Edits, and destroys, what others capture into. */
static void *edits_it(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        CUgraph graph = NULL;
        CUgraphNode nodes[8], extra;
        size_t count = 8;
        is_a_code(cu.cuStreamGetCaptureInfo(a, &status, NULL, &graph, NULL, NULL, NULL));
        if (graph == NULL)
            continue;
        is_a_code(cu.cuGraphAddEmptyNode(&extra, graph, NULL, 0));
        const CUresult listed = cu.cuGraphGetNodes(graph, nodes, &count);
        is_a_code(listed);
        if (listed == CUDA_SUCCESS && count > 0 && nodes[0])
            is_a_code(cu.cuGraphDestroyNode(nodes[0]));
        is_a_code(cu.cuGraphDestroy(graph));
    }
    return NULL;
}

static void works_as_new(void)
{
    CUgraph graph = NULL;
    size_t nodes = 0;
    OK(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(put(a, 0));
    OK(cu.cuStreamEndCapture(a, &graph));
    OK(cu.cuGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 1);
    OK(cu.cuGraphDestroy(graph));
}

static void threads_break_the_rules(void)
{
    if (!driver_is_soft)
        SKIP("undefined: the real driver may crash");
    void *(*const bodies[])(void *) = {captures, ends_it,     joins_it,
                                       asks_it,  disturbs_it, edits_it};
    run_threads(bodies, 6);
    end_and_drop(a);
    end_and_drop(b);
    OK(cu.cuCtxSynchronize());
    works_as_new();
}

/* Streams that go while their captures are ended, joined and asked elsewhere. */
static CUstream fleeting;
static pthread_barrier_t each_round;

static void *destroys_streams(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS / 4; i++) {
        OK(cu.cuStreamCreate(&fleeting, CU_STREAM_NON_BLOCKING));
        OK(cu.cuStreamBeginCapture(fleeting, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(put(fleeting, 3));
        OK(cu.cuEventRecord(event, fleeting));
        pthread_barrier_wait(&each_round);
        OK(cu.cuStreamDestroy(fleeting));
        pthread_barrier_wait(&each_round);
    }
    return NULL;
}

static void *uses_the_event(void *unused)
{
    (void)unused;
    OK(cu.cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS / 4; i++) {
        CUstreamCaptureStatus status;
        pthread_barrier_wait(&each_round);
        is_a_code(cu.cuStreamWaitEvent(b, event, 0));
        is_a_code(put(b, 4));
        is_a_code(cu.cuStreamIsCapturing(b, &status));
        is_a_code(cu.cuEventQuery(event));
        pthread_barrier_wait(&each_round);
    }
    return NULL;
}

static void streams_go_while_others_join(void)
{
    void *(*const bodies[])(void *) = {destroys_streams, uses_the_event};
    if (!driver_is_soft)
        SKIP("undefined: the real driver may crash");
    pthread_barrier_init(&each_round, NULL, 2);
    run_threads(bodies, 2);
    pthread_barrier_destroy(&each_round);
    OK(cu.cuStreamSynchronize(b)); /* every capture went with its stream */
    works_as_new();
}

/* ---- handles ---- */

static void wrong_streams_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("the real driver reads what a wrong handle points to");
    static long long garbage[64];
    CUstream gone;
    CUgraph graph = NULL;
    OK(cu.cuStreamCreate(&gone, 0));
    OK(cu.cuStreamDestroy(gone));
    CUstream const wrong[] = {gone, (CUstream)garbage, (CUstream)event,
                              (CUstream)(uintptr_t)0x1238};
    for (int i = 0; i < 4; i++) {
        CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
        REFUSED(INVALID_HANDLE,
                cu.cuStreamBeginCapture(wrong[i], CU_STREAM_CAPTURE_MODE_GLOBAL));
        REFUSED(INVALID_HANDLE, cu.cuStreamEndCapture(wrong[i], &graph));
        REFUSED(INVALID_HANDLE, cu.cuStreamIsCapturing(wrong[i], &status));
        REFUSED(INVALID_HANDLE, cu.cuStreamGetCaptureInfo(wrong[i], &status, NULL, NULL,
                                                          NULL, NULL, NULL));
        REFUSED(INVALID_HANDLE,
                cu.cuStreamUpdateCaptureDependencies(wrong[i], NULL, NULL, 0, 0));
        CHECK((int)status == 77 && graph == NULL);
    }
}

static void wrong_graphs_and_nodes_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("the real driver reads what a wrong handle points to");
    static long long garbage[64];
    CUgraph graph, gone;
    CUgraphNode node = NULL, dead = NULL;
    const CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(cu.cuGraphAddEmptyNode(&dead, graph, NULL, 0));
    OK(cu.cuGraphCreate(&gone, 0));
    OK(cu.cuGraphDestroyNode(dead)); /* nothing is made after that takes the place */
    OK(cu.cuGraphDestroy(gone));
    CUgraph const graphs[] = {NULL, gone, (CUgraph)garbage, (CUgraph)a};
    for (int i = 0; i < 4; i++)
        REFUSED(INVALID_VALUE,
                cu.cuStreamBeginCaptureToGraph(a, graphs[i], NULL, NULL, 0, mode));
    CUgraphNode nodes[] = {NULL, dead, (CUgraphNode)garbage};
    for (int i = 0; i < 3; i++)
        REFUSED(INVALID_VALUE,
                cu.cuStreamBeginCaptureToGraph(a, graph, &nodes[i], NULL, 1, mode));
    OK(cu.cuStreamBeginCaptureToGraph(a, graph, &node, NULL, 1, mode));
    for (int i = 0; i < 3; i++)
        REFUSED(INVALID_VALUE, cu.cuStreamUpdateCaptureDependencies(a, &nodes[i], NULL, 1,
                                                                    (unsigned)i % 2));
    OK(put(a, 0));
    OK(cu.cuStreamEndCapture(a, &graph));
    OK(cu.cuGraphDestroy(graph));
}

static void destroyed_events_are_refused(void)
{
    if (!driver_is_soft)
        SKIP("the real driver reads what a wrong handle points to");
    CUevent gone;
    OK(cu.cuEventCreate(&gone, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuEventRecord(gone, a));
    OK(cu.cuEventDestroy(gone)); /* the capture does not need it */
    REFUSED(INVALID_HANDLE, cu.cuEventRecord(gone, a));
    REFUSED(INVALID_HANDLE, cu.cuEventQuery(gone));
    CUgraph graph = NULL;
    OK(cu.cuStreamEndCapture(a, &graph));
    OK(cu.cuGraphDestroy(graph));
}

int main(void)
{
    CUmodule module;
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuMemAlloc(&memory, 4096));
    RUN(threads_feed_one_capture);
    RUN(captures_of_threads_are_apart);
    RUN(wrong_streams_are_refused);
    RUN(wrong_graphs_and_nodes_are_refused);
    RUN(destroyed_events_are_refused);
    RUN(threads_break_the_rules);
    RUN(streams_go_while_others_join);
    return test_done();
}
