// SPDX-License-Identifier: Apache-2.0
// update.attributes
//
// A kernel stays cooperative or not, and in an executable that was instantiated with
// CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY it keeps its priority: else the update is
// refused (910, result 8). Capture from streams of one priority, instantiate without the
// flag, or instantiate the new graph.
#include "broken.h"

static CUstream urgent_stream(void)
{
    CUstream out = NULL;
    int least = 0, most = 0;
    CU(cuCtxGetStreamPriorityRange(&least, &most));
    CU(cuStreamCreateWithPriority(&out, CU_STREAM_NON_BLOCKING, most));
    return out;
}

/* Captured from a stream of another priority. */
static void first(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = fill_graph(new_stream(), x), newer = fill_graph(urgent_stream(), x);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* The kernel of the graph by hand becomes cooperative. */
static void second(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUlaunchAttributeValue value = {.cooperative = 1};
    CUDA_KERNEL_NODE_PARAMS params = {.func = fill,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 128,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams =
                                          (void *[]){&x, &(float){2}, &(unsigned){128}}};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    CU(cuGraphExecUpdate(exec, graph, &info)); /* <-- second */
    EXPECT(info.errorNode == node);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Another priority where the executable does not use it. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = fill_graph(stream, x), newer = fill_graph(urgent_stream(), x);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 0) == 5);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

BROKEN(first, second, near)
