// SPDX-License-Identifier: Apache-2.0
/* The staging array is in the frame of serve(), which captures through helpers and
 * replays until it returns. */
#include "app.h"

static __attribute__((noinline)) void enqueue(CUstream s, CUdeviceptr ids,
                                              const int *tokens)
{
    OK(cuMemcpyHtoDAsync(ids, tokens, 256, s));
}

static __attribute__((noinline)) CUgraphExec record(CUstream s, CUfunction gather,
                                                    CUdeviceptr ids, CUdeviceptr table,
                                                    CUdeviceptr out, const int *tokens)
{
    unsigned n = 64;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    enqueue(s, ids, tokens);
    OK(RUN(gather, 1, 64, s, &out, &table, &ids, &n));
    OK(RUN(gather, 1, 64, s, &out, &table, &ids, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));
    return x;
}

static __attribute__((noinline)) void step(CUgraphExec x, CUstream s, int *tokens, int i)
{
    for (int j = 0; j < 64; j++)
        tokens[j] = (i * 7 + j) % 64;
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
}

static __attribute__((noinline)) void
serve(CUstream s, CUfunction gather, CUdeviceptr ids, CUdeviceptr table, CUdeviceptr out)
{
    int tokens[64] = {0};
    CUgraphExec x = record(s, gather, ids, table, out, tokens);
    for (int i = 0; i < 30; i++)
        step(x, s, tokens, i);
    OK(cuGraphExecDestroy(x));
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction gather = app_kernel("gather");
    CUdeviceptr ids = app_alloc(256), table = app_alloc(256), out = app_alloc(256);
    for (int k = 0; k < 3; k++)
        serve(s, gather, ids, table, out);
    return 0;
}
