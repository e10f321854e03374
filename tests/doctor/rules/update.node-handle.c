// SPDX-License-Identifier: Apache-2.0
// update.node-handle
//
// A setter of an executable takes the nodes of the graph it was made from or last updated
// with. A node of another graph, be it captured from the same code, is
// CUDA_ERROR_INVALID_VALUE, and the executable keeps its old parameters. Keep the handles
// of the graph that you instantiate.
#include "broken.h"

static CUgraph capture_fill(CUstream stream, CUdeviceptr out, CUgraphNode *node)
{
    CUgraph graph = NULL;
    size_t count = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 5);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetNodes(graph, node, &count));
    return graph;
}

/* Captured twice, instantiated from one, set by the node of the other. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphNode node = NULL, other = NULL;
    CUgraph graph = capture_fill(stream, x, &node),
            newer = capture_fill(stream, y, &other);
    CUgraphExec exec = NULL;
    CUDA_KERNEL_NODE_PARAMS params;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphKernelNodeGetParams(other, &params));
    CU(cuGraphExecKernelNodeSetParams(exec, other, &params)); /* <-- first */
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 0) == 5 && float_at(y, 0) == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* The executable is of a clone, whose nodes have handles of their own. */
static void second(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL, copied = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    params.memset.dst = x;
    params.memset.elementSize = 4;
    params.memset.width = FLOATS;
    params.memset.height = 1;
    params.memset.ctx = context;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    CU(cuGraphClone(&copied, graph));
    CU(cuGraphInstantiateWithFlags(&exec, copied, 0));
    params.memset.value = 3;
    CU(cuGraphExecNodeSetParams(exec, node, &params)); /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(copied));
    CU(cuGraphDestroy(graph));
}

/* The clone's node is looked up. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphNode node = NULL, found = NULL;
    CUgraph graph = capture_fill(stream, x, &node), copied = NULL;
    CUgraphExec exec = NULL;
    CUDA_KERNEL_NODE_PARAMS params;
    CU(cuGraphClone(&copied, graph));
    CU(cuGraphNodeFindInClone(&found, node, copied));
    CU(cuGraphInstantiateWithFlags(&exec, copied, 0));
    CU(cuGraphKernelNodeGetParams(found, &params));
    params.kernelParams[0] = &y;
    CU(cuGraphExecKernelNodeSetParams(exec, found, &params));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(y, 0) == 5);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(copied));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
