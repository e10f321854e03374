// SPDX-License-Identifier: Apache-2.0
// update.edges
//
// An update pairs the nodes of two graphs by their edges, from the nodes without
// dependents back. As many nodes with other dependencies are another topology: 910,
// result 2. Fork and join in the same way in each capture, or instantiate the new graph.
#include "broken.h"

/* Two kernels one after the other, then side by side. */
static CUgraph capture(CUstream stream, CUstream side, CUdeviceptr x, CUdeviceptr y)
{
    CUgraph graph = NULL;
    CUevent event = new_event();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    if (side != stream)
        fork_to(stream, side, event);
    FILL(stream, x, 2);
    FILL(side, y, 3);
    if (side != stream)
        join_from(stream, side, event);
    FILL(stream, x, 4);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuEventDestroy(event));
    return graph;
}

static void first(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = capture(stream, stream, x, y), newer = capture(stream, side, x, y);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* By hand: an edge is taken out of the graph that the executable was made from. */
static void second(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphNode nodes[4] = {NULL, NULL, NULL, NULL};
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < 4; i++)
        CU(cuGraphAddMemsetNode(
            &nodes[i], graph, nodes, (size_t)i,
            &(CUDA_MEMSET_NODE_PARAMS){
                .dst = x, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1},
            context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphRemoveDependencies(graph, &nodes[0], &nodes[3], NULL, 1));
    CU(cuGraphExecUpdate(exec, graph, &info)); /* <-- second */
    EXPECT(info.errorNode == nodes[3]);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* The same edges; only the nodes were made in another order. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graphs[2] = {NULL, NULL};
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMSET_NODE_PARAMS sets[2] = {
        {.dst = x, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1},
        {.dst = y, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1}};
    for (int i = 0; i < 2; i++) {
        CUgraphNode a = NULL, b = NULL, end = NULL;
        CU(cuGraphCreate(&graphs[i], 0));
        CU(cuGraphAddMemsetNode(i == 0 ? &a : &b, graphs[i], NULL, 0, &sets[i], context));
        CU(cuGraphAddMemsetNode(i == 0 ? &b : &a, graphs[i], NULL, 0, &sets[!i],
                                context));
        CU(cuGraphAddEmptyNode(&end, graphs[i], (CUgraphNode[]){a, b}, 2));
    }
    CU(cuGraphInstantiateWithFlags(&exec, graphs[0], 0));
    CU(cuGraphExecUpdate(exec, graphs[1], &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graphs[0]));
    CU(cuGraphDestroy(graphs[1]));
}

BROKEN(first, second, near)
