// SPDX-License-Identifier: Apache-2.0
// capture.captured-event-query
//
// An event that was recorded on a capturing stream is an edge of the graph to be; nothing
// has run that could set it. Asking or waiting for it while the capture is open fails
// with 907 and makes the capture invalid; asking two of them for the time between fails
// with 907 as well. Ask another event, recorded outside, or record with
// CU_EVENT_RECORD_EXTERNAL and ask after the replay.
#include "broken.h"

/* Is the first kernel done? */
static void first(void)
{
    CUstream stream = new_stream();
    CUevent done = new_event();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuEventRecord(done, stream));
    CU(cuEventQuery(done)); /* <-- first */
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* How long did it take? The capture survives that. */
static void second(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent begin = NULL, end = NULL;
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    float ms = 0;
    CU(cuEventCreate(&begin, 0));
    CU(cuEventCreate(&end, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuEventRecord(begin, stream));
    CU(cuStreamWaitEvent(side, begin, 0));
    FILL(side, a, 1);
    CU(cuEventRecord(end, side));
    CU(cuStreamWaitEvent(stream, end, 0));
    CU(cuEventElapsedTime(&ms, begin, end)); /* <-- second */
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph != NULL);
    replay_once(graph, stream);
}

/* An event of other work is asked in a relaxed capture; the captured one is external, and
 * is asked after the replay. */
static void near(void)
{
    CUstream stream = new_stream(), other = new_stream();
    CUevent before = new_event(), done = new_event();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuEventRecord(before, other));
    CU(cuStreamSynchronize(other));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, a, 1);
    CU(cuEventQuery(before));
    CU(cuEventRecordWithFlags(done, stream, CU_EVENT_RECORD_EXTERNAL));
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    CU(cuEventSynchronize(done));
    EXPECT(float_at(a, 3) == 1);
}

BROKEN(first, second, near)
