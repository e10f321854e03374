// SPDX-License-Identifier: Apache-2.0
// perf.serialised
//
// The graph is one chain, though parts of it share no memory: each node waits for the one
// before, and the device works on one at a time. Capture independent parts on side
// streams, forked and joined by events; launching the graph on other streams changes
// nothing, the edges are in the graph.
#include "broken.h"

enum { PARTS = 4, LENGTH = 4, STEPS = 8 };

static void launch_all(CUgraphExec exec, CUstream stream)
{
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* Four parts with buffers of their own, captured one after the other on one stream. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr ins[PARTS], outs[PARTS];
    for (int i = 0; i < PARTS; i++) {
        ins[i] = new_floats();
        outs[i] = new_floats();
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < LENGTH; k++)
            SCALE_ADD(stream, outs[i], ins[i], (float)k);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
    CU(cuGraphDestroy(graph));
    launch_all(exec, stream);
}

/* In turn, with fills and copies between, made by hand. */
static void second(void)
{
    CUdeviceptr at[2] = {new_floats(), new_floats()};
    unsigned n = FLOATS;
    float value = 2;
    CUgraph graph = NULL;
    CUgraphNode last = NULL, node = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < PARTS * LENGTH; i++) {
        void *arguments[] = {&at[i % 2], &value, &n};
        const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
        CU(cuGraphAddKernelNode(&node, graph, &last, i > 0, &params));
        last = node;
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- second */
    CU(cuGraphDestroy(graph));
    launch_all(exec, new_stream());
}

/* A chain whose nodes do depend on each other; and parts that are captured apart. */
static void near(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event();
    CUdeviceptr buffers[PARTS * LENGTH + 1];
    for (int i = 0; i <= PARTS * LENGTH; i++)
        buffers[i] = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < PARTS * LENGTH; i++)
        COPY(stream, buffers[i + 1], buffers[i]);
    launch_all(end_capture(stream), stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fork_to(stream, side, event);
    for (int i = 0; i < LENGTH; i++) {
        COPY(stream, buffers[1], buffers[0]);
        COPY(side, buffers[3], buffers[2]);
    }
    join_from(stream, side, event);
    launch_all(end_capture(stream), stream);
}

BROKEN(first, second, near)
