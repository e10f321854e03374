// SPDX-License-Identifier: Apache-2.0
/* Captures on paths that tests/doctor/rules does not take: what must be reported of each, or
 * that nothing must, is in CMakeLists.txt.
 * usage: capture_paths NAME */
#include "tests/doctor/rules/broken.h"

#include <stdbool.h>

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static CUstream stream;
static CUdeviceptr a, b;

static void work(void)
{
    FILL(stream, a, 1);
    SCALE_ADD(stream, a, b, 2);
}

static CUgraph end(void)
{
    CUgraph graph = NULL;
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraph try_capture(bool is_bad)
{
    CUdeviceptr none = 0;
    CU(cuStreamBeginCapture(stream, GLOBAL));
    work();
    if (is_bad)
        CU(cuMemAlloc(&none, 64));
    return end();
}

/* Asks by trying, and runs eagerly. */
static void probe(void)
{
    for (int i = 0; i < 3; i++)
        if (try_capture(true) == NULL)
            work();
    CU(cuStreamSynchronize(stream));
}

/* One capture of five cannot be; that one runs eagerly. */
static void probe_one_of_many(void)
{
    for (int i = 0; i < 5; i++) {
        CUgraph graph = try_capture(i == 2);
        if (graph == NULL)
            work();
        else
            replay_once(graph, stream);
    }
    CU(cuStreamSynchronize(stream));
}

static int allocate_and_fill(bool captures)
{
    CUdeviceptr out = 0;
    CUgraph graph = NULL;
    if (captures)
        CU(cuStreamBeginCapture(stream, GLOBAL));
    int failed = CU(cuMemAlloc(&out, FLOATS * sizeof(float))) != CUDA_SUCCESS;
    if (!failed)
        FILL(stream, out, 1);
    if (captures)
        failed |= CU(cuStreamEndCapture(stream, &graph)) != CUDA_SUCCESS;
    return failed;
}

/* Fails before there is any work, and the same function runs again without a capture. */
static void probe_at_once(void)
{
    if (allocate_and_fill(true))
        EXPECT(allocate_and_fill(false) == 0);
    CU(cuStreamSynchronize(stream));
}

/* Goes on with what it did not get, time and again. */
static void ignore(void)
{
    CUgraphExec exec = NULL;
    for (int i = 0; i < 4; i++) {
        CUgraph graph = try_capture(true);
        CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        CU(cuGraphLaunch(exec, stream));
    }
    work();
}

/* Several mistakes in one capture are one finding. */
static void several(void)
{
    CUdeviceptr none = 0;
    CU(cuStreamBeginCapture(stream, GLOBAL));
    work();
    CU(cuMemAlloc(&none, 4));
    CU(cuStreamSynchronize(stream));
    CU(cuCtxSynchronize());
    end();
}

static void again(void)
{
    EXPECT(try_capture(true) == NULL);
    replay_once(try_capture(false), stream);
}

static void own_thread_relaxed(void)
{
    CUdeviceptr memory = 0;
    CUstreamCaptureMode mode = RELAXED;
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuStreamBeginCapture(stream, GLOBAL));
    work();
    CU(cuMemAlloc(&memory, 64));
    replay_once(end(), stream);
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuMemFree(memory));
}

/* Through the symbols of the per-thread default stream: stream 0 may capture there. */
static void per_thread(void)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture_v2_ptsz(NULL, GLOBAL));
    CU(cuMemsetD32Async_ptsz(a, 1, FLOATS, NULL));
    CU(cuStreamEndCapture_ptsz(NULL, &graph));
    replay_once(graph, stream);
}

static void per_thread_wait(void)
{
    float value = 0;
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture_v2_ptsz(NULL, GLOBAL));
    CU(cuMemcpyDtoH_v2_ptds(&value, a, sizeof(value)));
    CU(cuStreamEndCapture_ptsz(NULL, &graph));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_workspace(void)
{
    CUdeviceptr workspace = 0;
    CU(cuMemAlloc(&workspace, 4096));
}

static void set_up_once(void)
{
    CU(cuStreamBeginCapture(stream, GLOBAL));
    work();
    pthread_once(&once, make_workspace);
    end();
}

/* New memory is filled once while it is made. */
static void constants(void)
{
    const float values[4] = {1, 2, 3, 4};
    CUdeviceptr table = 0;
    CU(cuStreamBeginCapture(stream, RELAXED));
    CU(cuMemAlloc(&table, FLOATS * sizeof(float)));
    CU(cuMemcpyHtoD(table, values, sizeof(values)));
    SCALE_ADD(stream, a, table, 1);
    replay_once(end(), stream);
    CU(cuMemFree(table));
}

/* Input that was there before is refilled outside the graph. */
static void refill(void)
{
    const float values[4] = {1, 2, 3, 4};
    CU(cuStreamBeginCapture(stream, GLOBAL));
    FILL(stream, a, 1);
    CU(cuMemcpyHtoD(b, values, sizeof(values)));
    SCALE_ADD(stream, a, b, 1);
    replay_once(end(), stream);
}

static void leave_open(void *user)
{
    (void)user;
    CU(cuStreamBeginCapture(stream, GLOBAL));
    FILL(stream, a, 1);
}

/* A thread ends with its capture open; others are refused. */
static void left_by_thread(void)
{
    CUdeviceptr none = 0;
    in_thread(leave_open, NULL);
    CU(cuMemAlloc(&none, 64));
}

static void begin_elsewhere(void)
{
    if (cuStreamBeginCapture(NULL, GLOBAL) != CUDA_SUCCESS)
        replay_once(try_capture(false), stream);
}

static void twice_into_one_graph(void)
{
    CUgraph graph = NULL;
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) { /* the second after the nodes of the first */
        CUgraphNode before[2];
        size_t count = 2;
        CU(cuGraphGetNodes(graph, before, &count));
        CU(cuStreamBeginCaptureToGraph(stream, graph, before, NULL, count, THREAD_LOCAL));
        work();
        EXPECT(end() == graph);
    }
    replay_once(graph, stream);
}

/* Left by an early return; what fails for it is elsewhere, though inlined as well. */
static inline __attribute__((always_inline)) int build_inline(bool is_supported)
{
    CU(cuStreamBeginCapture(stream, GLOBAL));
    work();
    if (!is_supported)
        return -1;
    return end() != NULL;
}

static inline __attribute__((always_inline)) CUdeviceptr grow_inline(void)
{
    CUdeviceptr out = 0;
    CU(cuMemAlloc(&out, 4096));
    return out;
}

static void left_early_inlined(void)
{
    EXPECT(build_inline(false) < 0);
    EXPECT(grow_inline() == 0);
    EXPECT(grow_inline() == 0);
}

/* The refused launch is not made up for by a replay of the smaller graph alone. */
static void another_graph_instead(void)
{
    CU(cuStreamBeginCapture(stream, RELAXED));
    work();
    CUgraphExec small = end_capture(stream);
    CU(cuStreamBeginCapture(stream, RELAXED));
    work();
    CU(cuGraphLaunch(small, stream));
    EXPECT(end() == NULL);
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(small, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(small));
}

/* Asked twice, before the end of the capture that the first question broke. */
static void asks_again(void)
{
    CUevent event = new_event();
    CU(cuStreamBeginCapture(stream, RELAXED));
    for (int i = 0; i < 3; i++) {
        work();
        CU(cuEventRecord(event, stream));
        EXPECT(cuEventQuery(event) != CUDA_SUCCESS);
    }
    EXPECT(end() == NULL);
}

static void ask_event(void *event)
{
    (void)pthread_setname_np(pthread_self(), "watchdog");
    CU(cuEventQuery(event));
}

/* The program's own, no library's. */
static void own_watchdog(void)
{
    CUevent event = new_event();
    work();
    CU(cuEventRecord(event, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuStreamBeginCapture(stream, GLOBAL));
    work();
    in_thread(ask_event, event);
    EXPECT(end() == NULL);
}

/* One graph a length, forever; each launched once. */
static void endless_cache(void)
{
    static CUgraphExec execs[200];
    for (int i = 0; i < 200; i++) {
        CU(cuStreamBeginCapture(stream, GLOBAL));
        LAUNCH(fill, (unsigned)(1 + i % 40), stream, &a, &(float){1},
               &(unsigned){FLOATS});
        execs[i] = end_capture(stream);
        CU(cuGraphLaunch(execs[i], stream));
        CU(cuStreamSynchronize(stream));
    }
}

/* After an update by another graph setters still take the nodes of the first: the node
 * has the new buffer, and the old one may go. */
static void set_after_update(void)
{
    CUgraph graphs[2];
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr in = new_floats();
    size_t count = 1;
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(stream, GLOBAL));
        COPY(stream, a, in);
        graphs[i] = end();
    }
    CU(cuGraphGetNodes(graphs[0], &node, &count));
    CU(cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
    CU(cuGraphExecUpdate(exec, graphs[1], &info));
    CU(cuGraphDestroy(graphs[1]));
    for (int i = 0; i < 3; i++) {
        CUdeviceptr next = new_floats();
        unsigned n = FLOATS;
        void *arguments[] = {&a, &next, &n};
        const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(copy, arguments);
        CU(cuGraphExecKernelNodeSetParams(exec, node, &params));
        CU(cuStreamSynchronize(stream));
        CU(cuMemFree(in));
        in = next;
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graphs[0]));
}

/* Each refusal is followed by an instantiation and by launches; later there are no
 * graphs. */
static void trained_then_eager(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec = NULL;
    for (int epoch = 0; epoch < 5; epoch++) {
        CU(cuStreamBeginCapture(stream, GLOBAL));
        for (int i = 0; i <= epoch; i++)
            SCALE_ADD(stream, a, b, 2);
        CUgraph graph = end();
        if (exec == NULL || cuGraphExecUpdate(exec, graph, &info) != CUDA_SUCCESS) {
            if (exec != NULL)
                CU(cuGraphExecDestroy(exec));
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        }
        CU(cuGraphDestroy(graph));
        for (int i = 0; i < 20; i++)
            CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    for (int i = 0; i < 40; i++)
        SCALE_ADD(stream, a, b, 2);
    CU(cuStreamSynchronize(stream));
}

/* Two nodes, but long ones. */
static void two_long_nodes(void)
{
    CU(cuStreamBeginCapture(stream, GLOBAL));
    SPIN(stream, 400);
    SPIN(stream, 400);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 80; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* The graph frees its result itself; the address is read after the launch. */
static void read_what_was_freed(void)
{
    CUdeviceptr result = 0;
    CU(cuStreamBeginCapture(stream, GLOBAL));
    CU(cuMemAllocAsync(&result, FLOATS * sizeof(float), stream));
    FILL(stream, result, 1);
    CU(cuMemFreeAsync(result, stream));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(cuMemsetD32Async(result, 0, FLOATS, stream) != CUDA_SUCCESS);
    CU(cuGraphExecDestroy(exec));
}

/* The graph has the base of a cache; other pages of it are copied out and in meanwhile.
 */
static void paged_cache(void)
{
    enum { PAGE = 4096 };
    CUstream io = new_stream();
    CUdeviceptr pages = 0;
    char *host = NULL;
    CU(cuMemAlloc(&pages, 16 * PAGE));
    CU(cuMemAllocHost((void **)&host, 2 * PAGE));
    CU(cuStreamBeginCapture(stream, GLOBAL));
    COPY(stream, a, pages);
    CUgraphExec exec = end_capture(stream);
    for (unsigned i = 0; i < 6; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyHtoDAsync(pages + (8 + i) * PAGE, host, PAGE, io));
        CU(cuMemcpyDtoHAsync(host + PAGE, pages + (2 + i) * PAGE, PAGE, io));
        CU(cuStreamSynchronize(io));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* What came from the host once is for something that this run does not come to. */
static void one_upload_unused(void)
{
    static float x[FLOATS];
    CU(cuMemcpyHtoDAsync(b, x, sizeof(x), stream));
    CU(cuStreamBeginCapture(stream, GLOBAL));
    COPY(stream, a, b);
    CUgraphExec exec = end_capture(stream);
    const CUdeviceptr mask = new_floats();
    for (int i = 0; i < 8; i++) {
        CU(cuGraphLaunch(exec, stream));
        if (i == 3)
            CU(cuMemcpyHtoDAsync(mask, x, sizeof(x), stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

static void add_to(CUdeviceptr out)
{
    SCALE_ADD(stream, out, b, 1);
}

/* Allocated by who captures, and worked on after each replay, in its order: an output.
 */
static void own_output_again(void)
{
    CUdeviceptr output = 0;
    CU(cuStreamBeginCapture(stream, RELAXED));
    CU(cuMemAlloc(&output, FLOATS * sizeof(float)));
    add_to(output);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 5; i++) {
        CU(cuGraphLaunch(exec, stream));
        add_to(output);
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFree(output));
}

/* A stream pool as frameworks have: the race is seen all the same. */
static void race_of_many_streams(void)
{
    CUstream side = NULL;
    float *host = NULL;
    for (int i = 0; i < 160; i++)
        side = new_stream();
    CU(cuMemAllocHost((void **)&host, FLOATS * sizeof(float)));
    CU(cuStreamBeginCapture(stream, GLOBAL));
    FILL(stream, a, 1);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, NULL));
    CU(cuMemcpyDtoHAsync(host, a, FLOATS * sizeof(float), side));
    CU(cuStreamSynchronize(side));
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
}

/* An allocator that keeps memory of its own for each capture, got while it captures. */
static void segments_of_captures(void)
{
    enum { GRAPHS = 3 };
    CUgraphExec execs[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        CUdeviceptr segment = 0;
        CUstreamCaptureMode mode = RELAXED;
        CU(cuStreamBeginCapture(stream, THREAD_LOCAL));
        CU(cuThreadExchangeStreamCaptureMode(&mode));
        CU(cuMemAlloc(&segment, 20 << 20));
        CU(cuThreadExchangeStreamCaptureMode(&mode));
        COPY(stream, segment, a);
        SCALE_ADD(stream, b, segment, 2);
        execs[i] = end_capture(stream);
    }
    for (int i = 0; i < 2 * GRAPHS; i++)
        CU(cuGraphLaunch(execs[i % GRAPHS], stream));
    CU(cuStreamSynchronize(stream));
}

static float *step_input;

static CUgraphExec capture_step(void)
{
    CU(cuStreamBeginCapture(stream, GLOBAL));
    CU(cuMemcpyHtoDAsync(b, step_input, FLOATS * sizeof(float), stream));
    work();
    return end_capture(stream);
}

/* Pageable, alive, written again for each replay by those who own it: from here it cannot
 * be distinguished from memory that has become something else. */
static void refreshed_by_owner(void)
{
    step_input = calloc(FLOATS, sizeof(float));
    CUgraphExec exec = capture_step();
    for (int i = 0; i < 6; i++) {
        step_input[3] = (float)i;
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(float_at(b, 3) == (float)i);
    }
    CU(cuGraphExecDestroy(exec));
    free(step_input);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
#define WAY(name)                                                                        \
    {                                                                                    \
#name, name                                                                      \
    }
    WAY(probe),
    WAY(probe_one_of_many),
    WAY(probe_at_once),
    WAY(ignore),
    WAY(several),
    WAY(again),
    WAY(own_thread_relaxed),
    WAY(per_thread),
    WAY(per_thread_wait),
    WAY(set_up_once),
    WAY(constants),
    WAY(refill),
    WAY(left_by_thread),
    WAY(begin_elsewhere),
    WAY(twice_into_one_graph),
    WAY(refreshed_by_owner),
    WAY(left_early_inlined),
    WAY(another_graph_instead),
    WAY(asks_again),
    WAY(own_watchdog),
    WAY(endless_cache),
    WAY(race_of_many_streams),
    WAY(segments_of_captures),
    WAY(set_after_update),
    WAY(trained_then_eager),
    WAY(two_long_nodes),
    WAY(read_what_was_freed),
    WAY(paged_cache),
    WAY(one_upload_unused),
    WAY(own_output_again),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(argv[1], ways[i].name) != 0)
            continue;
        broken_open();
        stream = new_stream();
        a = new_floats();
        b = new_floats();
        ways[i].run();
        return broken_failures > 0;
    }
    return 2;
}
