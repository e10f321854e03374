// SPDX-License-Identifier: Apache-2.0
/* The host writes the number of the step into device memory before each eager step, and
 * goes on counting when the graph has taken over, in its own variable alone. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction gather = app_kernel("gather");
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr out = app_alloc(4), table = app_alloc(256), number = app_alloc(4);
    float rows[64], seen;
    unsigned one = 1;
    for (int i = 0; i < 64; i++)
        rows[i] = (float)i;
    OK(cuMemcpyHtoD(table, rows, 256));
    for (int i = 0; i < 10; i++) {
        if (i < 4)
            OK(cuMemcpyHtoDAsync(number, &i, 4, s));
        if (i == 3)
            OK(cuStreamBeginCapture(s, 0));
        if (i <= 3)
            OK(RUN(gather, 1, 32, s, &out, &table, &number, &one)); /* <- here */
        if (i == 3) {
            OK(cuStreamEndCapture(s, &g));
            OK(cuGraphInstantiateWithFlags(&x, g, 0));
        }
        if (i >= 3)
            OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(&seen, out, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return seen != 3;
}
