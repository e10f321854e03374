// SPDX-License-Identifier: Apache-2.0
// update.memcpy-kind
//
// A copy keeps the memory types that it declares (host, device, array), and a copy of
// several rows cannot change at all: else the update is refused (910, result 5), and a
// setter says CUDA_ERROR_INVALID_VALUE. Addresses and the size of a copy of one row may
// change. Declare both sides CU_MEMORYTYPE_UNIFIED where their kind varies (the runtime's
// cudaMemcpyDefault), or instantiate the new graph.
#include "broken.h"

/* What came from the host comes from the device. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    float *host = NULL;
    CUgraph graph = NULL, newer = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuMemAllocHost((void **)&host, FLOATS * sizeof(float)));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyHtoDAsync(x, host, FLOATS * sizeof(float), stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyDtoDAsync(x, y, FLOATS * sizeof(float), stream));
    CU(cuStreamEndCapture(stream, &newer));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
    CU(cuMemFreeHost(host));
}

/* By hand: a setter wants more rows. */
static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUDA_MEMCPY3D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = new_floats(),
                          .srcPitch = 256,
                          .srcHeight = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = new_floats(),
                          .dstPitch = 128,
                          .dstHeight = 16,
                          .WidthInBytes = 128,
                          .Height = 4,
                          .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &rows, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    rows.Height = 8;
    CU(cuGraphExecMemcpyNodeSetParams(exec, node, &rows, context)); /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Other addresses, other sizes; by an update and by a setter. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats(), z = new_floats();
    CUgraph graph = NULL, newer = NULL;
    CUgraphNode node = NULL;
    size_t count = 1;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMCPY3D row = {0};
    CU(cuMemsetD32(z, 9, FLOATS));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyDtoDAsync(x, y, 64, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyDtoDAsync(x, z, 256, stream));
    CU(cuStreamEndCapture(stream, &newer));
    CU(cuGraphGetNodes(graph, &node, &count));
    CU(cuGraphMemcpyNodeGetParams(node, &row));
    row.srcDevice = z;
    row.WidthInBytes = 128;
    CU(cuGraphExecMemcpyNodeSetParams(exec, node, &row, context));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

BROKEN(first, second, near)
