// SPDX-License-Identifier: Apache-2.0
/* A kernel of the graph traps when a counter passes its limit: at the fourth replay. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc"), check = app_kernel("trap_if");
    CUdeviceptr p = app_alloc(256);
    unsigned n = 64, limit = 3;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(inc, 1, 64, s, &p, &n));
    OK(RUN(check, 1, 1, s, &p, &limit));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 10; i++) {
        cuGraphLaunch(x, s);
        CUresult r = cuStreamSynchronize(s); /* <- here */
        if (r)
            printf("replay %d: %d\n", i, r);
    }
    cuMemFree(p);
    cuGraphExecDestroy(x);
    return 0;
}
