// SPDX-License-Identifier: Apache-2.0
/* Variables that captured kernels were given are used for something else afterwards: one for
 * the layers in turn, one as the counter of the steps, which was another at the capture, one
 * on a stack that has been left. */
#include "kit.h"

static CUfunction add;
static CUstream stream;
static unsigned n = 64;

static void grow(CUdeviceptr x, float by)
{
    CK(LAUNCH(add, n, stream, &x, &by, &n));
}

int main(void)
{
    CUgraph graph;
    CUgraphExec exec;
    device_open();
    add = kernel("add");
    stream = stream_new();
    CUdeviceptr x = floats(n);
    float scale, step = 8;
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (scale = 1; scale < 4; scale++)
        CK(LAUNCH(add, n, stream, &x, &scale, &n));
    CK(LAUNCH(add, n, stream, &x, &step, &n));
    grow(x, 2);
    CK(cuStreamEndCapture(stream, &graph));
    CK(cuGraphInstantiate(&exec, graph, 0));
    for (step = 0, scale = 3; step < 6; step++, scale++)
        CK(cuGraphLaunch(exec, stream));
    CK(cuStreamSynchronize(stream));
    printf("%g %g\n", first(x), scale);
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    return 0;
}
