// SPDX-License-Identifier: Apache-2.0
/* A rate that falls from step to step goes to the device, where nobody reads it: the graph was
 * captured with the rate of the first step by value. No step ran before the capture. */
#include "app.h"

struct trainer {
    CUfunction scale;
    CUdeviceptr weights, rate;
    float now;
};

static void step(struct trainer *t, CUstream s, unsigned n)
{
    OK(RUN(t->scale, 1, 64, s, &t->weights, &t->now, &n)); // <- here
    OK(RUN(t->scale, 1, 64, s, &t->weights, &t->now, &n));
}

int main(void)
{
    app_start();
    struct trainer t = {app_kernel("scale"), app_alloc(256), app_alloc(4), 0.5F};
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    float out;
    OK(cuStreamCreate(&s, 1));
    OK(cuMemcpyHtoD(t.rate, &t.now, 4));
    OK(cuStreamBeginCapture(s, 0));
    step(&t, s, 64);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 6; i++) {
        OK(cuGraphLaunch(x, s));
        t.now *= 0.9F;
        OK(cuMemcpyHtoDAsync(t.rate, &t.now, 4, s));
        OK(cuMemcpyDtoHAsync(&out, t.weights, 4, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
