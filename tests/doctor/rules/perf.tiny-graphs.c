// SPDX-License-Identifier: Apache-2.0
// perf.tiny-graphs
//
// Many graphs of a node or two are launched one after the other: each launch costs
// nearly what the launches of its kernels would. Capture more in one graph, across what
// now lies between; leave single kernels without a graph.
// timing: gaps between launches
#include "broken.h"

enum { STEPS = 30, PARTS = 3 };

/* Three graphs of one kernel each, a step. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExec execs[PARTS];
    for (int i = 0; i < PARTS; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, out, in, (float)i);
        execs[i] = end_capture(stream);
    }
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < PARTS; k++)
            CU(cuGraphLaunch(execs[k], stream)); /* <-- first */
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < PARTS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

/* One graph of two fills, launched again and again from a thread. */
static void run(void *user)
{
    CUstream stream = user;
    CUgraph graph = NULL;
    CUgraphNode nodes[2];
    CUgraphExec exec = NULL;
    const CUDA_MEMSET_NODE_PARAMS fills = {
        .dst = new_floats(), .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fills, context));
    CU(cuGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &fills, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS * PARTS; i++)
        CU(cuGraphLaunch(exec, stream)); /* <-- second */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

static void second(void)
{
    in_thread(run, new_stream());
}

/* One graph of all parts a step; and one of a single kernel that is alone. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < PARTS; i++)
        SCALE_ADD(stream, out, in, (float)i);
    CUgraphExec exec = end_capture(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, in, 1);
    CUgraphExec last = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < PARTS; k++)
            CU(cuGraphLaunch(exec, stream));
        CU(cuGraphLaunch(last, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphExecDestroy(last));
}

BROKEN(first, second, near)
