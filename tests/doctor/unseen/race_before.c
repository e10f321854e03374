// SPDX-License-Identifier: Apache-2.0
/* The input is uploaded on one stream, the graph launched on another; nothing orders
 * them. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s, up;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&up, 1));
    CUfunction add = app_kernel("add"), scale = app_kernel("scale");
    unsigned n = 256;
    float k = 2;
    CUdeviceptr in = app_alloc(1024), out = app_alloc(1024);
    float *host;
    OK(cuMemAllocHost((void **)&host, 1024));
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(RUN(add, 2, 128, s, &out, &in, &in, &n));
    OK(RUN(scale, 2, 128, s, &out, &k, &n));
    OK(RUN(add, 2, 128, s, &out, &out, &in, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 20; i++) {
        host[0] = (float)i;
        OK(cuMemcpyHtoDAsync(in, host, 1024, up)); /* <- here */
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        OK(cuStreamSynchronize(up));
    }
    OK(cuGraphExecDestroy(x));
    return 0;
}
