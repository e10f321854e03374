// SPDX-License-Identifier: Apache-2.0
/* Two nodes, each long: few nodes, but no tiny graph. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction spin = app_kernel("spin");
    unsigned it = 400000;
    CUdeviceptr p = app_alloc(256);
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    for (int i = 0; i < 2; i++)
        OK(RUN(spin, 1, 32, s, &p, &it));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 100; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
