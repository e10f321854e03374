// SPDX-License-Identifier: Apache-2.0
/* The host staging buffer belongs to the graph by a user object. */
#include "app.h"

static void drop(void *p)
{
    free(p);
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    unsigned n = 64;
    CUdeviceptr d = app_alloc(256);
    CUgraph g;
    CUgraphExec x;
    unsigned *stage = malloc(256);
    memset(stage, 0, 256);
    CUuserObject o;
    OK(cuUserObjectCreate(&o, stage, drop, 1, 1));
    OK(cuStreamBeginCapture(s, 0));
    OK(cuMemcpyHtoDAsync(d, stage, 256, s));
    OK(RUN(inc, 1, 64, s, &d, &n));
    OK(RUN(inc, 1, 64, s, &d, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphRetainUserObject(g, o, 1, 1));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    for (unsigned i = 0; i < 20; i++) {
        stage[0] = i;
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuCtxSynchronize());
    return 0;
}
