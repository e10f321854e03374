// SPDX-License-Identifier: Apache-2.0
// perf.instantiate-per-launch
//
// The same graph is captured, instantiated, launched and destroyed in every step.
// Instantiation is the expensive part: 846 us for 200 nodes, where an update takes 6 us. Keep
// the executable graph and update it; instantiate again only where the update is refused.
// timing: what instantiations cost
#include "broken.h"

enum { STEPS = 12 };

/* Captured and instantiated in each step. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    for (int i = 0; i < STEPS; i++) {
        CUgraph graph = NULL;
        CUgraphExec exec = NULL;
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, out, in, (float)i);
        COPY(stream, in, out);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(graph));
    }
}

/* Captured once; the executable graph is thrown away after two launches. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS fills = {
        .dst = new_floats(), .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fills, context));
    for (int i = 0; i < STEPS; i++) {
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
        CUgraphExec exec = NULL;
        CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
        CU(cuGraphLaunch(exec, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        CU(cuGraphExecDestroy(exec));
    }
    CU(cuGraphDestroy(graph));
}

/* Instantiated again only where the update is refused. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    for (int i = 0; i < STEPS; i++) {
        CUgraph graph = NULL;
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (int k = 0; k <= i % 2; k++)
            SCALE_ADD(stream, out, in, (float)i);
        CU(cuStreamEndCapture(stream, &graph));
        if (exec != NULL && cuGraphExecUpdate(exec, graph, &info) != CUDA_SUCCESS) {
            CU(cuGraphExecDestroy(exec));
            exec = NULL;
        }
        if (exec == NULL)
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
