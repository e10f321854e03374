// SPDX-License-Identifier: Apache-2.0
// update.node-type
//
// A node keeps its type: where the executable has a fill and the new graph a kernel, the
// update is refused (910, result 3). Libraries fill or copy by a kernel or by a node of
// its own type, by size and alignment. Keep to one way, or instantiate the new graph.
#include "broken.h"

/* The buffer is cleared by a fill, then by a kernel. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL, newer = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemsetD32Async(x, 0, FLOATS, stream));
    SCALE_ADD(stream, x, x, 2);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 0);
    SCALE_ADD(stream, x, x, 2);
    CU(cuStreamEndCapture(stream, &newer));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* By hand, an event in place of an empty node. */
static void second(void)
{
    CUgraph graph = NULL, newer = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphCreate(&newer, 0));
    CU(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CU(cuGraphAddEventRecordNode(&node, newer, NULL, 0, new_event()));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- second */
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* Another kernel, with other arguments, in the place of a kernel. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = NULL, newer = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 6);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, y, x, 2);
    CU(cuStreamEndCapture(stream, &newer));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(y, 0) == 12);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

BROKEN(first, second, near)
