// SPDX-License-Identifier: Apache-2.0
// launch.event-before-launch
//
// The host waits for an event before it reads what a graph copies to it, but the event is
// recorded before the launch: the wait does not cover the graph, and the host reads the result
// of the step before. Record the event after the launch.
#include "broken.h"

enum { STEPS = 5, BYTES = FLOATS * sizeof(float) };

static CUstream stream;
static CUdeviceptr out;
static volatile float *result[2];

static CUgraphExec record(int which)
{
    void *pinned = NULL;
    CU(cuMemHostAlloc(&pinned, BYTES, 0));
    result[which] = pinned;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 200);
    FILL(stream, out, 4);
    CU(cuMemcpyDtoHAsync(pinned, out, BYTES, stream));
    return end_capture(stream);
}

static void first(void)
{
    CUevent done = new_event();
    stream = new_stream();
    out = new_floats();
    CUgraphExec exec = record(0);
    for (int i = 0; i < STEPS; i++) {
        CU(cuEventRecord(done, stream)); // <-- first
        CU(cuGraphLaunch(exec, stream));
        CU(cuEventSynchronize(done));
        printf("%g\n", (double)result[0][0]);
    }
    CU(cuStreamSynchronize(stream));
}

/* In two functions, as an engine has them. */
static void submit(CUgraphExec exec, CUevent done)
{
    CU(cuEventRecord(done, stream)); // <-- second
    FILL(stream, out, 1);
    CU(cuGraphLaunch(exec, stream));
}

static float collect(CUevent done)
{
    CU(cuEventSynchronize(done));
    return result[0][0];
}

static void second(void)
{
    CUevent done = new_event();
    stream = new_stream();
    out = new_floats();
    CUgraphExec exec = record(0);
    for (int i = 0; i < STEPS; i++) {
        submit(exec, done);
        printf("%g\n", (double)collect(done));
    }
    CU(cuStreamSynchronize(stream));
}

/* After the launch; two graphs in turn, where the wait is for the other one; and an event that
 * begins a time that is taken. */
static void near(void)
{
    CUevent done = new_event(), from = NULL, to = NULL;
    CUgraphExec execs[2];
    float milliseconds = 0;
    stream = new_stream();
    out = new_floats();
    execs[0] = record(0);
    execs[1] = record(1);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(execs[0], stream));
        CU(cuEventRecord(done, stream));
        CU(cuEventSynchronize(done));
    }
    for (int i = 0; i < STEPS; i++) {
        CU(cuEventRecord(done, stream));
        CU(cuGraphLaunch(execs[i % 2], stream));
        CU(cuEventSynchronize(done));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuEventCreate(&from, 0));
    CU(cuEventCreate(&to, 0));
    for (int i = 0; i < STEPS; i++) {
        CU(cuEventRecord(from, stream));
        CU(cuGraphLaunch(execs[0], stream));
        CU(cuEventRecord(to, stream));
        CU(cuEventSynchronize(from));
        CU(cuEventSynchronize(to));
        CU(cuEventElapsedTime(&milliseconds, from, to));
    }
}

BROKEN(first, second, near)
