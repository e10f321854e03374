// SPDX-License-Identifier: Apache-2.0
// perf.small-kernels-same-buffers
//
// Small kernels follow each other on the same buffers: each reads what the one before
// wrote, and each is shorter than what lies between two nodes (about 1 us). One kernel
// could do all of it in one pass: fuse them, by a compiler or by hand.
#include "broken.h"

enum { KERNELS = 10, STEPS = 8 };

static void launch_all(CUgraphExec exec, CUstream stream)
{
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* Element-wise, again and again on two buffers. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < KERNELS; i++)
        SCALE_ADD(stream, out, in, (float)i);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
    CU(cuGraphDestroy(graph));
    launch_all(exec, stream);
}

/* Other kernels on one buffer, in a graph made by hand, after a fill. */
static void second(void)
{
    CUdeviceptr at = new_floats();
    unsigned n = FLOATS;
    float value = 2;
    void *arguments[] = {&at, &value, &n};
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
    const CUDA_MEMSET_NODE_PARAMS fills = {
        .dst = at, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CUgraph graph = NULL;
    CUgraphNode last = NULL, node = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&last, graph, NULL, 0, &fills, context));
    for (int i = 0; i < KERNELS; i++) {
        CU(cuGraphAddKernelNode(&node, graph, &last, 1, &params));
        last = node;
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- second */
    CU(cuGraphDestroy(graph));
    launch_all(exec, new_stream());
}

/* As many, but each goes on to another buffer. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr buffers[KERNELS + 1];
    for (int i = 0; i <= KERNELS; i++)
        buffers[i] = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < KERNELS; i++)
        COPY(stream, buffers[i + 1], buffers[i]);
    launch_all(end_capture(stream), stream);
}

BROKEN(first, second, near)
