// SPDX-License-Identifier: Apache-2.0
/* 100 shapes, 120 requests, a graph for each shape, kept forever. */
#include "app.h"

struct entry {
    unsigned n;
    CUgraphExec x;
};

static struct entry cache[128];
static int used;
static CUgraphExec get(CUstream s, CUfunction f, CUdeviceptr p, unsigned n)
{
    for (int i = 0; i < used; i++)
        if (cache[i].n == n)
            return cache[i].x;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    for (int i = 0; i < 30; i++)
        OK(RUN(f, (n + 31) / 32, 32, s, &p, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0)); /* <- here */
    OK(cuGraphDestroy(g));
    cache[used++] = (struct entry){n, x};
    return x;
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction f = app_kernel("inc");
    CUdeviceptr p = app_alloc(1 << 16);
    for (unsigned i = 0; i < 120; i++) {
        OK(cuGraphLaunch(get(s, f, p, 100 + i * 7919 % 100 * 37), s));
        OK(cuStreamSynchronize(s));
    }
    for (int i = 0; i < used; i++)
        OK(cuGraphExecDestroy(cache[i].x));
    return 0;
}
