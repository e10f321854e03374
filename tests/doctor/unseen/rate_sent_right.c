// SPDX-License-Identifier: Apache-2.0
/* A rate that falls from step to step goes to the device, where a kernel of the graph reads it. What it
 * is given by value is the same in every step, and happens to be the first rate. */
#include "app.h"

struct trainer {
    CUfunction scale, add;
    CUdeviceptr weights, rate;
    float now;
};

static void step(struct trainer *t, CUstream s, unsigned n)
{
    float momentum = 0.5F;
    unsigned one = 1;
    OK(RUN(t->scale, 1, 64, s, &t->weights, &momentum, &n));
    OK(RUN(t->add, 1, 64, s, &t->weights, &t->weights, &t->rate, &one));
}

int main(void)
{
    app_start();
    struct trainer t = {app_kernel("scale"), app_kernel("add"), app_alloc(256),
                        app_alloc(4), 0.5F};
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
