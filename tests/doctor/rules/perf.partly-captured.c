// SPDX-License-Identifier: Apache-2.0
// perf.partly-captured
//
// The graph has a small part of the step; the rest is launched one by one after it, step by step the
// same kernels with the same arguments, and the host decides nothing between them. Capture the whole
// step. Reported from 17 steps on in a row, if there are 16 such kernels or more and four times as
// many as the graph has. Kernels whose arguments change, or after a wait, are left alone.
#include "broken.h"

enum { STEPS = 24, REST = 20 };

static CUgraphExec part(CUstream stream, CUdeviceptr x)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    SCALE_ADD(stream, x, x, 1);
    return end_capture(stream);
}

static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats();
    CUgraphExec exec = part(stream, x);
    for (int step = 0; step < STEPS; step++) {
        CU(cuGraphLaunch(exec, stream));
        for (int i = 0; i < REST; i++)
            SCALE_ADD(stream, x, x, 0.5f); // <-- first
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* With a result for the host at the end of each step. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec exec = part(stream, x);
    float value = 0;
    for (int step = 0; step < STEPS; step++) {
        CU(cuGraphLaunch(exec, stream));
        for (int i = 0; i < REST; i++)
            COPY(stream, i % 2 ? x : y, i % 2 ? y : x); // <-- second
        CU(cuMemcpyDtoHAsync(&value, x, sizeof(value), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* Kernels with a number of the step, and a few beside the graph. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats();
    CUgraphExec exec = part(stream, x);
    for (int step = 0; step < STEPS; step++) {
        CU(cuGraphLaunch(exec, stream));
        for (int i = 0; i < REST; i++)
            SCALE_ADD(stream, x, x, 1.0f / (float)(1 + step));
    }
    for (int step = 0; step < STEPS; step++) {
        CU(cuGraphLaunch(exec, stream));
        SCALE_ADD(stream, x, x, 0.5f);
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
