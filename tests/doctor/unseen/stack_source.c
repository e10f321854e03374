// SPDX-License-Identifier: Apache-2.0
/* Token ids are copied from an array on the stack of the function that captures. */
#include "app.h"

static CUdeviceptr ids, table, out;
static CUstream s;
static CUfunction gather;
static __attribute__((noinline)) void embed(unsigned n)
{
    int tokens[64];
    for (unsigned i = 0; i < n; i++)
        tokens[i] = (int)(i * 3 % 64);
    cuMemcpyHtoDAsync(ids, tokens, n * 4, s); /* <- here */
    RUN(gather, 1, 64, s, &out, &table, &ids, &n);
}

static __attribute__((noinline)) void other_work(void)
{
    volatile char burn[4096];
    memset((char *)burn, 0, sizeof(burn));
}

int main(void)
{
    app_start();
    ids = app_alloc(256);
    table = app_alloc(256);
    out = app_alloc(256);
    gather = app_kernel("gather");
    CUgraph g;
    CUgraphExec e;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamBeginCapture(s, 0));
    embed(64);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 10; i++) {
        other_work();
        OK(cuGraphLaunch(e, s));
        OK(cuStreamSynchronize(s));
    }
    return 0;
}
