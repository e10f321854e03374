// SPDX-License-Identifier: Apache-2.0
/* The op's default argument stream=0 is used: the graph stays empty. */
#include "app.h"

static void op(CUdeviceptr p, CUfunction f, CUstream stream)
{
    unsigned n = 64;
    RUN(f, 1, 64, stream, &p, &n);
}

int main(void)
{
    app_start();
    CUdeviceptr p = app_alloc(256);
    CUfunction inc = app_kernel("inc");
    CUstream s;
    CUgraph g;
    CUgraphExec e;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(s, 0));
    for (int i = 0; i < 5; i++)
        op(p, inc, NULL);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 10; i++)
        OK(cuGraphLaunch(e, s));
    unsigned v;
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&v, p, 4));
    printf("%u (want 50)\n", v);
    return v == 50 ? 0 : 5;
}
