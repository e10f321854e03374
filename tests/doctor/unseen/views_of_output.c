// SPDX-License-Identifier: Apache-2.0
/* A compiled model gives its output buffer to each request; the results are looked at after the
 * last one, into the same variable. */
#include "app.h"

enum { REQUESTS = 4 };
static CUdeviceptr in, out;

static CUdeviceptr answer(CUgraphExec x, CUstream s, unsigned request)
{
    OK(cuMemsetD32Async(in, request + 1, 64, s));
    OK(cuGraphLaunch(x, s));
    return out;
}

int main(void)
{
    app_start();
    CUdeviceptr answers[REQUESTS];
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    unsigned n = 64, value, sum = 0;
    OK(cuStreamCreate(&s, 1));
    CUfunction copy = app_kernel("copyk");
    in = app_alloc(256);
    out = app_alloc(256);
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(copy, 1, 64, s, &out, &in, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (unsigned i = 0; i < REQUESTS; i++)
        answers[i] = answer(x, s, i);
    OK(cuStreamSynchronize(s));
    for (unsigned i = 0; i < REQUESTS; i++) {
        OK(cuMemcpyDtoH(&value, answers[i], sizeof(value))); // <- here
        sum += value;
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return sum == 0;
}
