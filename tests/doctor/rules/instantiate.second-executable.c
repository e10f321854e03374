// SPDX-License-Identifier: Apache-2.0
// instantiate.second-executable
//
// A graph that allocates or frees memory can have one executable at a time, since that
// one owns its memory: a second instantiation is CUDA_ERROR_NOT_SUPPORTED. An update
// moves the ownership: the executable then belongs to the graph it was updated with.
// Destroy the first executable, or capture the work a second time.
#include "broken.h"

static CUgraph capture_temporary(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CUdeviceptr temporary = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemAllocAsync(&temporary, FLOATS * sizeof(float), stream));
    FILL(stream, temporary, 2);
    COPY(stream, out, temporary);
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* One executable for each of two streams. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraph graph = capture_temporary(stream, new_floats());
    CUgraphExec one = NULL, two = NULL;
    CU(cuGraphInstantiateWithFlags(&one, graph, 0));
    CU(cuGraphLaunch(one, stream));
    CU(cuGraphInstantiateWithFlags(&two, graph, 0)); /* <-- first */
    EXPECT(two == NULL);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(one));
    CU(cuGraphDestroy(graph));
}

/* By hand: the graph has no executable of its own, but one was updated with it. */
static CUgraph build_temporary(CUdeviceptr out, unsigned value)
{
    CUgraph graph = NULL;
    CUgraphNode alloc = NULL, set = NULL, release = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4096};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &wanted));
    CU(cuGraphAddMemsetNode(
        &set, graph, &alloc, 1,
        &(CUDA_MEMSET_NODE_PARAMS){
            .dst = out, .value = value, .elementSize = 4, .width = FLOATS, .height = 1},
        context));
    CU(cuGraphAddMemFreeNode(&release, graph, &set, 1, wanted.dptr));
    return graph;
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = build_temporary(x, 1), newer = build_temporary(x, 2);
    CUgraphExec exec = NULL, other = NULL;
    CUgraphExecUpdateResultInfo info;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphInstantiateWithParams(&other, newer, &params)); /* <-- second */
    EXPECT(other == NULL);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* One after the other; two at once of a graph without memory nodes; and of the graph that
 * an update has set free. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = capture_temporary(stream, x), plain = NULL;
    CUgraphExec one = NULL, two = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&one, graph, 0));
    CU(cuGraphExecDestroy(one));
    CU(cuGraphInstantiateWithFlags(&one, graph, 0));
    CU(cuGraphLaunch(one, stream));
    CUgraph newer = capture_temporary(stream, x);
    CU(cuGraphExecUpdate(one, newer, &info));
    CU(cuGraphInstantiateWithFlags(&two, graph, 0));
    CU(cuGraphLaunch(two, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(one));
    CU(cuGraphExecDestroy(two));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 7);
    CU(cuStreamEndCapture(stream, &plain));
    CU(cuGraphInstantiateWithFlags(&one, plain, 0));
    CU(cuGraphInstantiateWithFlags(&two, plain, 0));
    CU(cuGraphLaunch(one, stream));
    CU(cuGraphLaunch(two, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 9) == 7);
    CU(cuGraphExecDestroy(one));
    CU(cuGraphExecDestroy(two));
    CU(cuGraphDestroy(plain));
    CU(cuGraphDestroy(newer));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
