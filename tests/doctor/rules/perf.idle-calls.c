// SPDX-License-Identifier: Apache-2.0
// perf.idle-calls
//
// An executable stays on the device once it was uploaded or launched, and a node keeps the
// parameters that it was given. Uploads before each launch, and setters of all nodes where one has
// changed, cost the host their time and change nothing. Reported from 16 such uploads on, or 64 such
// setters that are three quarters of all. An upload after an edit is left alone, and so is a setter
// that gives something else.
#include "broken.h"

enum { NODES = 8, STEPS = 20 };

/* A helper that uploads, "to be sure", whatever it launches. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < NODES; i++)
        FILL(stream, x, 5);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphUpload(exec, stream)); // <-- first
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A chain of fills; `value` is the first one's. */
static CUgraphExec chain(CUgraphNode *nodes, void **arguments)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < NODES; i++)
        CU(cuGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0,
                                &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* One node changes at each step, all are set. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    float value = 5, rest = 5;
    unsigned count = FLOATS;
    CUgraphNode nodes[NODES];
    void *arguments[] = {&x, &rest, &count}, *changed[] = {&x, &value, &count};
    CUgraphExec exec = chain(nodes, arguments);
    const CUDA_KERNEL_NODE_PARAMS same = floats_kernel(fill, arguments);
    const CUDA_KERNEL_NODE_PARAMS other = floats_kernel(fill, changed);
    for (int i = 0; i < STEPS; i++) {
        value = (float)i;
        for (int k = 0; k < NODES; k++) {
            const CUDA_KERNEL_NODE_PARAMS *params = k == 0 ? &other : &same;
            CU(cuGraphExecKernelNodeSetParams(exec, nodes[k], params)); // <-- second
        }
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* Each setter gives another value, and each upload is of what was edited. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    float value = 5;
    unsigned count = FLOATS;
    CUgraphNode nodes[NODES];
    void *arguments[] = {&x, &value, &count};
    CUgraphExec exec = chain(nodes, arguments);
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < NODES; k++) {
            value += 1;
            CU(cuGraphExecKernelNodeSetParams(exec, nodes[k], &params));
        }
        CU(cuGraphUpload(exec, stream));
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
