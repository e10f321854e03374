// SPDX-License-Identifier: Apache-2.0
// memory.workspace-in-capture
//
// A library allocated its workspace when it was first called, which was inside a
// capture, and keeps it for later calls: now it is the graph's workspace and that of the
// calls outside, or of another graph. They overwrite each other where they overlap, and
// who frees it takes it from all. Give the library a workspace of yours before the
// capture, one for each graph that may run at the same time.
#include "broken.h"

/* A "library": its first call allocates. */
static CUdeviceptr workspace;

static void library_sum(CUstream stream, CUdeviceptr out, CUdeviceptr in)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (workspace == 0) {
        CU(cuThreadExchangeStreamCaptureMode(&mode));
        CU(cuMemAlloc(&workspace, FLOATS * sizeof(float)));
        CU(cuThreadExchangeStreamCaptureMode(&mode));
    }
    COPY(stream, workspace, in); /* <-- first */
    SCALE_ADD(stream, out, workspace, 1);
}

/* Captured first, called eagerly later. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats(), other = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    library_sum(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    library_sum(stream, other, in);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFree(workspace));
}

/* Captured in two graphs, which run on two streams. */
static void second(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUgraphExec execs[2];
    for (int i = 0; i < 2; i++) {
        const CUdeviceptr in = new_floats(), out = new_floats();
        CU(cuStreamBeginCapture(streams[i], CU_STREAM_CAPTURE_MODE_RELAXED));
        library_sum(streams[i], out, in);
        execs[i] = end_capture(streams[i]);
    }
    for (int i = 0; i < 2; i++)
        CU(cuGraphLaunch(execs[i], streams[i])); /* <-- second */
    CU(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        CU(cuGraphExecDestroy(execs[i]));
    CU(cuMemFree(workspace));
}

/* What is allocated in a capture is the graph's output: other kernels read it outside;
 * and a workspace of before the capture is used by the graph and outside, in one stream.
 */
static void near(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUdeviceptr result = 0;
    workspace = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuMemAlloc(&result, FLOATS * sizeof(float)));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    library_sum(stream, out, in);
    COPY(stream, result, out);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    library_sum(stream, out, in);
    SCALE_ADD(stream, out, result, 2);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFree(result));
    CU(cuMemFree(workspace));
}

BROKEN(first, second, near)
