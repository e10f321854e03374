// SPDX-License-Identifier: Apache-2.0
/* Token ids go through a static array whose copy is captured; it gets new contents
 * before each replay. */
#include "app.h"

static int tokens[64];
int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction gather = app_kernel("gather");
    CUdeviceptr ids = app_alloc(256), table = app_alloc(256), out = app_alloc(256);
    unsigned n = 64;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(cuMemcpyHtoDAsync(ids, tokens, 256, s));
    OK(RUN(gather, 1, 64, s, &out, &table, &ids, &n));
    OK(RUN(gather, 1, 64, s, &out, &table, &ids, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 64; j++)
            tokens[j] = (i + j) % 64;
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
