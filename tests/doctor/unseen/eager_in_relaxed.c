// SPDX-License-Identifier: Apache-2.0
/* In a relaxed capture an allocator zeroes new blocks at once on its own stream and
 * waits for it; the blocks are then used by the graph. */
#include "app.h"

static CUstream own;
static CUdeviceptr block(size_t b)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, b));
    OK(cuMemsetD8Async(p, 0, b, own));
    OK(cuStreamSynchronize(own));
    return p;
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&own, 1));
    CUfunction add = app_kernel("add");
    unsigned n = 256;
    CUdeviceptr x = app_alloc(1024), t, y;
    CUgraph g;
    CUgraphExec e;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    t = block(1024);
    OK(RUN(add, 2, 128, s, &t, &x, &x, &n));
    y = block(1024);
    OK(RUN(add, 2, 128, s, &y, &t, &x, &n));
    OK(RUN(add, 2, 128, s, &y, &y, &x, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 40; i++)
        OK(cuGraphLaunch(e, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(e));
    OK(cuMemFree(t));
    OK(cuMemFree(y));
    return 0;
}
