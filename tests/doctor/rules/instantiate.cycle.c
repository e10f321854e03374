// SPDX-License-Identifier: Apache-2.0
// instantiate.cycle
//
// A graph whose edges form a cycle has no first node, so it cannot be instantiated.
// cuGraphAddDependencies() takes each edge by itself and does not look for circles; the
// instantiation finds them and says CUDA_ERROR_INVALID_VALUE. Take one edge of the circle
// out with cuGraphRemoveDependencies().
#include "broken.h"

#define SET(out, with)                                                                   \
    (&(CUDA_MEMSET_NODE_PARAMS){                                                         \
        .dst = (out), .value = (with), .elementSize = 4, .width = FLOATS, .height = 1})

/* Three nodes by hand, the last of which leads back to the first. */
static void first(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode a = NULL, b = NULL, c = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&a, graph, NULL, 0, SET(x, 1), context));
    CU(cuGraphAddMemsetNode(&b, graph, &a, 1, SET(x, 2), context));
    CU(cuGraphAddMemsetNode(&c, graph, &b, 1, SET(x, 3), context));
    CU(cuGraphAddDependencies(graph, &c, &a, NULL, 1));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* A captured graph gets one edge more, in another thread, and the wrong way round. */
static void edit(void *user)
{
    CUgraph graph = *(CUgraph *)user;
    CUgraphExec exec = NULL;
    CUgraphNode nodes[2] = {NULL, NULL};
    size_t count = 2;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CU(cuGraphGetNodes(graph, nodes, &count));
    if (CU(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], NULL, 1)) != CUDA_SUCCESS)
        CU(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], NULL, 1));
    else
        EXPECT(0);
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
    EXPECT(params.result_out == CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    FILL(stream, x, 2);
    CU(cuStreamEndCapture(stream, &graph));
    in_thread(edit, &graph);
    CU(cuGraphDestroy(graph));
}

/* The edge that would have closed the circle is taken out in time; a diamond is none. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode a = NULL, b = NULL, c = NULL, d = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&a, graph, NULL, 0, SET(x, 1), context));
    CU(cuGraphAddMemsetNode(&b, graph, &a, 1, SET(x, 2), context));
    CU(cuGraphAddMemsetNode(&c, graph, &a, 1, SET(y, 3), context));
    CU(cuGraphAddMemsetNode(&d, graph, (CUgraphNode[]){b, c}, 2, SET(x, 4), context));
    CU(cuGraphAddDependencies(graph, &d, &a, NULL, 1));
    CU(cuGraphRemoveDependencies(graph, &d, &a, NULL, 1));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
