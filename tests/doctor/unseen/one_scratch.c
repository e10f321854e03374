// SPDX-License-Identifier: Apache-2.0
/* As 59, but both graphs fill the scratch buffer by a memset node: both certainly write
 * it. */
#include "app.h"

static CUgraphExec build(CUstream s, CUdeviceptr scratch, CUdeviceptr out,
                         unsigned char v)
{
    unsigned n = 256, it = 20000;
    CUgraph g;
    CUgraphExec x;
    CUfunction add = app_kernel("add"), spin = app_kernel("spin");
    OK(cuStreamBeginCapture(s, 0));
    OK(cuMemsetD8Async(scratch, v, 1024, s));
    OK(RUN(spin, 1, 32, s, &out, &it));
    OK(RUN(add, 2, 128, s, &out, &scratch, &scratch, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    return x;
}

int main(void)
{
    app_start();
    CUstream a, b;
    OK(cuStreamCreate(&a, 1));
    OK(cuStreamCreate(&b, 1));
    CUdeviceptr scratch = app_alloc(1024), o1 = app_alloc(1024), o2 = app_alloc(1024);
    CUgraphExec x = build(a, scratch, o1, 1), y = build(b, scratch, o2, 2);
    for (int i = 0; i < 20; i++) {
        OK(cuGraphLaunch(x, a)); /* <- here */
        OK(cuGraphLaunch(y, b));
    }
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(x));
    OK(cuGraphExecDestroy(y));
    return 0;
}
