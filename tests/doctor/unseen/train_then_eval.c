// SPDX-License-Identifier: Apache-2.0
/* Training uses graphs (with a few re-instantiations), the evaluation after it runs
 * eagerly. */
#include "app.h"

static CUstream s;
static CUfunction add, scale;
static CUdeviceptr w, x, y;
static void forward(unsigned n, unsigned layers)
{
    for (unsigned l = 0; l < layers; l++)
        OK(RUN(add, 2, 128, s, &y, &x, &w, &n));
}

int main(void)
{
    app_start();
    OK(cuStreamCreate(&s, 1));
    add = app_kernel("add");
    scale = app_kernel("scale");
    w = app_alloc(1024);
    x = app_alloc(1024);
    y = app_alloc(1024);
    unsigned n = 256;
    float k = 0.9f;
    CUgraphExec e = NULL;
    for (unsigned epoch = 0; epoch < 5; epoch++) {
        CUgraph g;
        CUgraphExecUpdateResultInfo info;
        OK(cuStreamBeginCapture(s, 1));
        forward(n, 3 + epoch);
        OK(RUN(scale, 2, 128, s, &w, &k, &n));
        OK(cuStreamEndCapture(s, &g));
        if (e && cuGraphExecUpdate(e, g, &info)) {
            OK(cuGraphExecDestroy(e));
            e = NULL;
        }
        if (!e)
            OK(cuGraphInstantiateWithFlags(&e, g, 0));
        OK(cuGraphDestroy(g));
        for (int i = 0; i < 60; i++)
            OK(cuGraphLaunch(e, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(e));
    for (int i = 0; i < 200; i++) {
        forward(n, 2 + (unsigned)i % 5);
        float v;
        OK(cuMemcpyDtoHAsync(&v, y, 4, s));
        OK(cuStreamSynchronize(s));
    }
    return 0;
}
