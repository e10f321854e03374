// SPDX-License-Identifier: Apache-2.0
// capture.unjoined-fork
//
// A stream that waits for an event of a capture becomes part of the capture. If work is
// put on it, the origin stream must wait for it again before cuStreamEndCapture(), or the
// end fails with CUDA_ERROR_STREAM_CAPTURE_UNJOINED and there is no graph. Record an
// event on the side stream after its last work and let the origin wait for it; a side
// stream that got no work needs no join.
#include "broken.h"

/* Fork and forget. */
static void first(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent forked = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuEventRecord(forked, stream));
    CU(cuStreamWaitEvent(side, forked, 0));
    FILL(side, b, 2); /* <-- first */
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

/* In a thread of its own, by copies and fills: the second stream is joined, the third,
 * which it forked, is not. */
static void capture(void *user)
{
    CUstream *streams = user;
    CUevent events[3] = {new_event(), new_event(), new_event()};
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(a, 1, FLOATS, streams[0]));
    fork_to(streams[0], streams[1], events[0]);
    CU(cuMemcpyDtoDAsync(b, a, FLOATS * sizeof(float), streams[1]));
    fork_to(streams[1], streams[2], events[1]);
    join_from(streams[0], streams[1], events[2]);
    CU(cuMemsetD32Async(b, 3, FLOATS, streams[2])); /* <-- second */
    CU(cuStreamEndCapture(streams[0], &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUstream streams[3] = {new_stream(), new_stream(), new_stream()};
    in_thread(capture, streams);
}

/* Two forks, both joined, the second through the first; and a third that got no work. */
static void near(void)
{
    CUstream stream = new_stream(), side = new_stream(), beyond = new_stream(),
             idle = new_stream();
    CUevent event = new_event();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    fork_to(stream, side, event);
    fork_to(stream, idle, event);
    FILL(side, b, 2);
    fork_to(side, beyond, event);
    SCALE_ADD(beyond, b, a, 3);
    join_from(side, beyond, event);
    join_from(stream, side, event);
    SCALE_ADD(stream, a, b, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(a, 5) == 6);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
