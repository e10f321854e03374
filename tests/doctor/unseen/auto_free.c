// SPDX-License-Identifier: Apache-2.0
/* The result stays allocated between launches (auto free), is read each time, and torn
 * down in order at the end. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    unsigned n = 64, v[64];
    CUdeviceptr y;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(cuMemAllocAsync(&y, 256, s));
    OK(cuMemsetD8Async(y, 0, 256, s));
    OK(RUN(inc, 1, 64, s, &y, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphDestroy(g));
    for (int i = 0; i < 20; i++) {
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(v, y, 256, s));
        OK(cuStreamSynchronize(s));
        if (v[3] != 1)
            return 2;
    }
    OK(cuGraphExecDestroy(x));
    OK(cuStreamDestroy(s));
    OK(cuModuleUnload(app_module));
    OK(cuDevicePrimaryCtxRelease(0));
    return 0;
}
