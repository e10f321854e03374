// SPDX-License-Identifier: Apache-2.0
// capture.legacy-stream
//
// A stream that was created without CU_STREAM_NON_BLOCKING is ordered with the legacy
// default stream. While it captures, any use of stream 0 in its context, by any thread
// and in any mode, fails with 906 and makes the capture invalid; synchronous copies use
// stream 0, too. Put the work on a stream of its own or on the captured one; a
// non-blocking capture stream avoids the error, but then that work runs immediately and is
// not in the graph.
#include "broken.h"

/* A synchronous copy. */
static void first(void)
{
    CUstream stream = NULL;
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    float value = 0;
    CU(cuStreamCreate(&stream, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuMemcpyDtoH(&value, a, sizeof(value))); /* <-- first */
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

static void fill_on_zero(void *user)
{
    const CUdeviceptr *out = user;
    FILL(NULL, *out, 5); /* <-- second */
}

/* A kernel of another thread; relaxed mode does not help. */
static void second(void)
{
    CUstream stream = NULL;
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamCreateWithPriority(&stream, 0, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, a, 1);
    in_thread(fill_on_zero, &b);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* A non-blocking stream captures while stream 0 works on other memory; a blocking one
 * while a stream of its own does. */
static void near(void)
{
    CUstream stream = new_stream(), blocking = NULL, aside = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    float value = 1;
    CU(cuStreamCreate(&blocking, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, a, 1);
    CU(cuMemcpyDtoH(&value, b, sizeof(value)));
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(value == 0 && float_at(a, 1) == 2);
    CU(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(blocking, a, 3);
    FILL(aside, b, 4);
    CU(cuStreamEndCapture(blocking, &graph));
    replay_once(graph, blocking);
    CU(cuStreamSynchronize(aside));
    EXPECT(float_at(a, 1) == 3 && float_at(b, 1) == 4);
}

BROKEN(first, second, near)
