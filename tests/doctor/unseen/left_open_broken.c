// SPDX-License-Identifier: Apache-2.0
/* A build function fails in the middle of a capture and gives up without ending it; what
 * the program goes on to do, elsewhere, is refused for that. */
#include "app.h"

static CUstream s;
static CUfunction inc;

static int build(CUdeviceptr p, unsigned n, CUgraph *g)
{
    CUdeviceptr scratch = 0;
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL);
    RUN(inc, 1, 64, s, &p, &n);
    if (cuMemAlloc(&scratch, 4096) != CUDA_SUCCESS) /* <- here */
        return -1;
    RUN(inc, 1, 64, s, &scratch, &n);
    return cuStreamEndCapture(s, g);
}

static int run_eagerly(CUdeviceptr p, unsigned n)
{
    int bad = 0;
    for (int i = 0; i < 3; i++)
        bad += RUN(inc, 1, 64, s, &p, &n) != CUDA_SUCCESS;
    return bad + (cuStreamSynchronize(s) != CUDA_SUCCESS);
}

int main(void)
{
    app_start();
    inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(256);
    CUgraph g = NULL;
    cuStreamCreate(&s, 1);
    if (build(p, 64, &g) != 0)
        puts("no graph, eager mode");
    return run_eagerly(p, 64) ? 4 : 0;
}
