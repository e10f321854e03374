// SPDX-License-Identifier: Apache-2.0
// capture.isolation
//
// A capturing stream was made to wait for an event that was recorded before the capture,
// or on a stream that has not joined it. Work outside a graph cannot be an edge of it:
// the wait fails with 905 and the capture is invalid. Let the other stream join first
// (record on the capturing stream, wait on the other one), or, if its work is to stay
// outside, wait before the capture begins, or with CU_EVENT_WAIT_EXTERNAL.
#include "broken.h"

/* An upload of before. */
static void first(void)
{
    CUstream stream = new_stream(), upload = new_stream();
    CUevent uploaded = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    FILL(upload, b, 1);
    CU(cuEventRecord(uploaded, upload));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuStreamWaitEvent(stream, uploaded, 0)); /* <-- first */
    SCALE_ADD(stream, a, b, 1);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* A side stream works during the capture, but nobody let it join; with the stream that
 * joined already waiting for it. */
static void capture(void *user)
{
    CUstream *streams = user;
    CUevent forked = new_event(), done = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD32Async(a, 1, FLOATS, streams[0]));
    fork_to(streams[0], streams[1], forked);
    CU(cuMemsetD32Async(b, 2, FLOATS, streams[2]));
    CU(cuEventRecord(done, streams[2]));
    CU(cuStreamWaitEvent(streams[1], done, 0)); /* <-- second */
    CU(cuStreamEndCapture(streams[0], &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUstream streams[3] = {new_stream(), new_stream(), new_stream()};
    in_thread(capture, streams);
}

/* The wait before the capture; a fork that is joined; and an external wait. */
static void near(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event(), forked = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    FILL(side, b, 2);
    CU(cuEventRecord(event, side));
    CU(cuStreamWaitEvent(stream, event, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    FILL(stream, a, 1);
    fork_to(stream, side, forked);
    SCALE_ADD(side, b, a, 1);
    join_from(stream, side, forked);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(b, 9) == 3);
}

BROKEN(first, second, near)
