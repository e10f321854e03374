// SPDX-License-Identifier: Apache-2.0
/* The number of the step lies in device memory. A kernel advances it after each step; the
 * graph has the step alone, and every replay is of the same number. */
#include "app.h"

static CUfunction gather, inc;
static CUdeviceptr out, table, number;

static void step(CUstream s)
{
    unsigned one = 1;
    OK(RUN(gather, 1, 32, s, &out, &table, &number, &one)); /* <- here */
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    gather = app_kernel("gather");
    inc = app_kernel("inc");
    OK(cuStreamCreate(&s, 1));
    float rows[64], seen;
    unsigned one = 1;
    for (int i = 0; i < 64; i++)
        rows[i] = (float)i;
    out = app_alloc(4), table = app_alloc(256), number = app_alloc(4);
    OK(cuMemcpyHtoD(table, rows, 256));
    for (int i = 0; i < 3; i++) {
        step(s);
        OK(RUN(inc, 1, 32, s, &number, &one));
        OK(cuMemcpyDtoHAsync(&seen, out, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamBeginCapture(s, 0));
    step(s);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 8; i++) {
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(&seen, out, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return seen != 3;
}
