// SPDX-License-Identifier: Apache-2.0
/* A paged cache: the graph gets the base of the pages and a table; while it runs, other
 * pages are swapped in and out on a copy stream. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s, io;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&io, 1));
    CUfunction gather = app_kernel("gather"), add = app_kernel("add");
    unsigned n = 64;
    CUdeviceptr pages = app_alloc(4096 * 64), table = app_alloc(256),
                out = app_alloc(256), acc = app_alloc(256);
    int *host, idx[64];
    float *swap;
    OK(cuMemAllocHost((void **)&host, 256));
    OK(cuMemAllocHost((void **)&swap, 4096 * 4));
    for (int i = 0; i < 64; i++)
        idx[i] = i;
    OK(cuMemcpyHtoD(table, idx, 256));
    OK(cuCtxSynchronize());
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(RUN(gather, 1, 64, s, &out, &pages, &table, &n));
    OK(RUN(add, 1, 64, s, &acc, &acc, &out, &n));
    OK(RUN(add, 1, 64, s, &acc, &acc, &out, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (unsigned i = 0; i < 60; i++) {
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyHtoDAsync(pages + 4096ull * (32 + i % 32), swap, 4096, io));
        OK(cuMemcpyDtoHAsync(swap + 1024, pages + 4096ull * (16 + i % 16), 4096, io));
        if (i % 8 == 7) {
            OK(cuStreamSynchronize(io));
            OK(cuStreamSynchronize(s));
        }
    }
    OK(cuStreamSynchronize(io));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    return 0;
}
