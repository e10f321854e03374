// SPDX-License-Identifier: Apache-2.0
// update.operand-backing
//
// An operand of a copy stays in memory of one sort: of a context (cuMemAlloc, managed,
// pinned), or of no context (pools, that is cuMemAllocAsync, and mapped ranges), or of
// graphs. An update that moves it to another sort is refused (910, result 5; a setter
// says CUDA_ERROR_INVALID_VALUE); which pool it is of does not matter. Copy through a
// buffer of one sort, copy by a kernel, or instantiate the new graph.
#include "broken.h"

static CUgraph capture_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemcpyDtoDAsync(to, from, FLOATS * sizeof(float), stream));
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The source was allocated by cuMemAlloc, then by cuMemAllocAsync. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats(), z = 0;
    CU(cuMemAllocAsync(&z, FLOATS * sizeof(float), stream));
    CU(cuMemsetD32Async(z, 1, FLOATS, stream));
    CU(cuStreamSynchronize(stream));
    CUgraph graph = capture_copy(stream, x, y), newer = capture_copy(stream, x, z);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
    CU(cuMemFreeAsync(z, stream));
    CU(cuStreamSynchronize(stream));
}

/* By hand and by a setter: the destination goes from a pool of the program's own to
 * managed memory. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr pooled = 0, managed = 0;
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CU(cuMemPoolCreate(&pool, &props));
    CU(cuMemAllocFromPoolAsync(&pooled, 4096, pool, stream));
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CU(cuStreamSynchronize(stream));
    CUDA_MEMCPY3D copied = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = new_floats(),
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = pooled,
                            .WidthInBytes = 4096,
                            .Height = 1,
                            .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copied, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    copied.dstDevice = managed;
    CU(cuGraphExecMemcpyNodeSetParams(exec, node, &copied, context)); /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuMemFreeAsync(pooled, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemPoolDestroy(pool));
    CU(cuMemFree(managed));
}

/* From pool to pool, and from device to managed memory. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = 0, z = 0, managed = 0;
    CUmemoryPool pool = NULL;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuMemPoolCreate(&pool, &props));
    CU(cuMemAllocAsync(&y, FLOATS * sizeof(float), stream));
    CU(cuMemAllocFromPoolAsync(&z, FLOATS * sizeof(float), pool, stream));
    CU(cuMemsetD32Async(y, 1, FLOATS, stream));
    CU(cuMemsetD32Async(z, 2, FLOATS, stream));
    CU(cuStreamSynchronize(stream));
    CUgraph graph = capture_copy(stream, x, y), newer = capture_copy(stream, x, z);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
    CU(cuMemAllocManaged(&managed, FLOATS * sizeof(float), CU_MEM_ATTACH_GLOBAL));
    CUdeviceptr w = new_floats();
    graph = capture_copy(stream, x, w);
    newer = capture_copy(stream, x, managed);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
    CU(cuMemFree(managed));
    CU(cuMemFreeAsync(y, stream));
    CU(cuMemFreeAsync(z, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemPoolDestroy(pool));
}

BROKEN(first, second, near)
