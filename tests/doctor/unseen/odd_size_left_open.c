// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* A step that refuses odd sizes in the midst of its capture. */
static CUdeviceptr x;
typedef struct graph {
    CUgraph g;
    CUgraphExec e;
} graph;

static int layers(unsigned n, CUstream s)
{
    float v = 1;
    if (LAUNCH(kernel("add"), n, s, &x, &v, &n))
        return -1;
    if (n % 64)
        return -1;
    return LAUNCH(kernel("add"), n, s, &x, &v, &n) ? -1 : 0;
}

static int record(graph *r, unsigned n, CUstream s)
{
    CUresult rc = cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL); /* <- here */
    if (rc)
        return (int)rc;
    if (layers(n, s)) {
#ifdef FIXED
        if (!cuStreamEndCapture(s, &r->g))
            CK(cuGraphDestroy(r->g));
#endif
        return -1;
    }
    if ((rc = cuStreamEndCapture(s, &r->g)))
        return (int)rc;
    return (int)cuGraphInstantiate(&r->e, r->g, 0);
}

int main(void)
{
    device_open();
    CUstream s = stream_new();
    graph r;
    CUdeviceptr more = 0;
    x = floats(1024);
    static const unsigned sizes[] = {100, 128};
    int rc = -1;
    for (int i = 0; i < 2; i++)
        if ((rc = record(&r, sizes[i], s)))
            fprintf(stderr, "size %u is not captured: %d\n", sizes[i], rc);
    CUresult alloc = cuMemAlloc(&more, 4096);
    if (alloc)
        fprintf(stderr, "out of memory? %d\n", (int)alloc);
    if (rc)
        return 1;
    for (int i = 0; i < 10; i++)
        CK(cuGraphLaunch(r.e, s));
    CK(cuStreamSynchronize(s));
    CK(cuGraphExecDestroy(r.e));
    CK(cuGraphDestroy(r.g));
    CK(cuMemFree(more));
    CK(cuMemFree(x));
    CK(cuStreamDestroy(s));
    return 0;
}
