// SPDX-License-Identifier: Apache-2.0
// memory.input-not-refreshed
//
// A replay reads the buffer that was captured. Here new contents came from the host into
// another buffer, which nothing reads, and the graph was launched with the old ones: its
// output does not change. Copy new inputs into the captured buffer before each launch, or
// set the kernel's parameter.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* "x = new tensor" instead of "x.copy_()". */
static void first(void)
{
    static float x[FLOATS];
    CUstream stream = new_stream();
    CUdeviceptr in = new_floats();
    const CUdeviceptr out = new_floats();
    x[0] = 1;
    CU(cuMemcpyHtoD(in, x, BYTES));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 2; i < 6; i++) {
        x[0] = (float)i;
        in = new_floats();
        CU(cuMemcpyHtoD(in, x, BYTES));
        CU(cuGraphLaunch(exec, stream)); /* <-- first */
        CU(cuStreamSynchronize(stream));
    }
    EXPECT(float_at(out, 0) == 1);
    CU(cuGraphExecDestroy(exec));
}

/* A staging buffer whose copy into the graph's input was forgotten, in a loop. */
static void second(void)
{
    static float x[FLOATS];
    CUstream stream = new_stream();
    CUdeviceptr staging = 0;
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuMemAllocAsync(&staging, BYTES, stream));
    CU(cuMemcpyHtoDAsync(in, x, BYTES, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemcpyDtoDAsync(out, in, BYTES, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 4; i++) {
        x[0] = (float)i;
        if (i > 0)
            CU(cuMemcpyHtoDAsync(staging, x, BYTES, stream));
        CU(cuGraphLaunch(exec, stream)); /* <-- second */
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Staging that is copied on, every other launch with the same input on purpose, and an
 * upload for another graph in between. */
static void near(void)
{
    static float x[FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats(), staging = new_floats(),
                      other = new_floats();
    CU(cuMemcpyHtoD(in, x, BYTES));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, other, 1);
    CUgraphExec adder = end_capture(stream);
    for (int i = 0; i < 4; i++) {
        x[0] = (float)i;
        CU(cuMemcpyHtoDAsync(staging, x, BYTES, stream));
        CU(cuMemcpyDtoDAsync(in, staging, BYTES, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyHtoDAsync(other, x, BYTES, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuGraphLaunch(adder, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(float_at(out, 0) == 2 * (float)i);
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphExecDestroy(adder));
}

BROKEN(first, second, near)
