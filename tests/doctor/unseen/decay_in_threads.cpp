// SPDX-License-Identifier: Apache-2.0
/* Two threads, each with a stream and a graph of its own, warm up with a rate that decays;
 * a lambda captures one step each. */
#include "app.h"
#include <thread>

static void train(CUfunction scale, CUfunction add)
{
    OK(cuCtxSetCurrent(app_context));
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr p = app_alloc(256), in = app_alloc(256);
    float rate = 1, seen;
    unsigned n = 64;
    auto step = [&] {
        void *a[] = {&p, &rate, &n}, *b[] = {&p, &p, &in, &n};
        OK(cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr)); /* <- here */
        OK(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, s, b, nullptr));
        rate *= 0.5F;
    };
    for (int i = 0; i < 3; i++) {
        step();
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    step();
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 6; i++) {
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(&seen, p, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
}

int main()
{
    app_start();
    CUfunction scale = app_kernel("scale"), add = app_kernel("add");
    std::thread one(train, scale, add);
    one.join();
    std::thread two(train, scale, add);
    two.join();
    return 0;
}
