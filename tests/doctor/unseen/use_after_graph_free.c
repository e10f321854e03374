// SPDX-License-Identifier: Apache-2.0
/* The result pointer of an allocation that the graph frees itself is read after each
 * launch. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    unsigned n = 64, v[64];
    CUdeviceptr y;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(cuMemAllocAsync(&y, 256, s));
    OK(cuMemsetD8Async(y, 0, 256, s));
    OK(RUN(inc, 1, 64, s, &y, &n));
    OK(cuMemFreeAsync(y, s));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 10; i++) {
        OK(cuGraphLaunch(x, s));
        CUresult r = cuMemcpyDtoHAsync(v, y, 256, s); /* <- here */
        OK(cuStreamSynchronize(s));
        if (i == 0)
            printf("copy %d\n", r);
    }
    return 0;
}
