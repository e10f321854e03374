// SPDX-License-Identifier: Apache-2.0
// memory.read-before-done
//
// A launch returns at once; the graph runs later. Here what it writes is read without
// waiting for it: by a copy on the host's default stream, or by another stream. The
// result is old, partial, or right by luck. Wait for the stream or for an event after
// the launch before reading, and let other streams wait for such an event.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* The legacy stream does not wait for a stream that was made non-blocking. */
static void first(void)
{
    static float y[FLOATS];
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 2000);
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoH(y, out, BYTES)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A kernel on a second stream; an event was recorded, but before the launch. */
static void second(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event();
    const CUdeviceptr out = new_floats(), sum = new_floats();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    const CUDA_MEMSET_NODE_PARAMS filled = {
        .dst = out, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&node, graph, NULL, 0, &filled, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuEventRecord(event, stream)); /* <-- second */
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamWaitEvent(side, event, 0));
    SCALE_ADD(side, sum, out, 1);
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Ordered in four ways: by the stream, by the host, by an event, and by the legacy stream
 * where the stream is an ordinary one. */
static void near(void)
{
    static float y[FLOATS];
    CUstream stream = NULL, side = new_stream();
    CUevent event = new_event();
    const CUdeviceptr in = new_floats(), out = new_floats(), sum = new_floats();
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, in);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoHAsync(y, out, BYTES, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoH(y, out, BYTES));
    CU(cuGraphLaunch(exec, stream));
    fork_to(stream, side, event);
    SCALE_ADD(side, sum, out, 1);
    CU(cuMemcpyDtoHAsync(y, in, BYTES, side));
    join_from(stream, side, event);
    CU(cuGraphLaunch(exec, stream));
    CU(cuEventRecord(event, stream));
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
        usleep(100);
    CU(cuMemcpyDtoHAsync(y, out, BYTES, side));
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
