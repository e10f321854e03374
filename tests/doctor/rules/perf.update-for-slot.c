// SPDX-License-Identifier: Apache-2.0
// perf.update-for-slot
//
// In every step the whole graph is captured and updated, and only a few arguments of
// kernels differ. Set just these: cuGraphExecKernelNodeSetParams(), or a slot of libgph
// (gph_slot_create()).
#include "broken.h"

enum { STEPS = 20 };

/* A factor that changes. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec = NULL;
    for (int i = 0; i < STEPS; i++) {
        CUgraph graph = NULL;
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        SCALE_ADD(stream, out, in, (float)i);
        COPY(stream, in, out);
        CU(cuStreamEndCapture(stream, &graph));
        if (exec == NULL)
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        else
            CU(cuGraphExecUpdate(exec, graph, &info)); /* <-- first */
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* An address that changes, in a graph made by hand, whose node is set before each
 * update. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr ins[2] = {new_floats(), new_floats()};
    CUdeviceptr out = new_floats(), in = ins[0];
    unsigned n = FLOATS;
    void *arguments[] = {&out, &in, &n};
    CUDA_KERNEL_NODE_PARAMS params = floats_kernel(copy, arguments);
    CUgraphExecUpdateResultInfo info;
    CUgraph graph = NULL;
    CUgraphNode nodes[2];
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&nodes[0], graph, NULL, 0, &params));
    CU(cuGraphAddEmptyNode(&nodes[1], graph, nodes, 1));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++) {
        in = ins[i % 2];
        CU(cuGraphKernelNodeSetParams(nodes[0], &params));
        CU(cuGraphExecUpdate(exec, graph, &info)); /* <-- second */
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Updates that change the grid. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec = NULL;
    for (unsigned i = 0; i < STEPS; i++) {
        CUgraph graph = NULL;
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        LAUNCH(fill, 1 + i % 5, stream, &(CUdeviceptr){out}, &(float){1},
               &(unsigned){128 * (1 + i % 5)});
        CU(cuStreamEndCapture(stream, &graph));
        if (exec == NULL)
            CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
        else
            CU(cuGraphExecUpdate(exec, graph, &info));
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
