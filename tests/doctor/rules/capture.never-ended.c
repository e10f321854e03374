// SPDX-License-Identifier: Apache-2.0
// capture.never-ended
//
// A function began a capture and left without ending it: an early return, an exception.
// The stream then captures on, so beginning again fails with 401, and unsafe calls of the
// same thread fail with 900 far away from the mistake. Call cuStreamEndCapture() on every
// way out, and ignore the graph of a capture that went wrong; nothing else heals the
// thread, and nothing more is needed.
#include "broken.h"

static int has_work(int index)
{
    return index != 0;
}

static CUgraph capture_one(CUstream stream, CUdeviceptr out, int index)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); /* <-- first */
    if (!has_work(index))
        return NULL;
    FILL(stream, out, 1);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The next capture of the stream is refused. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    for (int i = 0; i < 2; i++) {
        CUgraph graph = capture_one(stream, a, i);
        if (graph != NULL)
            replay_once(graph, stream);
    }
}

static void begin_and_leave(CUstream stream, CUdeviceptr out)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL)); /* <-- second */
    FILL(stream, out, 1);
    if (!has_work(0))
        return;
    CUgraph graph = NULL;
    CU(cuStreamEndCapture(stream, &graph));
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr out = 0;
    CU(cuMemAlloc(&out, 4096));
    return out;
}

static void work(void *user)
{
    const CUdeviceptr *out = user;
    begin_and_leave(new_stream(), *out);
    EXPECT(allocate() == 0);
}

/* An allocation, elsewhere and with no capture in mind, is refused. */
static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(work, &a);
}

/* The early return ends the capture, and forgets its graph. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        if (has_work(i))
            FILL(stream, a, 6);
        CU(cuStreamEndCapture(stream, &graph));
        if (!has_work(i))
            CU(cuGraphDestroy(graph));
    }
    replay_once(graph, stream);
    EXPECT(float_at(a, 2) == 6);
}

BROKEN(first, second, near)
