// SPDX-License-Identifier: Apache-2.0
// instantiate.appended-capture
//
// cuStreamBeginCaptureToGraph adds to what a graph has. A step that is recorded again into the
// graph of the last recording, depending on none of its nodes, is there twice, side by side.
// Record into a new graph. Silent where the new nodes are of other kernels or follow old ones.
#include "broken.h"

static CUgraphExec record(CUstream stream, CUgraph into, CUdeviceptr x, float value)
{
    CUgraph same = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCaptureToGraph(stream, into, NULL, NULL, 0, /* <-- first */
                                   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, x, value);
    CU(cuStreamEndCapture(stream, &same));
    CU(cuGraphInstantiateWithFlags(&exec, into, 0));
    return exec;
}

static void replay(CUgraphExec exec, CUstream stream)
{
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A new rate, a new recording. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CU(cuGraphCreate(&graph, 0));
    replay(record(stream, graph, x, 1), stream);
    replay(record(stream, graph, x, 2), stream);
    CU(cuGraphDestroy(graph));
}

/* The first executable lives on; a recording of several kernels. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = NULL, same = NULL;
    CUgraphExec exec[2] = {NULL, NULL};
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, /* <-- second */
                                       CU_STREAM_CAPTURE_MODE_RELAXED));
        COPY(stream, x, y);
        COPY(stream, y, x);
        CU(cuStreamEndCapture(stream, &same));
        CU(cuGraphInstantiateWithFlags(&exec[i], graph, 0));
    }
    replay(exec[0], stream);
    replay(exec[1], stream);
    CU(cuGraphDestroy(graph));
}

/* A graph of two pieces, recorded before it is made executable; then one that follows. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = NULL, same = NULL;
    CUgraphNode nodes[2] = {NULL, NULL};
    CUgraphExec exec = NULL;
    size_t count = 2;
    CU(cuGraphCreate(&graph, 0));
    const CUdeviceptr outs[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                       CU_STREAM_CAPTURE_MODE_RELAXED));
        FILL(stream, outs[i], 1);
        CU(cuStreamEndCapture(stream, &same));
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    replay(exec, stream);
    CU(cuGraphGetNodes(graph, nodes, &count));
    CU(cuStreamBeginCaptureToGraph(stream, graph, nodes, NULL, count,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    SCALE_ADD(stream, y, x, 2);
    CU(cuStreamEndCapture(stream, &same));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    replay(exec, stream);
    EXPECT(float_at(y, 3) == 3);
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
