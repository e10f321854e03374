// SPDX-License-Identifier: Apache-2.0
// memory.graph-memory-kept
//
// What nodes of graphs allocate stays reserved for graphs when the last of them is destroyed:
// cuMemAlloc and pools cannot have it. cuDeviceGraphMemTrim gives it back. Reported from 64 MiB on,
// where the program goes on and allocates 32 times or more outside graphs.
#include "broken.h"

enum { BYTES = 96 << 20, STEPS = 40 };

/* A graph that allocates and frees, launched once. */
static CUgraphExec calibrate(CUstream stream, CUgraph *graph)
{
    CUdeviceptr scratch = 0;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    FILL(stream, scratch, 1);
    CU(cuMemFreeAsync(scratch, stream));
    CU(cuStreamEndCapture(stream, graph));
    CU(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    return exec;
}

static void serve(void)
{
    for (int step = 0; step < STEPS; step++) {
        CUdeviceptr request = 0;
        CU(cuMemAlloc(&request, 4096));
        CU(cuMemFree(request));
    }
}

static void first(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = calibrate(stream, &graph);
    CU(cuGraphExecDestroy(exec)); /* <-- first */
    CU(cuGraphDestroy(graph));
    serve();
}

/* The second phase follows a trim that came too early, from pools. */
static void second(void)
{
    CUstream stream = new_stream();
    for (int phase = 0; phase < 2; phase++) {
        CUgraph graph = NULL;
        CUgraphExec exec = calibrate(stream, &graph);
        if (phase == 0)
            CU(cuDeviceGraphMemTrim(0));
        CU(cuGraphExecDestroy(exec)); /* <-- second */
        CU(cuGraphDestroy(graph));
    }
    for (int step = 0; step < STEPS; step++) {
        CUdeviceptr request = 0;
        CU(cuMemAllocAsync(&request, 4096, stream));
        CU(cuMemFreeAsync(request, stream));
    }
    CU(cuStreamSynchronize(stream));
}

/* Trimmed; and a graph that is still there, whose memory it is. */
static void near(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL, kept = NULL;
    CU(cuGraphExecDestroy(calibrate(stream, &graph)));
    CU(cuGraphDestroy(graph));
    CU(cuDeviceGraphMemTrim(0));
    serve();
    CUgraphExec exec = calibrate(stream, &kept);
    CU(cuGraphExecDestroy(calibrate(stream, &graph)));
    CU(cuGraphDestroy(graph));
    serve();
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(kept));
}

BROKEN(first, second, near)
