// SPDX-License-Identifier: Apache-2.0
// update.memset-size
//
// A fill keeps its number of rows, and one of several rows its width, pitch and element,
// too: else the update is refused (910, result 5). Address and value may change, and the
// length of a fill of one row. Fill by a kernel where rows vary, or instantiate the new
// graph.
#include "broken.h"

static CUgraph capture_rows(CUstream stream, CUdeviceptr out, size_t width, size_t rows)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemsetD2D32Async(out, 256, 7, width, rows, stream));
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* A batch of four rows, then of eight. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = capture_rows(stream, x, 32, 4),
            newer = capture_rows(stream, x, 32, 8);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* Wider rows, by a setter. */
static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = new_floats(), .pitch = 128, .elementSize = 1, .width = 100, .height = 3};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    set.width = 120;
    CU(cuGraphExecMemsetNodeSetParams(exec, node, &set, context)); /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Rows stay, the value changes; and a single row that grows. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = capture_rows(stream, x, 32, 1),
            newer = capture_rows(stream, x, 64, 1);
    CUgraphNode node = NULL;
    size_t count = 1;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
    graph = capture_rows(stream, x, 32, 4);
    CU(cuGraphGetNodes(graph, &node, &count));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_MEMSET_NODE_PARAMS set;
    CU(cuGraphMemsetNodeGetParams(node, &set));
    set.value = 8;
    CU(cuGraphExecMemsetNodeSetParams(exec, node, &set, context));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
