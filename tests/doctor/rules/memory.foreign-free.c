// SPDX-License-Identifier: Apache-2.0
// memory.foreign-free
//
// Memory was freed by somebody it does not belong to. What a graph frees itself cannot be
// freed outside, and inside a capture only memory that a graph allocates can be freed:
// cuMemFreeAsync of another address fails, and the capture goes on without the free. Free
// each allocation once: in the graph, or outside after the launch.
// also: capture.silent-drop
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* The graph has freed it. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr scratch = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    FILL(stream, scratch, 1);
    CU(cuMemFreeAsync(scratch, stream));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFree(scratch)); /* <-- first */
    CU(cuGraphExecDestroy(exec));
}

/* Memory of the program, freed in a capture: it stays allocated. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUdeviceptr scratch = 0;
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    COPY(stream, out, scratch);
    EXPECT(CU(cuMemFreeAsync(scratch, stream)) != CUDA_SUCCESS); /* <-- second */
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFree(scratch));
}

/* What a launch leaves allocated is freed outside, once for each launch; and in the next
 * graph. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr result = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    FILL(stream, result, 1);
    CUgraphExec exec = end_capture(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemFreeAsync(result, stream));
    CUgraphExec freeing = end_capture(stream);
    for (int i = 0; i < 4; i++) {
        CU(cuGraphLaunch(exec, stream));
        if (i % 2 == 0)
            CU(cuGraphLaunch(freeing, stream));
        else
            CU(cuMemFreeAsync(result, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(freeing));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
