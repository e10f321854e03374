// SPDX-License-Identifier: Apache-2.0
// update.node-count
//
// An update changes parameters, not the number of nodes: a graph with one node more or
// less is refused with CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE (910, result 2), and no node
// is named. Libraries choose another number of kernels by shape. Instantiate the new
// graph in place of the executable when an update is refused.
#include "broken.h"

static CUgraph capture_steps(CUstream stream, CUdeviceptr x, int steps)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < steps; i++)
        FILL(stream, x, (float)i);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* Takes 910 for the end. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = capture_steps(stream, x, 2), newer = capture_steps(stream, x, 3);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* The call of CUDA 11, in another thread, with graphs made by hand. */
static CUgraph build_copies(CUdeviceptr to, CUdeviceptr from, int count)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copied = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = from,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = to,
                            .WidthInBytes = 64,
                            .Height = 1,
                            .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < count; i++) {
        CU(cuGraphAddMemcpyNode(&node, graph, &node, i > 0 ? 1 : 0, &copied, context));
        copied.srcDevice += 64;
        copied.dstDevice += 64;
    }
    return graph;
}

#undef cuGraphExecUpdate
static void update(void *user)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = build_copies(x, y, 4), newer = build_copies(x, y, 3);
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    CUgraphExecUpdateResult result;
    (void)user;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &node, &result)); /* <-- second */
    EXPECT(node == NULL && result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}
#define cuGraphExecUpdate cuGraphExecUpdate_v2

static void second(void)
{
    in_thread(update, NULL);
}

/* Refused, and instantiated instead; and as many nodes, of which one does something else.
 */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = capture_steps(stream, x, 2);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int steps = 2; steps < 6; steps++) {
        CUgraph newer = capture_steps(stream, x, steps);
        if (cuGraphExecUpdate(exec, newer, &info) != CUDA_SUCCESS) {
            CU(cuGraphExecDestroy(exec));
            CU(cuGraphInstantiateWithFlags(&exec, newer, 0));
        }
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(float_at(x, 0) == (float)(steps - 1));
        CU(cuGraphDestroy(newer));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
