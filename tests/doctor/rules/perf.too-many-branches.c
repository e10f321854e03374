// SPDX-License-Identifier: Apache-2.0
// perf.too-many-branches
//
// The graph has more parallel branches than the device has hardware queues (at most 32):
// those beyond wait for others, in an order that is the driver's. Make fewer and longer
// branches.
#include "broken.h"

enum { BRANCHES = 40, STEPS = 8 };

static void launch_all(CUgraphExec exec, CUstream stream)
{
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A stream a branch, all forked and joined. */
static CUgraph capture(CUstream stream, int branches)
{
    CUevent event = new_event();
    CUgraph graph = NULL;
    const CUdeviceptr in = new_floats();
    CUstream sides[BRANCHES];
    CUdeviceptr outs[BRANCHES];
    for (int i = 0; i < branches; i++) {
        sides[i] = new_stream();
        outs[i] = new_floats();
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, in, 1);
    for (int i = 0; i < branches; i++)
        fork_to(stream, sides[i], event);
    for (int i = 0; i < branches; i++) {
        COPY(sides[i], outs[i], in);
        join_from(stream, sides[i], event);
    }
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void first(void)
{
    CUstream stream = new_stream();
    CUgraphExec exec = NULL;
    CUgraph graph = capture(stream, BRANCHES);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
    CU(cuGraphDestroy(graph));
    launch_all(exec, stream);
}

/* Roots without any edge, made by hand. */
static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < BRANCHES; i++) {
        const CUDA_MEMSET_NODE_PARAMS fills = {.dst = new_floats(),
                                               .value = i,
                                               .elementSize = 4,
                                               .width = FLOATS,
                                               .height = 1};
        CU(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fills, context));
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- second */
    CU(cuGraphDestroy(graph));
    launch_all(exec, new_stream());
}

/* Thirty branches. */
static void near(void)
{
    CUstream stream = new_stream();
    CUgraphExec exec = NULL;
    CUgraph graph = capture(stream, 30);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    launch_all(exec, stream);
}

BROKEN(first, second, near)
