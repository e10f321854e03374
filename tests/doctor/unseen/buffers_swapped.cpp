// SPDX-License-Identifier: Apache-2.0
/* Two halves of an arena swap places in each step, by std::swap; the graph has one order. */
#include "app.h"
#include <utility>

int main()
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction add = app_kernel("add"), scale = app_kernel("scale");
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr arena = app_alloc(4096), now = arena, next = arena + 2048, in = arena + 1024;
    unsigned n = 64;
    float half = 0.5F, seen;
    auto step = [&] {
        void *a[] = {&next, &now, &in, &n}, *b[] = {&next, &half, &n};
        OK(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr)); /* <- here */
        OK(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, s, b, nullptr));
        std::swap(now, next);
    };
    for (int i = 0; i < 4; i++) {
        step();
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamBeginCapture(s, 0));
    step();
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 6; i++) {
        OK(cuGraphLaunch(x, s));
        std::swap(now, next);
        OK(cuMemcpyDtoHAsync(&seen, now, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
