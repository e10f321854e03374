// SPDX-License-Identifier: Apache-2.0
/* The batch counter passed to the kernel is larger than the buffer. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(1024);
    unsigned n = 256, big = 1u << 28;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(inc, 2, 128, s, &p, &n));
    OK(RUN(inc, 1u << 18, 1024, s, &p, &big));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuCtxSynchronize()); /* <- here */
    return 0;
}
