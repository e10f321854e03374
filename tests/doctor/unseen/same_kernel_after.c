// SPDX-License-Identifier: Apache-2.0
/* As h128, but eager and captured work use the same kernel at the same argument. */
#include "app.h"

static CUfunction add;
static unsigned n = 256;
static CUresult sum(CUstream s, CUdeviceptr o, CUdeviceptr a, CUdeviceptr b)
{
    return RUN(add, 2, 128, s, &o, &a, &b, &n);
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    add = app_kernel("add");
    CUdeviceptr x = app_alloc(1024), y;
    CUgraph g;
    CUgraphExec e;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAlloc(&y, 1024));
    OK(sum(s, y, x, x));
    OK(sum(s, y, y, x));
    OK(sum(s, y, y, x));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&e, g, 0));
    OK(cuGraphDestroy(g));
    for (int i = 0; i < 40; i++) {
        OK(cuGraphLaunch(e, s));
        OK(sum(s, y, y, x));
    }
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(e));
    OK(cuMemFree(y));
    return 0;
}
