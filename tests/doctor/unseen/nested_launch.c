// SPDX-License-Identifier: Apache-2.0
/* A captured pipeline calls a module that replays its own graph. */
#include "app.h"

static CUgraphExec inner;
static CUgraphExec make(CUstream s, CUfunction f, CUdeviceptr p, int nested)
{
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    unsigned n = 64;
    CUresult r;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    RUN(f, 1, 64, s, &p, &n);
    if (nested)
        cuGraphLaunch(inner, s); /* <- here */
    RUN(f, 1, 64, s, &p, &n);
    r = cuStreamEndCapture(s, &g);
    if (r) {
        printf("capture: %d\n", r);
        return NULL;
    }
    OK(cuGraphInstantiateWithFlags(&e, g, 0));
    cuGraphDestroy(g);
    return e;
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr p = app_alloc(256);
    CUfunction f = app_kernel("inc");
    inner = make(s, f, p, 0);
    CUgraphExec outer = make(s, f, p, 1);
    CUgraphExec use = outer ? outer : inner;
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(use, s));
    OK(cuStreamSynchronize(s));
    return 0;
}
