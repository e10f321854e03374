// SPDX-License-Identifier: Apache-2.0
/* Weights are streamed layer by layer into a ring of three slots; each layer's graph
 * uses its slot; ordered by events. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s, up;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&up, 1));
    CUfunction mv = app_kernel("matvec"), add = app_kernel("add");
    unsigned n = 32;
    CUdeviceptr ring = app_alloc(3 * 4096), x = app_alloc(256), y = app_alloc(256);
    float *host;
    OK(cuMemAllocHost((void **)&host, 4096 * 8));
    CUevent in[3], done[3];
    CUgraphExec e[3];
    for (int k = 0; k < 3; k++) {
        CUdeviceptr w = ring + 4096ull * (unsigned)k;
        CUgraph g;
        OK(cuEventCreate(&in[k], 2));
        OK(cuEventCreate(&done[k], 2));
        OK(cuStreamBeginCapture(s, 1));
        OK(RUN(mv, 1, 32, s, &y, &w, &x, &n));
        OK(RUN(add, 1, 32, s, &x, &y, &x, &n));
        OK(RUN(mv, 1, 32, s, &y, &w, &x, &n));
        OK(cuStreamEndCapture(s, &g));
        OK(cuGraphInstantiateWithFlags(&e[k], g, 0));
        OK(cuGraphDestroy(g));
    }
    for (unsigned l = 0; l < 60; l++) {
        int k = (int)(l % 3);
        if (l >= 3)
            OK(cuStreamWaitEvent(up, done[k], 0));
        OK(cuMemcpyHtoDAsync(ring + 4096ull * (unsigned)k, host + 1024 * (l % 8), 4096,
                             up));
        OK(cuEventRecord(in[k], up));
        OK(cuStreamWaitEvent(s, in[k], 0));
        OK(cuGraphLaunch(e[k], s));
        OK(cuEventRecord(done[k], s));
    }
    OK(cuStreamSynchronize(s));
    for (int k = 0; k < 3; k++)
        OK(cuGraphExecDestroy(e[k]));
    return 0;
}
