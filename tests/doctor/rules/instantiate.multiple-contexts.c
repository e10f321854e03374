// SPDX-License-Identifier: Apache-2.0
// instantiate.multiple-contexts
//
// A graph for launches from the device must be of one context: with kernels, fills or
// copies of two, the instantiation fails with result 4,
// CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED. Make it a graph for each context; a
// graph that the host launches may mix them.
#include "broken.h"

static CUcontext other;

static CUdeviceptr other_floats(void)
{
    CUdevice device;
    CU(cuDeviceGet(&device, 0));
    CU(cuCtxCreate(&other, NULL, 0, device));
    CUdeviceptr out = new_floats();
    CU(cuCtxSetCurrent(context));
    return out;
}

static CUgraph build_mixed(CUdeviceptr x, CUdeviceptr y)
{
    CUgraph graph = NULL;
    CUgraphNode a = NULL, b = NULL;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = x, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&a, graph, NULL, 0, &set, context));
    set.dst = y;
    CU(cuGraphAddMemsetNode(&b, graph, &a, 1, &set, other));
    return graph;
}

/* Two fills. */
static void first(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = build_mixed(x, other_floats());
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- first */
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* A captured kernel, and another thread's fill in its own context; the call has no place
 * for a result. */
static void second(void)
{
    CUdeviceptr x = new_floats(), y = other_floats();
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode root = NULL, node = NULL;
    CUgraphExec exec = NULL;
    size_t count = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetNodes(graph, &root, &count));
    CU(cuGraphAddMemsetNode(
        &node, graph, &root, 1,
        &(CUDA_MEMSET_NODE_PARAMS){
            .dst = y, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1},
        other));
    CU(cuGraphInstantiateWithFlags(&exec, graph, /* <-- second */
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* The host launches it. */
static void near(void)
{
    CUdeviceptr x = new_floats(), y = other_floats();
    CUstream stream = new_stream();
    CUgraph graph = build_mixed(x, y);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
