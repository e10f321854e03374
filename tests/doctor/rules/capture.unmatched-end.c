// SPDX-License-Identifier: Apache-2.0
// capture.unmatched-end
//
// A capture ends on the stream on which it began. On a stream that only joined it,
// cuStreamEndCapture() fails with 903 and the capture is invalid; on a stream that does
// not capture at all it fails with 401, and the capture stays open. End it on the origin
// stream; the others need a join, no end.
#include "broken.h"

/* The side stream is ended. */
static void first(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL, none = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fork_to(stream, side, event);
    FILL(side, a, 1);
    join_from(stream, side, event);
    CU(cuStreamEndCapture(side, &graph)); /* <-- first */
    CU(cuStreamEndCapture(stream, &none));
    EXPECT(graph == NULL && none == NULL);
}

/* A helper ends the stream it knows, which is another one. */
static CUgraph finish(CUstream stream)
{
    CUgraph graph = NULL;
    CU(cuStreamEndCapture(stream, &graph)); /* <-- second */
    return graph;
}

static void capture(void *user)
{
    CUdeviceptr *out = user;
    CUstream other = new_stream();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD32Async(*out, 1, FLOATS, CU_STREAM_PER_THREAD));
    EXPECT(finish(other) == NULL);
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    replay_once(graph, CU_STREAM_PER_THREAD);
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(capture, &a);
}

/* Two captures at once, each ended where it began, the first one last. */
static void near(void)
{
    CUstream outer = new_stream(), inner = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graphs[2] = {NULL, NULL};
    CU(cuStreamBeginCapture(outer, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(outer, a, 1);
    CU(cuStreamBeginCapture(inner, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(inner, b, 1);
    CU(cuStreamEndCapture(inner, &graphs[0]));
    SCALE_ADD(outer, a, a, 1);
    CU(cuStreamEndCapture(outer, &graphs[1]));
    replay_once(graphs[0], inner);
    replay_once(graphs[1], outer);
    EXPECT(float_at(a, 0) == 2 && float_at(b, 0) == 1);
}

BROKEN(first, second, near)
