// SPDX-License-Identifier: Apache-2.0
// replay.frozen-size
//
// The graph was captured for the first batch: its copies take as many bytes, its kernels have that
// number of elements. A larger batch is cut off, a smaller one leaves the rest of the last one in
// place. Reported where what the host sends before a launch changes in size and the graph has the size
// of before the first launch: in a copy from that very place, or as a number of a kernel, if results
// are read that are larger, too, or as large as ever while the rest of the input is old. Where the rest
// is filled, or the size is sent as well, nothing is reported.
#include "broken.h"

static CUgraphExec scaled(CUstream stream, CUdeviceptr out, CUdeviceptr in,
                          unsigned count)
{
    float two = 2;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(scale_add, FLOATS / 128, stream, &out, &in, &two, &count); // <-- second
    return end_capture(stream);
}

/* A copy of as many bytes as the first text had. */
static void first(void)
{
    static char texts[2][64] = {"short", "rather longer"};
    const size_t bytes[] = {16, 64};
    CUstream stream = new_stream();
    const CUdeviceptr staging = new_floats(), prompt = new_floats();
    CUgraphExec exec = NULL;
    char back[64];
    for (int i = 0; i < 2; i++) {
        CU(cuMemcpyHtoDAsync(staging, texts[i], bytes[i], stream));
        if (!exec) {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            CU(cuMemcpyDtoDAsync(prompt, staging, bytes[i], stream)); // <-- first
            exec = end_capture(stream);
        }
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(back, prompt, bytes[i], stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* A kernel for 256 elements, and then 512 come. */
static void second(void)
{
    static float rows[FLOATS], back[FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExec exec = scaled(stream, out, in, 256);
    for (unsigned count = 256; count <= 512; count *= 2) {
        CU(cuMemcpyHtoDAsync(in, rows, count * sizeof(float), stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(back, out, count * sizeof(float), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* A graph for the largest batch: smaller ones read back what they sent, or fill the rest. */
static void near(void)
{
    static float rows[FLOATS], back[FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExec exec = scaled(stream, out, in, FLOATS);
    for (unsigned count = FLOATS; count >= 128; count /= 2) {
        CU(cuMemcpyHtoDAsync(in, rows, count * sizeof(float), stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(back, out, count * sizeof(float), stream));
        CU(cuStreamSynchronize(stream));
    }
    for (unsigned count = 512; count >= 128; count /= 2) {
        CU(cuMemcpyHtoDAsync(in, rows, count * sizeof(float), stream));
        CU(cuMemsetD32Async(in + count * sizeof(float), 0, FLOATS - count, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(back, out, sizeof(back), stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
