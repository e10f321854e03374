// SPDX-License-Identifier: Apache-2.0
/* One graph for batches of up to 8 rows, captured with a full one. A smaller batch is copied over
 * the first rows, and the sum takes in what was left of the batch before. */
#include "kit.h"

static CUdeviceptr in, out;
static CUgraphExec graph;
static CUstream stream;

static float sum(const float *rows, size_t count)
{
    float value;
    CK(cuMemcpyHtoDAsync(in, rows, count * 32 * 4, stream));
    CK(cuGraphLaunch(graph, stream)); /* <- here */
    CK(cuMemcpyDtoHAsync(&value, out, 4, stream));
    CK(cuStreamSynchronize(stream));
    return value;
}

int main(void)
{
    static float rows[8 * 32];
    unsigned n = 8 * 32;
    CUgraph g;
    device_open();
    CUfunction total = kernel("total");
    in = floats(n);
    out = floats(1);
    stream = stream_new();
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CK(cuLaunchKernel(total, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&out, &in, &n},
                      NULL));
    CK(cuStreamEndCapture(stream, &g));
    CK(cuGraphInstantiate(&graph, g, 0));
    for (unsigned i = 0; i < n; i++)
        rows[i] = 1;
    sum(rows, 8);
    sum(rows, 3);
    sum(rows, 5);
    return 0;
}
