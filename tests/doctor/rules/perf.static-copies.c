// SPDX-License-Identifier: Apache-2.0
// perf.static-copies
//
// Before and after each launch the program copies inputs and outputs from and to the
// graph's fixed buffers, on the device; these copies take about as long as the graph
// saves. Let the producer write into the captured buffer, or set the node's parameters,
// or use a slot.
// timing: times of copies and launches
#include "broken.h"

enum { STEPS = 20, BYTES = FLOATS * sizeof(float) };

/* Four inputs copied in, for three kernels. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr made[4], in[4];
    for (int k = 0; k < 4; k++) {
        made[k] = new_floats();
        in[k] = new_floats();
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, in[0], in[1], 2);
    SCALE_ADD(stream, in[2], in[3], 2);
    SCALE_ADD(stream, in[0], in[2], 2);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 4; k++) {
            FILL(stream, made[k], (float)i);
            CU(cuMemcpyDtoDAsync(in[k], made[k], BYTES, stream)); /* <-- first */
        }
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* One large output copied out, by the call that takes the kind from the address. */
static void second(void)
{
    enum { LARGE = 8 << 20 };
    CUstream stream = new_stream();
    CUdeviceptr out = 0, kept = 0;
    CU(cuMemAlloc(&out, LARGE));
    CU(cuMemAlloc(&kept, LARGE));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, out, 1);
    SCALE_ADD(stream, out, out, 1);
    FILL(stream, out, 2);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyAsync(kept, out, LARGE, stream)); /* <-- second */
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* One small copy for many kernels; and inputs that come from the host. */
static void near(void)
{
    static float x[FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr made = new_floats(), in = new_floats(), out = new_floats(),
                      other = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 5; i++) {
        SCALE_ADD(stream, out, in, (float)i);
        COPY(stream, other, out);
    }
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        FILL(stream, made, (float)i);
        CU(cuMemcpyDtoDAsync(in, made, BYTES, stream));
        CU(cuMemcpyHtoDAsync(other, x, BYTES, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
