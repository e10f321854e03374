// SPDX-License-Identifier: Apache-2.0
/* A demo replays on one input; once in between it uploads a mask of the same size for a
 * feature that this run never uses. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction add = app_kernel("add");
    unsigned n = 256;
    static float h[256];
    CUdeviceptr in = app_alloc(1024), mask = app_alloc(1024), w = app_alloc(1024),
                out = app_alloc(1024);
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(RUN(add, 2, 128, s, &out, &in, &w, &n));
    OK(RUN(add, 2, 128, s, &out, &out, &w, &n));
    OK(RUN(add, 2, 128, s, &w, &out, &w, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuMemcpyHtoDAsync(in, h, 1024, s));
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuMemcpyHtoDAsync(mask, h, 1024, s));
    for (int i = 0; i < 40; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    return 0;
}
