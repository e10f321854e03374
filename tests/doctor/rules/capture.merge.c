// SPDX-License-Identifier: Apache-2.0
// capture.merge
//
// A stream that is in one capture was made to wait for an event of another capture that
// is open as well. That would make one graph of two: the wait fails with 902, and both
// captures are invalid. Mostly a cached side stream or event is used by two captures at
// once. Give each capture its own side streams, or end one before the other begins.
#include "broken.h"

/* Two captures, and one waits for the other. */
static void first(void)
{
    CUstream left = new_stream(), right = new_stream();
    CUevent event = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graphs[2] = {NULL, NULL};
    CU(cuStreamBeginCapture(left, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuStreamBeginCapture(right, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(left, a, 1);
    CU(cuEventRecord(event, left));
    FILL(right, b, 1);
    CU(cuStreamWaitEvent(right, event, 0)); /* <-- first */
    CU(cuStreamEndCapture(left, &graphs[0]));
    CU(cuStreamEndCapture(right, &graphs[1]));
    EXPECT(graphs[0] == NULL && graphs[1] == NULL);
}

static CUstream cached;

/* A worker captures while the main thread does, and both use one cached side stream. */
static void nested(void *user)
{
    CUdeviceptr *out = user;
    CUevent forked = new_event();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(*out, 1, FLOATS, CU_STREAM_PER_THREAD));
    CU(cuEventRecord(forked, CU_STREAM_PER_THREAD));
    CU(cuStreamWaitEvent(cached, forked, 0)); /* <-- second */
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUstream stream = new_stream();
    CUevent forked = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    cached = new_stream();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    fork_to(stream, cached, forked);
    CU(cuMemsetD32Async(a, 1, FLOATS, cached));
    in_thread(nested, &b);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* The same side stream for one capture after the other, and two captures at once with a
 * side stream each. */
static void near(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUstream sides[2] = {new_stream(), new_stream()};
    CUevent events[2] = {new_event(), new_event()};
    CUdeviceptr memory[2] = {new_floats(), new_floats()};
    CUgraph graphs[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(streams[i], CU_STREAM_CAPTURE_MODE_GLOBAL));
        fork_to(streams[i], sides[0], events[0]);
        FILL(sides[0], memory[i], 1);
        join_from(streams[i], sides[0], events[0]);
        CU(cuStreamEndCapture(streams[i], &graphs[i]));
    }
    for (int i = 0; i < 2; i++)
        replay_once(graphs[i], streams[i]);
    for (int i = 0; i < 2; i++)
        CU(cuStreamBeginCapture(streams[i], CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 2; i++) {
        fork_to(streams[i], sides[i], events[i]);
        FILL(sides[i], memory[i], 2);
        join_from(streams[i], sides[i], events[i]);
    }
    for (int i = 0; i < 2; i++)
        CU(cuStreamEndCapture(streams[i], &graphs[i]));
    for (int i = 0; i < 2; i++)
        replay_once(graphs[i], streams[i]);
    EXPECT(float_at(memory[0], 3) == 2 && float_at(memory[1], 3) == 2);
}

BROKEN(first, second, near)
