// SPDX-License-Identifier: Apache-2.0
/* The first capture fails for a lazy allocation; the program runs the op once, captures
 * again, and uses the graph. */
#include "app.h"

static CUstream s;
static CUfunction inc;
static CUdeviceptr ws, p;
static CUresult op(unsigned n)
{
    if (!ws) {
        CUresult r = cuMemAlloc(&ws, 4096);
        if (r)
            return r;
    }
    CUresult r = RUN(inc, 1, 64, s, &ws, &n);
    if (!r)
        r = RUN(inc, 1, 64, s, &p, &n);
    if (!r)
        r = RUN(inc, 1, 64, s, &p, &n);
    return r;
}

static CUgraph try_capture(void)
{
    CUgraph g = NULL;
    if (cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
        return NULL;
    CUresult r = op(64), e = cuStreamEndCapture(s, &g);
    if (r || e) {
        if (g)
            cuGraphDestroy(g);
        return NULL;
    }
    return g;
}

int main(void)
{
    app_start();
    OK(cuStreamCreate(&s, 1));
    inc = app_kernel("inc");
    p = app_alloc(256);
    CUgraph g = try_capture();
    if (!g) {
        OK(op(64));
        OK(cuMemsetD8Async(ws, 0, 4096, s));
        OK(cuStreamSynchronize(s));
        g = try_capture();
    }
    if (!g)
        return 2;
    CUgraphExec x;
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    for (int i = 0; i < 50; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    return 0;
}
