// SPDX-License-Identifier: Apache-2.0
// launch.unrecorded-event
//
// A stream, or a graph with an event wait node, waits for an event that nothing has recorded
// yet: such a wait waits for nothing, and what the event was to announce comes too late.
// Record the event, or launch the graph that records it, before what waits for it.
#include "broken.h"

/* A graph that waits for an event, which another graph records: launched in the wrong order. */
static void first(void)
{
    CUstream sends = new_stream(), receives = new_stream();
    const CUdeviceptr message = new_floats(), out = new_floats();
    CUevent sent = new_event();
    CU(cuStreamBeginCapture(sends, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(sends, message, 3);
    CU(cuEventRecordWithFlags(sent, sends, CU_EVENT_RECORD_EXTERNAL));
    CUgraphExec sender = end_capture(sends);
    CU(cuStreamBeginCapture(receives, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuStreamWaitEvent(receives, sent, CU_EVENT_WAIT_EXTERNAL));
    COPY(receives, out, message);
    CUgraphExec receiver = end_capture(receives);
    CU(cuGraphLaunch(receiver, receives)); /* <-- first */
    CU(cuStreamSynchronize(receives));
    CU(cuGraphLaunch(sender, sends));
    CU(cuStreamSynchronize(sends));
    CU(cuGraphExecDestroy(sender));
    CU(cuGraphExecDestroy(receiver));
}

/* A stream waits before its graph is launched; the upload, and its event, come later. */
static void second(void)
{
    static float host[FLOATS];
    CUstream loads = new_stream(), stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUevent loaded = new_event();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuStreamWaitEvent(stream, loaded, 0)); /* <-- second */
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemcpyHtoDAsync(in, host, sizeof(host), loads));
    CU(cuEventRecord(loaded, loads));
    CU(cuStreamSynchronize(loads));
    CU(cuGraphExecDestroy(exec));
}

/* In order; and a ring of two buffers, whose first rounds wait for what nobody used yet. */
static void near(void)
{
    enum { BUFFERS = 2, ROUNDS = 6 };
    static float host[FLOATS];
    CUstream loads = new_stream(), stream = new_stream();
    CUdeviceptr in[BUFFERS];
    const CUdeviceptr out = new_floats();
    CUevent loaded[BUFFERS], used[BUFFERS];
    CUgraphExec execs[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        in[i] = new_floats();
        loaded[i] = new_event();
        used[i] = new_event();
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        COPY(stream, out, in[i]);
        FILL(stream, in[i], 0);
        execs[i] = end_capture(stream);
    }
    for (int i = 0; i < ROUNDS; i++) {
        const int k = i % BUFFERS;
        CU(cuStreamWaitEvent(loads, used[k], 0));
        CU(cuMemcpyHtoDAsync(in[k], host, sizeof(host), loads));
        CU(cuEventRecord(loaded[k], loads));
        CU(cuStreamWaitEvent(stream, loaded[k], 0));
        CU(cuGraphLaunch(execs[k], stream));
        CU(cuEventRecord(used[k], stream));
        CU(cuStreamSynchronize(loads)); /* `host` is written again */
    }
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < BUFFERS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
