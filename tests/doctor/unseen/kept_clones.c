// SPDX-License-Identifier: Apache-2.0
/* Each result is copied away before the next replay; and one that is not is given to
 * eight heads, which is one result. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction add = app_kernel("add"), copyk = app_kernel("copyk");
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr in = app_alloc(256), bias = app_alloc(256), out = app_alloc(256);
    CUdeviceptr clones = app_alloc(8 * 256), heads = app_alloc(8 * 256);
    unsigned n = 64;
    float host[64] = {0}, seen[8];
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(add, 1, 64, s, &out, &in, &bias, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 8; i++) {
        host[0] = (float)i;
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoDAsync(clones + 256 * i, out, 256, s));
        OK(cuStreamSynchronize(s));
    }
    for (int i = 0; i < 8; i++)
        OK(cuMemcpyDtoH(&seen[i], clones + 256 * i, 4));
    for (int k = 0; k < 3; k++) {
        host[0] = (float)k;
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        OK(cuGraphLaunch(x, s));
        for (int i = 0; i < 8; i++) {
            CUdeviceptr to = heads + 256 * i;
            OK(RUN(copyk, 1, 64, s, &to, &out, &n));
        }
        OK(cuStreamSynchronize(s));
    }
    OK(cuMemcpyDtoH(host, heads, 256));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return seen[3] != 3 || host[0] != 2;
}
