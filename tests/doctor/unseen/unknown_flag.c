// SPDX-License-Identifier: Apache-2.0
/* All results are dropped; the executable is NULL because instantiation failed on a bad
 * flag. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    cuStreamCreate(&s, 1);
    CUfunction f = app_kernel("inc");
    unsigned n = 64;
    CUdeviceptr p = app_alloc(256);
    CUgraph g;
    CUgraphExec x = NULL;
    cuStreamBeginCapture(s, 0);
    RUN(f, 1, 64, s, &p, &n);
    cuStreamEndCapture(s, &g);
    cuGraphInstantiateWithFlags(&x, g, 0x40); /* <- here */
    for (int i = 0; i < 25; i++)
        cuGraphLaunch(x, s);
    cuStreamSynchronize(s);
    unsigned v;
    cuMemcpyDtoH(&v, p, 4);
    printf("%u\n", v);
    return 0;
}
