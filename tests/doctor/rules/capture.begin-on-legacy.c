// SPDX-License-Identifier: Apache-2.0
// capture.begin-on-legacy
//
// The legacy default stream (stream 0) cannot capture: cuStreamBeginCapture() fails with
// 900, and if nobody looks at that, the work after it runs immediately. Capture on a stream
// that the program created, or on the per-thread default stream; the graph may then be
// launched on stream 0.
#include "broken.h"

/* Stream 0, and no look at the result. */
static void first(void)
{
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* <-- first */
    FILL(NULL, a, 1);
    CU(cuStreamEndCapture(NULL, &graph));
    EXPECT(graph == NULL && float_at(a, 0) == 1);
}

/* By its other name, into a graph; here the program gives up. */
static void capture(void *user)
{
    const CUstream zero = CU_STREAM_LEGACY;
    const CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUgraph graph = NULL;
    (void)user;
    CU(cuGraphCreate(&graph, 0));
    CU(cuStreamBeginCaptureToGraph(zero, graph, NULL, NULL, 0, mode)); /* <-- second */
    CU(cuGraphDestroy(graph));
}

static void second(void)
{
    in_thread(capture, NULL);
}

/* The per-thread default stream captures; the graph is launched on stream 0. */
static void near(void)
{
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(CU_STREAM_PER_THREAD, a, 2);
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    replay_once(graph, NULL);
    EXPECT(float_at(a, 4) == 2);
}

BROKEN(first, second, near)
