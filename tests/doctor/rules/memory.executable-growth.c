// SPDX-License-Identifier: Apache-2.0
// memory.executable-growth
//
// Executable graphs of the same kernels and sizes are made again and again while the
// program runs, and none is destroyed: each takes memory of the device and of the host.
// A cache whose key never repeats (an address, a step) grows without limit. Update one
// executable graph, or limit the cache and destroy what was not used for long.
// also: memory.growth
#include "broken.h"

enum { STEPS = 40 };

/* Captured in each step, "cached" by the address of the step's buffer. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    for (int i = 0; i < STEPS; i++) {
        const CUdeviceptr in = new_floats();
        CUgraph graph = NULL;
        CUgraphExec exec = NULL;
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, out, in, (float)i);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(float_at(out, 0) == 0);
    }
}

/* One graph, instantiated for each batch of launches. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS fills = {
        .dst = out, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fills, context));
    for (int i = 0; i < STEPS; i++) {
        CUgraphExec exec = NULL;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
        CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
        for (int k = 0; k < 2; k++)
            CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphDestroy(graph));
}

/* Forty of one class are made before the work begins, each launched once to warm up, and
 * all are in use. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraphExec execs[STEPS];
    for (int i = 0; i < STEPS; i++) {
        const CUdeviceptr in = new_floats();
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, out, in, (float)i);
        execs[i] = end_capture(stream);
        CU(cuGraphLaunch(execs[i], stream));
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < 2 * STEPS; i++) {
        CU(cuGraphLaunch(execs[i % STEPS], stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(float_at(out, 0) == 0);
    }
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
