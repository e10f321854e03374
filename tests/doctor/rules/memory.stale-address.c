// SPDX-License-Identifier: Apache-2.0
// memory.stale-address
//
// A graph keeps the addresses that were captured. If a buffer is freed afterwards and its
// address is given to another one, replays read and write that other buffer, and no tool
// that looks for bad addresses sees it. Keep captured buffers as long as the executable
// graph, or capture again (or update it) when they change.
#include "broken.h"

/* The input is replaced by a larger one, and the old one's place goes to a third. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr in = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, in, 2);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFree(in));
    const CUdeviceptr other = new_floats();
    EXPECT(other == in);
    CU(cuGraphLaunch(exec, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A copy node, made by hand; another thread frees its source, and allocates. */
static void replace(void *user)
{
    CUdeviceptr *of = user;
    CU(cuMemFree(*of)); /* <-- second */
    *of = new_floats();
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr in = new_floats(), out = new_floats();
    const CUdeviceptr was = in;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    const CUDA_MEMCPY3D copied = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = in,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = out,
                                  .WidthInBytes = FLOATS * sizeof(float),
                                  .Height = 1,
                                  .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copied, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    in_thread(replace, &in);
    EXPECT(in == was);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

static CUgraph capture(CUstream stream, CUdeviceptr out, CUdeviceptr in)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, in, 2);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The address is used again, but the program captured again, too, and updated. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr in = new_floats(), out = new_floats();
    const CUdeviceptr was = in;
    CUgraphExec exec = NULL;
    CUgraph graph = capture(stream, out, in);
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFree(in));
    in = new_floats();
    EXPECT(in == was);
    graph = capture(stream, out, in);
    CU(cuGraphExecUpdate(exec, graph, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuMemFree(in));
}

BROKEN(first, second, near)
