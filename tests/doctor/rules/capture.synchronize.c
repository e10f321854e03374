// SPDX-License-Identifier: Apache-2.0
// capture.synchronize
//
// What is captured does not run, so it cannot be waited for or asked: synchronizing or
// querying the capturing stream, and synchronizing its context from whatever thread, fail
// with 900 in every mode, and the capture is invalid. Move the wait out of the region;
// where its outcome steers what comes next, keep the decision on the device, or split the
// work into two graphs.
#include "broken.h"

/* Reads a result back in the midst of the work. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, a, 1);
    CU(cuStreamSynchronize(stream)); /* <-- first */
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

static void wait_for_all(void *user)
{
    (void)user;
    CU(cuCtxSynchronize()); /* <-- second */
}

/* Another thread waits for the whole context; thread-local mode does not help. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(a, 1, FLOATS, stream));
    in_thread(wait_for_all, NULL);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

static void wait_for_stream(void *user)
{
    CUstream *stream = user;
    CU(cuStreamSynchronize(*stream));
}

/* Another stream is waited for: in a relaxed capture, and by another thread. */
static void near(void)
{
    CUstream stream = new_stream(), other = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    FILL(other, b, 1);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, a, 1);
    CU(cuStreamSynchronize(other));
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, a, 2);
    in_thread(wait_for_stream, &other);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    CU(cuCtxSynchronize());
    EXPECT(float_at(a, 0) == 2);
}

BROKEN(first, second, near)
