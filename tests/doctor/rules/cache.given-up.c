// SPDX-License-Identifier: Apache-2.0
// cache.given-up
//
// After some refused updates the program stopped using graphs for good: its kernels are
// launched one by one ever since, slower, and nothing says so. Remove what makes the
// updates fail in the first steps (warm-up sizes, a node more or less), or capture again
// once the sizes are stable.
// also: update.node-count
#include "broken.h"

enum { LAYERS = 4, GIVES_UP = 3, STEPS = 20 };

static void layers(CUstream stream, CUdeviceptr out, CUdeviceptr in, int count)
{
    for (int i = 0; i < count; i++)
        SCALE_ADD(stream, out, in, (float)i);
}

static CUgraph capture(CUstream stream, CUdeviceptr out, CUdeviceptr in, int count)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    layers(stream, out, in, count);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* Steps with another number of layers, then all steps alike. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec = NULL;
    CUgraph graph = capture(stream, out, in, LAYERS);
    int refused = 0;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    CU(cuGraphLaunch(exec, stream));
    for (int i = 0; i < STEPS; i++) {
        if (refused < GIVES_UP) {
            graph = capture(stream, out, in, LAYERS + 1 + i);
            refused += cuGraphExecUpdate(exec, graph, &info) != 0; /* <-- first */
            CU(cuGraphDestroy(graph));
        }
        layers(stream, out, in, LAYERS);
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* Given up at once, for code of its own: the module is loaded again, so that the kernels
 * have other handles than the graph's nodes. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExec exec = NULL;
    CUgraph graph = capture(stream, out, in, LAYERS);
    CUgraph other = capture(stream, out, in, LAYERS + 2);
    CUgraphExecUpdateResultInfo info;
    CUmodule again = NULL;
    CUfunction of_nodes = scale_add;
    int refused = 0;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    while (refused < GIVES_UP + 1)
        refused += cuGraphExecUpdate(exec, other, &info) != 0; /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuModuleLoadData(&again, broken_ptx));
    CU(cuModuleGetFunction(&scale_add, again, "scale_add"));
    EXPECT(scale_add != of_nodes);
    for (int i = 0; i < STEPS; i++)
        layers(stream, out, in, LAYERS + 2);
    CU(cuStreamSynchronize(stream));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(other));
}

/* Refused as often, but instantiated again each time, and launched to the end. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec = NULL;
    CUgraph graph = capture(stream, out, in, LAYERS);
    layers(stream, out, in, LAYERS);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    for (int i = 0; i < STEPS; i++) {
        graph = capture(stream, out, in, LAYERS + (i < GIVES_UP ? i + 1 : GIVES_UP));
        if (cuGraphExecUpdate(exec, graph, &info) != 0) {
            CU(cuGraphExecDestroy(exec));
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        }
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
