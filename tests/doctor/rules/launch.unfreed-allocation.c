// SPDX-License-Identifier: Apache-2.0
// launch.unfreed-allocation
//
// Memory that a graph allocates and does not free lives on after the launch, and the
// graph cannot be launched again while it does: CUDA_ERROR_INVALID_VALUE. Free it in the
// graph, or between launches (cuMemFreeAsync), or instantiate with
// CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH.
#include "broken.h"

static CUgraph capture_result(CUstream stream, CUdeviceptr *result)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(result, FLOATS * sizeof(float), stream));
    FILL(stream, *result, 5);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The result is left where it is. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr result = 0;
    CUgraph graph = capture_result(stream, &result);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphLaunch(exec, stream)); /* <-- first */
    CU(cuMemFreeAsync(result, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* By hand, two allocations of which one is freed; launched again by another thread. */
static void launch(void *user)
{
    CU(cuGraphLaunch(*(CUgraphExec *)user, CU_STREAM_PER_THREAD)); /* <-- second */
}

static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode a = NULL, b = NULL, release = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = new_stream();
    CUDA_MEM_ALLOC_NODE_PARAMS wanted[2] = {
        {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
         .bytesize = 1 << 20}};
    wanted[1] = wanted[0];
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&a, graph, NULL, 0, &wanted[0]));
    CU(cuGraphAddMemAllocNode(&b, graph, &a, 1, &wanted[1]));
    CU(cuGraphAddMemFreeNode(&release, graph, &b, 1, wanted[0].dptr));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    in_thread(launch, &exec);
    CU(cuMemFree(wanted[1].dptr));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Freed between two launches; and with the flag. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr result = 0;
    CUgraph graph = capture_result(stream, &result);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemFreeAsync(result, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(result, 4) == 5);
    CU(cuMemFreeAsync(result, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
