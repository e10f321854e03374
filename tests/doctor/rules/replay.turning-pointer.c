// SPDX-License-Identifier: Apache-2.0
// replay.turning-pointer
//
// Two buffers changed places from step to step, or the inputs of steps came in two buffers that
// take turns; the graph has the addresses of the step that was captured. Capture as many steps as
// the buffers have turns, one graph for each turn, or copy the result back inside the graph.
// also: memory.input-not-refreshed
#include "broken.h"

enum { STEPS = 6 };

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr from = new_floats(), to = new_floats(), other;
    CUgraphExec exec;
    float seen[STEPS];
    for (int i = 0; i < 4; i++) {
        if (i == 3)
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, to, from, 2); // <-- first
        other = from, from = to, to = other;
    }
    exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&seen[i], from, sizeof(seen[i]), stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* Inputs come in two buffers, one of them while the other is worked on. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr in[2] = {new_floats(), new_floats()}, out = new_floats();
    CUgraphExec exec = NULL;
    float batch[FLOATS] = {0}, seen;
    for (int i = 0; i < 4 + STEPS; i++) {
        batch[0] = (float)i;
        CU(cuMemcpyHtoDAsync(in[i % 2], batch, sizeof(batch), stream));
        CU(cuStreamSynchronize(stream));
        if (i == 4)
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        if (i <= 4) {
            COPY(stream, out, in[i % 2]); // <-- second
            SCALE_ADD(stream, out, out, 1);
        }
        if (i == 4)
            exec = end_capture(stream);
        if (i >= 4)
            CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&seen, out, sizeof(seen), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* A graph for each turn; two steps in one graph; the result is copied back. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a[2] = {new_floats(), new_floats()};
    CUgraphExec execs[4];
    for (int i = 0; i < 3; i++)
        SCALE_ADD(stream, a[1 - i % 2], a[i % 2], 2);
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, a[1 - i], a[i], 2);
        execs[i] = end_capture(stream);
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, a[1], a[0], 2);
    SCALE_ADD(stream, a[0], a[1], 2);
    execs[2] = end_capture(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, a[1], a[0], 2);
    CU(cuMemcpyDtoDAsync(a[0], a[1], FLOATS * sizeof(float), stream));
    execs[3] = end_capture(stream);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < STEPS; i++)
            CU(cuGraphLaunch(execs[k < 2 ? i % 2 : k], stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 4; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
