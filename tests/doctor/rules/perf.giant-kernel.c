// SPDX-License-Identifier: Apache-2.0
// perf.giant-kernel
//
// A launch keeps the device busy for long, and the host waits for it nearly all the time.
// A graph saves what launching costs, and that is hidden here: it gains nothing. Leave it
// as it is, and make the kernel faster.
// timing: host waits beside launches
#include "broken.h"

enum { STEPS = 6 };

/* One kernel a step. */
static void first(void)
{
    CUstream stream = new_stream();
    for (int i = 0; i < STEPS; i++) {
        SPIN(stream, 30000); /* <-- first */
        CU(cuStreamSynchronize(stream));
    }
}

/* The same in a graph, waited for by an event. */
static void second(void)
{
    CUstream stream = new_stream();
    CUevent event = new_event();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 30000);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream)); /* <-- second */
        CU(cuEventRecord(event, stream));
        CU(cuEventSynchronize(event));
    }
    CU(cuGraphExecDestroy(exec));
}

/* Short kernels, many a step, in a graph that pays. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 12; i++)
        SCALE_ADD(stream, out, in, 1);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
