// SPDX-License-Identifier: Apache-2.0
// replay.missing-work
//
// What each step did before the capture, the graph does not do, and nobody does it between the
// launches: a buffer that was cleared, a state that was put back, a seed that was advanced. So
// sums grow from launch to launch, or numbers are drawn again. Capture it with the step, or do it
// before each launch.
#include "broken.h"

enum { STEPS = 6, BYTES = FLOATS * sizeof(float) };

static void replay(CUgraphExec exec, CUstream stream, CUdeviceptr sum)
{
    float seen[STEPS];
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(&seen[i], sum, sizeof(seen[i]), stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), sum = new_floats();
    for (int i = 0; i < 3; i++) {
        CU(cuMemsetD32Async(sum, 0, FLOATS, stream));
        SCALE_ADD(stream, sum, x, 1);
        CU(cuStreamSynchronize(stream));
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, sum, x, 1); // <-- first
    replay(end_capture(stream), stream, sum);
}

/* The state of a simulation is put back to where it began. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr state = new_floats(), start = new_floats();
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    for (int i = 0; i < 3; i++) {
        CU(cuMemcpyDtoDAsync(state, start, BYTES, stream));
        SCALE_ADD(stream, state, state, 1);
        CU(cuStreamSynchronize(stream));
    }
    CUDA_KERNEL_NODE_PARAMS kernel = floats_kernel(
        scale_add, (void *[]){&state, &state, &(float){1}, &(unsigned){FLOATS}});
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel)); // <-- second
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    replay(exec, stream, state);
}

/* It is cleared in the graph; before each launch; inputs that came for the warm-up alone, as
 * in a benchmark; and a buffer that was cleared once. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), sum = new_floats();
    CUgraphExec exec;
    float batch[FLOATS] = {0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            if (k < 2)
                CU(cuMemsetD32Async(sum, 0, FLOATS, stream));
            batch[0] = (float)i;
            CU(cuMemcpyHtoDAsync(x, batch, BYTES, stream));
            SCALE_ADD(stream, sum, x, 1);
            CU(cuStreamSynchronize(stream));
        }
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        if (k == 0)
            CU(cuMemsetD32Async(sum, 0, FLOATS, stream));
        SCALE_ADD(stream, sum, x, 1);
        exec = end_capture(stream);
        for (int i = 0; i < STEPS; i++) {
            if (k == 1)
                CU(cuMemsetD32Async(sum, 0, FLOATS, stream));
            CU(cuGraphLaunch(exec, stream));
        }
        CU(cuStreamSynchronize(stream));
        CU(cuGraphExecDestroy(exec));
        CU(cuMemFree(sum));
        sum = new_floats();
    }
}

BROKEN(first, second, near)
