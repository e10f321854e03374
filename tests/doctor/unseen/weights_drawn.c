// SPDX-License-Identifier: Apache-2.0
/* Weights are drawn in place; noise is drawn into a buffer that the graph gets by a copy;
 * and a large buffer is worked on between launches so that caches are cold. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction add = app_kernel("add"), draw = app_kernel("philox_dropout");
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr in = app_alloc(256), out = app_alloc(256), weights = app_alloc(256);
    CUdeviceptr noise = app_alloc(256), cold = app_alloc(1 << 16);
    unsigned long long seed = 1, off = 0;
    unsigned n = 64, many = 1 << 14;
    float host[64] = {0};
    OK(RUN(draw, 1, 64, s, &weights, &seed, &off, &n));
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(add, 1, 64, s, &out, &in, &weights, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 8; i++) {
        CUdeviceptr to[] = {weights, noise};
        for (int k = 0; k < 2; k++, off += n)
            OK(RUN(draw, 1, 64, s, &to[k], &seed, &off, &n));
        OK(cuMemcpyDtoDAsync(in, noise, 256, s));
        OK(RUN(draw, 256, 64, s, &cold, &seed, &off, &many));
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(host, out, 256, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
