// SPDX-License-Identifier: Apache-2.0
// capture.event-after-capture
//
// An event that was last recorded in a capture never happens: it became an edge of the
// graph. Once the capture is over, waiting for it, asking it or taking times with it
// fails with "invalid argument". Record the event again outside the capture, or record
// it with CU_EVENT_RECORD_EXTERNAL, which makes a node that sets it at each replay.
// Where no stream of the capture waits for it the record is reported, else who asks.
#include "broken.h"

/* Waits for the event in place of the stream. */
static void first(void)
{
    CUstream stream = new_stream();
    CUevent done = new_event();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuEventRecord(done, stream)); /* <-- first */
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    CU(cuEventSynchronize(done));
}

/* Another stream is to go on after the replay. */
static void consume(void *user)
{
    CUevent *done = user;
    CUdeviceptr b = new_floats();
    CU(cuStreamWaitEvent(CU_STREAM_PER_THREAD, *done, 0)); /* <-- second */
    CU(cuMemsetD32Async(b, 1, FLOATS, CU_STREAM_PER_THREAD));
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

static void second(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent forked = new_event(), done = new_event();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fork_to(stream, side, forked);
    FILL(side, a, 1);
    CU(cuEventRecord(done, side));
    CU(cuStreamWaitEvent(stream, done, 0));
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    in_thread(consume, &done);
}

/* Recorded again after the launch; and timed by external records. */
static void near(void)
{
    CUstream stream = new_stream();
    CUevent done = new_event(), begin = NULL, end = NULL;
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    float ms = -1;
    CU(cuEventCreate(&begin, 0));
    CU(cuEventCreate(&end, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuEventRecordWithFlags(begin, stream, CU_EVENT_RECORD_EXTERNAL));
    FILL(stream, a, 1);
    CU(cuEventRecord(done, stream));
    CU(cuEventRecordWithFlags(end, stream, CU_EVENT_RECORD_EXTERNAL));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuEventRecord(done, stream));
    CU(cuEventSynchronize(done));
    CU(cuEventElapsedTime(&ms, begin, end));
    EXPECT(ms >= 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
