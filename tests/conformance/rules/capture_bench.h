// SPDX-License-Identifier: Apache-2.0
/* What the tests of capture use: streams, events, words of device memory. */
#ifndef CAPTURE_BENCH_H
#define CAPTURE_BENCH_H
#include <pthread.h>

#include "../kernels.h"
#include "rule.h"

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED CU_STREAM_CAPTURE_MODE_RELAXED

static struct {
    CUcontext context;
    CUmodule module;
    CUfunction store, nothing;
    CUstream a, b, c, blocking; /* the others are CU_STREAM_NON_BLOCKING */
    CUevent fork, join, other;  /* without timing */
    CUevent timing;
    CUdeviceptr at; /* 16 words, 0 */
} s;

static void bench_open(void)
{
    OK(cu.cuCtxGetCurrent(&s.context));
    OK(cu.cuModuleLoadData(&s.module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&s.store, s.module, "store"));
    OK(cu.cuModuleGetFunction(&s.nothing, s.module, "nothing"));
    OK(cu.cuStreamCreate(&s.a, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&s.b, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&s.c, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&s.blocking, CU_STREAM_DEFAULT));
    OK(cu.cuEventCreate(&s.fork, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&s.join, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&s.other, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventCreate(&s.timing, CU_EVENT_DEFAULT));
    OK(cu.cuMemAlloc(&s.at, 64));
    OK(cu.cuMemsetD32(s.at, 0, 16));
    OK(cu.cuCtxSynchronize());
}

static void bench_close(void)
{
    OK(cu.cuCtxSynchronize());
    OK(cu.cuStreamDestroy(s.a));
    OK(cu.cuStreamDestroy(s.b));
    OK(cu.cuStreamDestroy(s.c));
    OK(cu.cuStreamDestroy(s.blocking));
    OK(cu.cuEventDestroy(s.fork));
    OK(cu.cuEventDestroy(s.join));
    OK(cu.cuEventDestroy(s.other));
    OK(cu.cuEventDestroy(s.timing));
    OK(cu.cuMemFree(s.at));
    OK(cu.cuModuleUnload(s.module));
}

/* Every test has objects of its own: one that fails leaves nothing to the next. */
#define CAPTURE_TEST(id, test)                                                           \
    do {                                                                                 \
        if (!rule_listing && rule_wanted(#id))                                           \
            bench_open();                                                                \
        RULE_TEST(id, test);                                                             \
        if (!rule_listing && rule_wanted(#id))                                           \
            bench_close();                                                               \
    } while (0)

static inline CUresult put(CUstream stream, unsigned word, unsigned value)
{
    CUdeviceptr at = s.at + 4ull * word;
    void *params[] = {&at, &value};
    return cu.cuLaunchKernel(s.store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static inline unsigned word(unsigned index)
{
    unsigned out = 0xdead;
    OK(cu.cuMemcpyDtoH(&out, s.at + 4ull * index, sizeof(out)));
    return out;
}

static inline CUresult begin(CUstream stream, CUstreamCaptureMode mode)
{
    return cu.cuStreamBeginCapture(stream, mode);
}

/* A result where the status cannot be had. */
static inline int status(CUstream stream)
{
    CUstreamCaptureStatus out = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = cu.cuStreamIsCapturing(stream, &out);
    return result != CUDA_SUCCESS ? (int)result : (int)out;
}

static inline size_t nodes_of(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static inline size_t edges_of(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    return count;
}

static inline CUgraph end(CUstream stream)
{
    CUgraph graph = NULL;
    OK(cu.cuStreamEndCapture(stream, &graph));
    CHECK(graph != NULL);
    return graph;
}

/* Ends a capture that must have `nodes` of them, and drops it. */
static inline void end_with(CUstream stream, size_t nodes)
{
    CUgraph graph = end(stream);
    if (graph == NULL)
        return;
    CHECK(nodes_of(graph) == nodes);
    OK(cu.cuGraphDestroy(graph));
}

/* The end must fail with `code`, and the stream is out of the capture. */
static inline void end_fails(CUstream stream, CUresult code)
{
    CUgraph graph = (CUgraph)&s;
    CHECK_IS(cu.cuStreamEndCapture(stream, &graph), code);
    CHECK(graph == NULL);
    CHECK(status(stream) == CU_STREAM_CAPTURE_STATUS_NONE);
}

/* b joins the capture of a. */
static inline void fork_b(void)
{
    OK(cu.cuEventRecord(s.fork, s.a));
    OK(cu.cuStreamWaitEvent(s.b, s.fork, 0));
}

/* a waits for b. */
static inline void join_b(void)
{
    OK(cu.cuEventRecord(s.join, s.b));
    OK(cu.cuStreamWaitEvent(s.a, s.join, 0));
}

static inline void run_graph(CUgraph graph)
{
    CUgraphExec exec;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, s.a));
    OK(cu.cuStreamSynchronize(s.a));
    OK(cu.cuGraphExecDestroy(exec));
}

/* Runs `work` in a thread of its own. */
struct elsewhere {
    CUresult (*work)(void);
    CUresult result;
};

static inline void *elsewhere_main(void *user)
{
    struct elsewhere *job = user;
    OK(cu.cuCtxSetCurrent(s.context));
    job->result = job->work();
    return NULL;
}

static inline CUresult elsewhere(CUresult (*work)(void))
{
    struct elsewhere job = {work, CUDA_SUCCESS};
    pthread_t thread;
    if (!CHECK(pthread_create(&thread, NULL, elsewhere_main, &job) == 0))
        exit(1);
    pthread_join(thread, NULL);
    return job.result;
}

/* A call that captures may forbid. */
static inline CUresult allocate(void)
{
    CUdeviceptr at;
    const CUresult result = cu.cuMemAlloc(&at, 4096);
    if (result == CUDA_SUCCESS)
        OK(cu.cuMemFree(at));
    return result;
}

static inline CUresult end_a(void)
{
    CUgraph graph;
    const CUresult result = cu.cuStreamEndCapture(s.a, &graph);
    if (result == CUDA_SUCCESS)
        OK(cu.cuGraphDestroy(graph));
    return result;
}

/* The edge after `count` = 1 node, as cuStreamGetCaptureInfo() says it. */
static inline CUgraphEdgeData half_edge(CUstream stream)
{
    CUstreamCaptureStatus at = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphEdgeData *data = NULL;
    const CUgraphNode *nodes = NULL;
    size_t count = 0;
    OK(cu.cuStreamGetCaptureInfo(stream, &at, NULL, NULL, &nodes, &data, &count));
    if (CHECK(count == 1 && data != NULL))
        return data[0];
    return (CUgraphEdgeData){.from_port = 99};
}

static inline CUgraphNode frontier(CUstream stream)
{
    CUstreamCaptureStatus at = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphEdgeData *data = NULL;
    const CUgraphNode *nodes = NULL;
    size_t count = 0;
    OK(cu.cuStreamGetCaptureInfo(stream, &at, NULL, NULL, &nodes, &data, &count));
    return CHECK(count == 1 && nodes != NULL) ? nodes[0] : NULL;
}

static inline CUgraph captured_graph(CUstream stream)
{
    CUstreamCaptureStatus at = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    OK(cu.cuStreamGetCaptureInfo(stream, &at, NULL, &graph, NULL, NULL, NULL));
    CHECK(graph != NULL);
    return graph;
}
#endif
