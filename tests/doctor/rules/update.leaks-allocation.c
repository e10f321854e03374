// SPDX-License-Identifier: Apache-2.0
// update.leaks-allocation
//
// A launch leaves memory behind that its graph allocates and does not free. If the
// executable is updated while that memory lives, nobody can free it any more: the update
// succeeds, the pointer is dead, the memory stays taken until the process ends. Free it
// (cuMemFreeAsync) before the update, or free it in the graph.
// also: memory.graph-memory-leak
#include "broken.h"

static CUgraph capture_result(CUstream stream, CUdeviceptr *result, float value)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(result, FLOATS * sizeof(float), stream));
    FILL(stream, *result, value);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The result of the first launch is never freed. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr one = 0, two = 0;
    CUgraph graph = capture_result(stream, &one, 1), newer = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    newer = capture_result(stream, &two, 2);
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemFreeAsync(two, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(newer));
    CU(cuGraphDestroy(graph));
}

/* By hand; the flag frees what the graph of today allocates, not what the one before did.
 */
static CUgraph build_result(size_t bytes)
{
    CUgraph graph = NULL;
    CUgraphNode alloc = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = bytes};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &wanted));
    return graph;
}

static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = build_result(1 << 20), newer = build_result(4 << 20);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- second */
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(newer));
    CU(cuGraphDestroy(graph));
}

/* Freed before the update; and never allocated, as there was no launch. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr one = 0, two = 0, three = 0;
    CUgraph graph = capture_result(stream, &one, 1),
            newer = capture_result(stream, &two, 2), last = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemFreeAsync(two, stream));
    CU(cuStreamSynchronize(stream));
    last = capture_result(stream, &three, 3);
    CU(cuGraphExecUpdate(exec, last, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(three, 8) == 3);
    CU(cuMemFree(three));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
    CU(cuGraphDestroy(last));
}

BROKEN(first, second, near)
