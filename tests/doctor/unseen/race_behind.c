// SPDX-License-Identifier: Apache-2.0
/* The next input is copied on an upload stream while the last replay may still read the
 * buffer. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s, up;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&up, 1));
    CUevent loaded;
    OK(cuEventCreate(&loaded, 2));
    CUfunction add = app_kernel("add"), spin = app_kernel("spin");
    unsigned n = 256, it = 20000;
    CUdeviceptr in = app_alloc(1024), out = app_alloc(1024);
    float *host;
    OK(cuMemAllocHost((void **)&host, 1024 * 16));
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(spin, 1, 32, s, &out, &it));
    OK(RUN(add, 2, 128, s, &out, &in, &in, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 16; i++) {
        OK(cuMemcpyHtoDAsync(in, host + 256 * i, 1024, up)); /* <- here */
        OK(cuEventRecord(loaded, up));
        OK(cuStreamWaitEvent(s, loaded, 0));
        OK(cuGraphLaunch(x, s));
    }
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
