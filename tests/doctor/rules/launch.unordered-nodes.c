// SPDX-License-Identifier: Apache-2.0
// launch.unordered-nodes
//
// Nodes of a graph run in any order that its edges allow. A branch that was forked before
// the work it needs, or a node that was added without its dependency, uses a buffer that
// another node writes. Of a kernel only what it is given is known: where it has no other
// address it must write there. Two launches of one kernel are left alone.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* The side stream is forked before the kernel whose result it works on. */
static void first(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent fork = new_event(), join = new_event();
    const CUdeviceptr x = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuEventRecord(fork, stream));
    CU(cuStreamWaitEvent(side, fork, 0));
    FILL(stream, x, 2);
    SCALE_ADD(side, out, x, 3); /* <-- first */
    CU(cuEventRecord(join, side));
    CU(cuStreamWaitEvent(stream, join, 0));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A fill that was added without an edge to the kernel after it. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode clear = NULL, copies = NULL;
    CUgraphExec exec = NULL;
    const CUdeviceptr x = new_floats(), out = new_floats();
    const CUDA_MEMSET_NODE_PARAMS zeros = {
        .dst = x, .value = 0, .elementSize = 4, .width = FLOATS, .height = 1};
    const CUDA_MEMCPY3D move = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = x,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = out,
                                .WidthInBytes = BYTES,
                                .Height = 1,
                                .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&clear, graph, NULL, 0, &zeros, context));
    CU(cuGraphAddMemcpyNode(&copies, graph, NULL, 0, &move, context)); /* <-- second */
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Forked after the kernel; branches that read one buffer; halves of one buffer. */
static void near(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent fork = new_event(), join = new_event();
    const CUdeviceptr x = new_floats(), a = new_floats(), b = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, x, 2);
    CU(cuEventRecord(fork, stream));
    CU(cuStreamWaitEvent(side, fork, 0));
    SCALE_ADD(stream, a, x, 3);
    SCALE_ADD(side, b, x, 4);
    CU(cuEventRecord(join, side));
    CU(cuStreamWaitEvent(stream, join, 0));
    CU(cuEventRecord(fork, stream));
    CU(cuStreamWaitEvent(side, fork, 0));
    CU(cuMemsetD32Async(x, 0, FLOATS / 2, stream));
    CU(cuMemsetD32Async(x + BYTES / 2, 0, FLOATS / 2, side));
    CU(cuEventRecord(join, side));
    CU(cuStreamWaitEvent(stream, join, 0));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
