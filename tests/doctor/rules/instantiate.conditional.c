// SPDX-License-Identifier: Apache-2.0
// instantiate.conditional
//
// A graph with conditional nodes can be instantiated once, neither cloned nor made a
// child graph, and each handle of it must belong to a node: a handle that none has is
// result 5, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED. Create handles where their
// node is added, and build the graph again for a second executable.
#include "broken.h"

/* A handle for a node that was never added. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphConditionalHandle handle = 0;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- first */
    EXPECT(params.result_out == CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    CU(cuGraphDestroy(graph));
}

static CUgraph build_condition(CUdeviceptr out)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL, inner = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    if (CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params)) != CUDA_SUCCESS)
        exit(77);
    CU(cuGraphAddMemsetNode(
        &inner, params.conditional.phGraph_out[0], NULL, 0,
        &(CUDA_MEMSET_NODE_PARAMS){
            .dst = out, .value = 7, .elementSize = 4, .width = FLOATS, .height = 1},
        context));
    return graph;
}

/* An executable for each of two streams. */
static void second(void)
{
    CUgraph graph = build_condition(new_floats());
    CUgraphExec one = NULL, two = NULL;
    CU(cuGraphInstantiateWithFlags(&one, graph, 0));
    CU(cuGraphInstantiateWithFlags(&two, graph, 0)); /* <-- second */
    EXPECT(two == NULL);
    CU(cuGraphExecDestroy(one));
    CU(cuGraphDestroy(graph));
}

/* One graph for each executable. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graphs[2] = {build_condition(x), build_condition(x)};
    CUgraphExec execs[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        CU(cuGraphInstantiateWithFlags(&execs[i], graphs[i], 0));
        CU(cuGraphLaunch(execs[i], stream));
    }
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++) {
        CU(cuGraphExecDestroy(execs[i]));
        CU(cuGraphDestroy(graphs[i]));
    }
}

BROKEN(first, second, near)
