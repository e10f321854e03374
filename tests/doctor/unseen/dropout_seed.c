// SPDX-License-Identifier: Apache-2.0
/* Dropout gets seed and offset as kernel parameters; the graph keeps them. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction drop = app_kernel("philox_dropout"), add = app_kernel("add");
    CUdeviceptr x = app_alloc(4096), y = app_alloc(4096);
    unsigned n = 1024;
    unsigned long long seed = 42, offset = 0;
    CUgraph g;
    CUgraphExec e;
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(add, 8, 128, s, &y, &x, &x, &n));
    OK(RUN(drop, 8, 128, s, &y, &seed, &offset, &n)); /* <- here */
    offset += n;
    OK(RUN(add, 8, 128, s, &x, &y, &y, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 100; i++) {
        offset += n;
        OK(cuGraphLaunch(e, s));
    }
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(e));
    OK(cuGraphDestroy(g));
    return 0;
}
