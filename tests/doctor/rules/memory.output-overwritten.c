// SPDX-License-Identifier: Apache-2.0
// memory.output-overwritten
//
// The output of a graph lies at one address: every replay writes there. A result that is
// read after the next replay, or while it runs, is the next one's, or a mixture. Copy the
// result away before the next launch and let the launch wait for that copy, or alternate
// between two executable graphs with buffers of their own.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* Two inputs, two launches, and then "both" results. */
static void first(void)
{
    static float x[2][FLOATS], y[2][FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    x[0][0] = 1;
    x[1][0] = 2;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 2; i++) {
        CU(cuMemcpyHtoDAsync(in, x[i], BYTES, stream));
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuMemcpyDtoH(y[0], out, BYTES)); /* <-- first */
    CU(cuMemcpyDtoH(y[1], out, BYTES));
    EXPECT(y[0][0] == 2 && y[1][0] == 2);
    CU(cuGraphExecDestroy(exec));
}

/* A side stream copies the result away; the next launch does not wait for it. */
static void second(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent done = new_event();
    const CUdeviceptr out = new_floats(), kept = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(out, 3, FLOATS, stream));
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(exec, stream)); /* <-- second */
        CU(cuEventRecord(done, stream));
        CU(cuStreamWaitEvent(side, done, 0));
        CU(cuMemcpyDtoDAsync(kept, out, BYTES, side));
    }
    CU(cuStreamSynchronize(side));
    CU(cuGraphExecDestroy(exec));
}

/* The same two, in order: each result is read before the next launch, and the next launch
 * waits for the side stream. */
static void near(void)
{
    static float x[FLOATS], y[2][FLOATS];
    CUstream stream = new_stream(), side = new_stream();
    CUevent done = new_event(), copied = new_event();
    const CUdeviceptr in = new_floats(), out = new_floats(), kept = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 2; i++) {
        x[0] = (float)i;
        CU(cuMemcpyHtoDAsync(in, x, BYTES, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        CU(cuMemcpyDtoH(y[i], out, BYTES));
        EXPECT(y[i][0] == (float)i);
    }
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(exec, stream));
        fork_to(stream, side, done);
        CU(cuMemcpyDtoDAsync(kept, out, BYTES, side));
        join_from(stream, side, copied);
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
