// SPDX-License-Identifier: Apache-2.0
/* A kernel clears the sum at the start of each step, in a constructor; the replays have
 * none. */
#include "app.h"

struct Cleared {
    Cleared(CUfunction scale, CUdeviceptr sum, CUstream s)
    {
        float zero = 0;
        unsigned n = 64;
        void *a[] = {&sum, &zero, &n};
        OK(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr));
    }
};

static void accumulate(CUfunction add, CUdeviceptr sum, CUdeviceptr in, CUstream s)
{
    unsigned n = 64;
    void *a[] = {&sum, &sum, &in, &n};
    OK(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr)); /* <- here */
}

int main()
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    CUfunction add = app_kernel("add"), scale = app_kernel("scale");
    CUdeviceptr sum = app_alloc(256), in = app_alloc(256);
    float host[64] = {1, 1}, seen = 0;
    for (int i = 0; i < 3; i++) {
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        Cleared cleared(scale, sum, s);
        accumulate(add, sum, in, s);
        OK(cuMemcpyDtoHAsync(&seen, sum, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamBeginCapture(s, 0));
    accumulate(add, sum, in, s);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 5; i++) {
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(&seen, sum, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return seen != 6;
}
