// SPDX-License-Identifier: Apache-2.0
// perf.host-loop
//
// The host launches a graph, reads one word, and launches the same graph again while the word says
// so: each round pays for a launch, a copy and a wait. Put the graph into the body of a WHILE node,
// or use gph_loop_create(), which keeps a ceiling and a time budget and takes the way that was
// measured to be the fastest. What the host changes from round to round has to go through memory.
#include "broken.h"

enum { ROUNDS = 40 };

static CUgraphExec step(CUstream stream, CUdeviceptr x, CUdeviceptr y)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, y, x, 1);
    SCALE_ADD(stream, x, y, 0);
    return end_capture(stream);
}

/* Until a float has grown. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    FILL(stream, x, 1);
    CUgraphExec exec = step(stream, x, y);
    float value = 0;
    do {
        CU(cuGraphLaunch(exec, stream)); // <-- first
        CU(cuMemcpyDtoHAsync(&value, y, sizeof(value), stream));
        CU(cuStreamSynchronize(stream));
    } while (value < (float)ROUNDS);
    CU(cuGraphExecDestroy(exec));
}

/* With a blocking copy, of a flag of one byte. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec exec = step(stream, x, y);
    unsigned char flag = 0;
    for (int i = 0; i < ROUNDS && flag == 0; i++) {
        CU(cuGraphLaunch(exec, stream)); // <-- second
        CU(cuStreamSynchronize(stream));
        CU(cuMemcpyDtoH(&flag, y + 64, sizeof(flag)));
    }
    CU(cuGraphExecDestroy(exec));
}

/* The host does something of its own in each round: new input, or a whole result. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec exec = step(stream, x, y);
    float value = 0, all[FLOATS];
    for (int i = 0; i < ROUNDS; i++) {
        value += 1;
        CU(cuMemcpyHtoDAsync(x, &value, sizeof(value), stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&value, y, sizeof(value), stream));
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < ROUNDS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(all, y, sizeof(all), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
