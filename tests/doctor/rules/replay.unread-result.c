// SPDX-License-Identifier: Apache-2.0
// replay.unread-result
//
// The program reads the buffer that eager steps wrote; the graph writes another one, which
// nobody reads. So the same old result is seen after each launch. Read the buffer that the graph
// has, or copy its result to where the program looks.
#include "broken.h"

enum { STEPS = 6 };

static float results[STEPS];

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats(), graphs = new_floats();
    CUgraphExec exec;
    COPY(stream, y, x);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, graphs, x);
    exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuMemsetD32Async(x, (unsigned)i, FLOATS, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&results[i], y, sizeof(float), stream)); // <-- first
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* By a graph made by hand, and calls that wait. */
static void second(void)
{
    CUdeviceptr x = new_floats(), y = new_floats(), own = new_floats();
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUDA_KERNEL_NODE_PARAMS kernel =
        floats_kernel(scale_add, (void *[]){&own, &x, &(float){1}, &(unsigned){FLOATS}});
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, NULL));
        CU(cuMemcpyDtoH(&results[i], y, sizeof(float))); // <-- second
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Weights are read for a checkpoint while the result is read as well; the result is copied to
 * where the program looks; and a benchmark that reads nothing. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats(), weights = new_floats();
    CUgraphExec exec;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, x, x, 2);
    exec = end_capture(stream);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < STEPS; i++) {
            CU(cuGraphLaunch(exec, stream));
            if (k == 0) {
                CU(cuMemcpyDtoHAsync(&results[i], x, sizeof(float), stream));
                CU(cuMemcpyDtoHAsync(&results[i], weights, sizeof(float), stream));
            } else if (k == 1) {
                CU(cuMemcpyDtoDAsync(y, x, sizeof(float), stream));
                CU(cuMemcpyDtoHAsync(&results[i], y, sizeof(float), stream));
            }
        }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
