// SPDX-License-Identifier: Apache-2.0
/* Each step sends its batch to a new block and forgets the old one, as x = batch.cuda()
 * does; the graph has the first. The allocator gives blocks out again at once: every other
 * batch happens to come where the graph reads, the rest makes way for the sum of the
 * outputs. */
#include "kit.h"

enum { COUNT = 64, BYTES = COUNT * sizeof(float), STEPS = 8 };

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
    device_open();
    CUfunction fill = kernel("fill"), twice = kernel("twice"), total = kernel("total");
    CUgraph graph;
    CUgraphExec exec;
    CUstream s = stream_new();
    CK(cuMemAlloc(&segment, 1 << 16));
    CUdeviceptr x = take(), out = floats(COUNT);
    unsigned n = COUNT;
    LAUNCH(fill, COUNT, s, &x, &(float){1}, &n);
    CK(cuStreamSynchronize(s));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    LAUNCH(twice, COUNT, s, &out, &x, &n);
    CK(cuStreamEndCapture(s, &graph));
    CK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++) {
        float batch[COUNT], sum = 0;
        for (int k = 0; k < COUNT; k++)
            batch[k] = (float)(i * k);
#ifdef FIXED
        const CUdeviceptr fresh = x;
#else
        const CUdeviceptr fresh = take();
#endif
        CK(cuMemcpyHtoDAsync(fresh, batch, BYTES, s));
        CK(cuStreamSynchronize(s));
        if (fresh != x)
            give(x);
        x = fresh;
        CK(cuGraphLaunch(exec, s)); /* <- here */
        CUdeviceptr sums = take();
        LAUNCH(total, 1, s, &sums, &out, &n);
        CK(cuMemcpyDtoHAsync(&sum, sums, sizeof(sum), s));
        CK(cuStreamSynchronize(s));
        give(sums);
        printf("%g\n", sum);
    }
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    return 0;
}
