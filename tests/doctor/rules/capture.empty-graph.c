// SPDX-License-Identifier: Apache-2.0
// capture.empty-graph
//
// Nothing was recorded between the begin and the end of the capture: the work went to
// another stream, and has run already. The graph is empty, and launching it succeeds and
// does nothing. Launch the work on the capturing stream.
#include "broken.h"

/* A helper that has its own idea of the stream. */
static CUstream library_stream;

static void scale(CUdeviceptr out, CUdeviceptr in)
{
    SCALE_ADD(library_stream, out, in, 2);
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    library_stream = new_stream();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    scale(a, b);
    CU(cuStreamEndCapture(stream, &graph)); /* <-- first */
    replay_once(graph, stream);
}

/* Synchronous fills and copies, in a thread: they use the default stream. */
static void capture(void *user)
{
    CUdeviceptr *out = user;
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32(*out, 1, FLOATS));
    CU(cuMemcpyDtoD(*out, *out + 2048, 1024));
    CU(cuStreamEndCapture(stream, &graph)); /* <-- second */
    replay_once(graph, stream);
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(capture, &a);
}

/* Asks whether capturing works at all, and throws the empty graph away; then a capture
 * with work. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphDestroy(graph));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 1) == 2);
}

BROKEN(first, second, near)
