// SPDX-License-Identifier: Apache-2.0
/* All buffers are cut from one arena; the next input goes into the other slot while the
 * graph runs; two executables. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s, up;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&up, 1));
    CUevent loaded[2], ran[2];
    CUfunction add = app_kernel("add"), spin = app_kernel("spin");
    unsigned n = 256, it = 20000;
    CUdeviceptr arena = app_alloc(1 << 20), in[2] = {arena, arena + 4096},
                out[2] = {arena + 8192, arena + 12288}, d = arena + 65536;
    float *host;
    OK(cuMemAllocHost((void **)&host, 1024 * 24));
    CUgraphExec x[2];
    for (int k = 0; k < 2; k++) {
        CUgraph g;
        OK(cuEventCreate(&loaded[k], 2));
        OK(cuEventCreate(&ran[k], 2));
        OK(cuStreamBeginCapture(s, 1));
        OK(RUN(spin, 1, 32, s, &d, &it));
        OK(RUN(add, 2, 128, s, &out[k], &in[k], &in[k], &n));
        OK(RUN(add, 2, 128, s, &out[k], &out[k], &in[k], &n));
        OK(cuStreamEndCapture(s, &g));
        OK(cuGraphInstantiateWithFlags(&x[k], g, 0));
        OK(cuGraphDestroy(g));
    }
    for (int i = 0; i < 24; i++) {
        int k = i % 2;
        if (i >= 2)
            OK(cuStreamWaitEvent(up, ran[k], 0));
        OK(cuMemcpyHtoDAsync(in[k], host + 256 * i, 1024, up));
        OK(cuEventRecord(loaded[k], up));
        OK(cuStreamWaitEvent(s, loaded[k], 0));
        OK(cuGraphLaunch(x[k], s));
        OK(cuEventRecord(ran[k], s));
    }
    OK(cuStreamSynchronize(s));
    for (int k = 0; k < 2; k++)
        OK(cuGraphExecDestroy(x[k]));
    return 0;
}
