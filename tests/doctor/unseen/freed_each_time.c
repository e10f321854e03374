// SPDX-License-Identifier: Apache-2.0
/* The graph's allocation is used eagerly after the launch, and freed on the stream
 * before the next one. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr y, keep = app_alloc(256);
    unsigned n = 64;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(cuMemAllocAsync(&y, 256, s));
    OK(cuMemsetD8Async(y, 0, 256, s));
    OK(RUN(inc, 1, 64, s, &y, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    for (int i = 0; i < 20; i++) {
        OK(cuGraphLaunch(x, s));
        OK(RUN(inc, 1, 64, s, &y, &n));
        OK(cuMemcpyDtoDAsync(keep, y, 256, s));
        OK(cuMemFreeAsync(y, s));
    }
    unsigned v;
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&v, keep, 4));
    OK(cuGraphExecDestroy(x));
    return v != 2;
}
