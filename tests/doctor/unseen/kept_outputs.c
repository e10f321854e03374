// SPDX-License-Identifier: Apache-2.0
/* Results of eight requests are kept as views of an arena, and are all summed up after the
 * last: each view is the graph's one output. */
#include "app.h"

static CUdeviceptr arena;
static size_t used;

static CUdeviceptr take(size_t bytes)
{
    const CUdeviceptr out = arena + used;
    used += (bytes + 511) / 512 * 512;
    return out;
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction add = app_kernel("add"), copyk = app_kernel("copyk");
    OK(cuStreamCreate(&s, 1));
    arena = app_alloc(1 << 16);
    CUdeviceptr in = take(256), bias = take(256), out = take(256), sums = take(4096);
    CUdeviceptr kept[8];
    unsigned n = 64;
    float host[64] = {0}, seen;
    OK(cuMemcpyHtoD(bias, host, 256));
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(add, 1, 64, s, &out, &in, &bias, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 8; i++) {
        host[0] = (float)i;
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        kept[i] = out;
    }
    for (int i = 0; i < 8; i++) {
        CUdeviceptr to = sums + 256 * i;
        OK(RUN(copyk, 1, 64, s, &to, &kept[i], &n)); /* <- here */
        OK(cuMemcpyDtoHAsync(&seen, to, 4, s));
    }
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return seen != 7;
}
