// SPDX-License-Identifier: Apache-2.0
/* New weights are put in place of the old ones by exchanging the pointer, as p.data = new
 * does: the graph has the old one. The allocator gives blocks out again. */
#include "app.h"

/* Blocks of one size out of a segment: what is given back is given out again first. */
static CUdeviceptr segment, spare[8];
static unsigned cut, spares;

static CUdeviceptr take(void)
{
    return spares > 0 ? spare[--spares] : segment + 512 * cut++;
}
static void give(CUdeviceptr block)
{
    spare[spares++] = block;
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction add = app_kernel("add"), draw = app_kernel("philox_dropout");
    OK(cuStreamCreate(&s, 1));
    segment = app_alloc(1 << 16);
    CUdeviceptr in = take(), out = take(), weights = take();
    unsigned long long seed = 1, off = 0;
    unsigned n = 64;
    float host[64] = {0};
    OK(RUN(draw, 1, 64, s, &weights, &seed, &off, &n));
    OK(cuStreamSynchronize(s));
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(add, 1, 64, s, &out, &in, &weights, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 8; i++) {
        CUdeviceptr fresh = take();
        off += n;
        OK(RUN(draw, 1, 64, s, &fresh, &seed, &off, &n));
        give(weights);
        weights = fresh;
        host[0] = (float)i;
        OK(cuMemcpyHtoDAsync(in, host, 256, s));
        OK(cuGraphLaunch(x, s)); /* <- here */
        OK(cuMemcpyDtoHAsync(host, out, 256, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
