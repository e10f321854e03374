// SPDX-License-Identifier: Apache-2.0
/* The node that uses the freed buffer is switched off before. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(256), dbg = app_alloc(256);
    unsigned n = 64;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(RUN(inc, 1, 64, s, &p, &n));
    OK(RUN(inc, 1, 64, s, &dbg, &n));
    OK(RUN(inc, 1, 64, s, &p, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    CUgraphNode nd[3];
    size_t k = 3;
    OK(cuGraphGetNodes(g, nd, &k));
    for (int i = 0; i < 20; i++) {
        if (i == 10) {
            OK(cuStreamSynchronize(s));
            OK(cuGraphNodeSetEnabled(x, nd[1], 0));
            OK(cuMemFree(dbg));
        }
        OK(cuGraphLaunch(x, s));
    }
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
