// SPDX-License-Identifier: Apache-2.0
/* The stale pointer is inside a struct argument, in a child graph of a child graph. */
#include "app.h"

struct args {
    unsigned n;
    float k;
    CUdeviceptr out, in;
};

static CUgraph leaf(CUstream s, CUfunction f, struct args *a)
{
    CUgraph g;
    OK(cuStreamBeginCapture(s, 0));
    void *p[] = {a};
    OK(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, s, p, NULL));
    OK(cuStreamEndCapture(s, &g));
    return g;
}

static CUgraph wrap(CUgraph c)
{
    CUgraph g;
    CUgraphNode n;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddChildGraphNode(&n, g, NULL, 0, c));
    return g;
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction f = app_kernel("fused");
    CUdeviceptr in, out = app_alloc(1024);
    OK(cuMemAlloc(&in, 1024));
    struct args a = {256, 2.0f, out, in};
    CUgraph g = wrap(wrap(leaf(s, f, &a)));
    CUgraphExec x;
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemFree(in));
    for (int i = 0; i < 4; i++)
        cuGraphLaunch(x, s); /* <- here */
    cuStreamSynchronize(s);
    return 0;
}
