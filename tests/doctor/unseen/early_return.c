// SPDX-License-Identifier: Apache-2.0
/* A build function returns early out of a capture; much later, allocations fail. */
#include "app.h"

static CUstream s;
static CUfunction inc;
static int build(CUdeviceptr p, unsigned n, int want_bias, CUgraph *g)
{
    cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL); /* <- here */
    RUN(inc, 1, 64, s, &p, &n);
    if (want_bias)
        return -1; /* not supported */
    return cuStreamEndCapture(s, g);
}

static CUdeviceptr grow(size_t b)
{
    CUdeviceptr p = 0;
    CUresult r = cuMemAlloc(&p, b);
    if (r)
        fprintf(stderr, "allocation of %zu failed with %d\n", b, r);
    return p;
}

int main(void)
{
    app_start();
    inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(256);
    CUgraph g;
    cuStreamCreate(&s, 1);
    if (build(p, 64, 1, &g) != 0)
        puts("eager mode");
    CUdeviceptr q = grow(1 << 20);
    if (!q)
        q = grow(1 << 10);
    return q ? 0 : 4;
}
