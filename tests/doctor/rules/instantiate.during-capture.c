// SPDX-License-Identifier: Apache-2.0
// instantiate.during-capture
//
// Instantiating a graph allocates, which no thread may do that has a capture open, nor
// any other while there is one of mode GLOBAL: it fails with
// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and invalidates the capture, and the executable that
// is launched later is none. Instantiate before the capture begins or after it has ended,
// or capture with mode THREAD_LOCAL (other threads) or RELAXED.
#include "broken.h"

static CUgraph graph;
static CUgraphExec exec;

static void capture_fill(CUstream stream, CUdeviceptr out)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 5);
    CU(cuStreamEndCapture(stream, &graph));
}

/* A cache that makes its executable when it is first asked, in the midst of a capture. */
static void first(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph outer = NULL;
    capture_fill(stream, x);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, x, 1);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
    CU(cuStreamEndCapture(stream, &outer));
    CU(cuGraphLaunch(exec, side));
    EXPECT(outer == NULL);
    CU(cuGraphDestroy(graph));
}

/* Another thread's capture is in the way. */
static void instantiate(void *user)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    (void)user;
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph outer = NULL;
    capture_fill(stream, x);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    in_thread(instantiate, NULL);
    CU(cuStreamEndCapture(stream, &outer));
    EXPECT(outer == NULL);
    CU(cuGraphDestroy(graph));
}

/* Another thread, while a capture of mode THREAD_LOCAL is open; and mode RELAXED. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph outer = NULL;
    capture_fill(stream, x);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, x, 1);
    in_thread(instantiate, NULL);
    CU(cuStreamEndCapture(stream, &outer));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(outer));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, x, 1);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuStreamEndCapture(stream, &outer));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 2) == 5);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(outer));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
