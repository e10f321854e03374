// SPDX-License-Identifier: Apache-2.0
// capture.graph-launch
//
// cuGraphLaunch() into a stream that captures does not become a child graph: it fails
// with 900 in every mode, and the capture is invalid. Add the graph as a child node
// (cuStreamGetCaptureInfo, cuGraphAddChildGraphNode, cuStreamUpdateCaptureDependencies),
// or launch it after the capture.
#include "broken.h"

static CUgraph small_graph(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 5);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraphExec small_exec(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = small_graph(stream, out);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraphExec inner = small_exec(stream, a);
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, b, 1);
    CU(cuGraphLaunch(inner, stream)); /* <-- first */
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
    CU(cuGraphExecDestroy(inner));
}

/* Into a stream that joined a relaxed capture, in a thread, by a helper. */
static void layer(CUgraphExec exec, CUstream stream)
{
    CU(cuGraphLaunch(exec, stream)); /* <-- second */
}

static void capture(void *user)
{
    CUgraphExec *inner = user;
    CUstream side = new_stream();
    CUevent event = new_event();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    fork_to(CU_STREAM_PER_THREAD, side, event);
    layer(*inner, side);
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    CUgraphExec inner = small_exec(new_stream(), a);
    in_thread(capture, &inner);
    CU(cuGraphExecDestroy(inner));
}

/* As a child node; and launched on another stream meanwhile, which is not captured. */
static void near(void)
{
    CUstream stream = new_stream(), other = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph child = small_graph(stream, a), open = NULL, graph = NULL;
    CUgraphExec inner = small_exec(stream, a);
    CUstreamCaptureStatus status;
    const CUgraphNode *after = NULL;
    size_t count = 0;
    CUgraphNode node = NULL;
    CU(cuGraphLaunch(inner, other));
    CU(cuStreamSynchronize(other));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, b, 1);
    CU(cuStreamGetCaptureInfo(stream, &status, NULL, &open, &after, NULL, &count));
    CU(cuGraphAddChildGraphNode(&node, open, after, count, child));
    CU(cuStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    SCALE_ADD(stream, b, a, 1);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(b, 3) == 6);
    CU(cuGraphDestroy(child));
    CU(cuGraphExecDestroy(inner));
}

BROKEN(first, second, near)
