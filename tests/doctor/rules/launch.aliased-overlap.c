// SPDX-License-Identifier: Apache-2.0
// launch.aliased-overlap
//
// Graphs that run one after the other share memory: the driver puts their allocations on
// the same pages, a program lets them share a scratch buffer. In two streams at once the
// driver takes pages for each, and remaps; graphs on one scratch buffer overwrite each
// other. Launch such graphs in one stream, order them by an event, or give each memory of
// its own.
// timing: launches that meet
#include "broken.h"

static CUgraphExec capture_temporary(CUstream stream, CUdeviceptr out, float value)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr temporary = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&temporary, 8 << 20, stream));
    FILL(stream, temporary, value);
    SPIN(stream, 100);
    COPY(stream, out, temporary);
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

/* Alone they share; then they run in two streams. */
static void first(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUgraphExec execs[2] = {capture_temporary(streams[0], new_floats(), 1),
                            capture_temporary(streams[0], new_floats(), 2)};
    CU(cuGraphLaunch(execs[0], streams[0]));
    CU(cuGraphLaunch(execs[1], streams[0]));
    CU(cuStreamSynchronize(streams[0]));
    for (int i = 0; i < 4; i++)
        CU(cuGraphLaunch(execs[i % 2], streams[i % 2])); /* <-- first */
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(execs[0]));
    CU(cuGraphExecDestroy(execs[1]));
}

/* By hand: two graphs fill and read the one scratch buffer, each in its own thread. */
struct job {
    CUgraphExec exec;
    pthread_barrier_t *barrier;
};

static CUgraphExec build(CUdeviceptr scratch, CUdeviceptr out, unsigned value)
{
    CUgraph graph = NULL;
    CUgraphNode fills = NULL, copies = NULL;
    CUgraphExec exec = NULL;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = scratch, .value = value, .elementSize = 4, .width = FLOATS, .height = 1};
    CUDA_MEMCPY3D copied = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = scratch,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = out,
                            .WidthInBytes = FLOATS * sizeof(float),
                            .Height = 1,
                            .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&fills, graph, NULL, 0, &set, context));
    CU(cuGraphAddMemcpyNode(&copies, graph, &fills, 1, &copied, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

static void *launch(void *user)
{
    struct job *job = user;
    CU(cuCtxSetCurrent(context));
    for (int i = 0; i < 3; i++) {
        pthread_barrier_wait(job->barrier);
        CU(cuGraphLaunch(job->exec, CU_STREAM_PER_THREAD)); /* <-- second */
        pthread_barrier_wait(job->barrier);
        CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    }
    return NULL;
}

static void second(void)
{
    pthread_barrier_t barrier;
    pthread_t threads[2];
    struct job jobs[2];
    CUdeviceptr scratch = new_floats();
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) {
        jobs[i].exec = build(scratch, new_floats(), (unsigned)i);
        jobs[i].barrier = &barrier;
        EXPECT(pthread_create(&threads[i], NULL, launch, &jobs[i]) == 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        CU(cuGraphExecDestroy(jobs[i].exec));
}

/* In one stream; in two streams by turns; and at once with a buffer each. */
static void near(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUevent event = new_event();
    CUgraphExec execs[2] = {capture_temporary(streams[0], new_floats(), 1),
                            capture_temporary(streams[0], new_floats(), 2)};
    for (int i = 0; i < 4; i++)
        CU(cuGraphLaunch(execs[i % 2], streams[0]));
    CU(cuCtxSynchronize());
    for (int i = 0; i < 4; i++) {
        CU(cuGraphLaunch(execs[i % 2], streams[i % 2]));
        fork_to(streams[i % 2], streams[(i + 1) % 2], event);
    }
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(execs[0]));
    CU(cuGraphExecDestroy(execs[1]));
    for (int i = 0; i < 2; i++)
        execs[i] = build(new_floats(), new_floats(), (unsigned)i);
    for (int i = 0; i < 4; i++)
        CU(cuGraphLaunch(execs[i % 2], streams[i % 2]));
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(execs[0]));
    CU(cuGraphExecDestroy(execs[1]));
}

BROKEN(first, second, near)
