// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* The step's settings are uploaded inside the graph. */
typedef struct settings {
    float lr, decay, eps, unused;
} settings;
static unsigned n = 512;
#ifdef FIXED
static settings kept;
#endif

__attribute__((noinline)) static void upload(CUdeviceptr to, float lr, CUstream s)
{
#ifdef FIXED
    settings *now = &kept;
#else
    settings place, *now = &place;
#endif
    now->lr = lr, now->decay = 0.5f, now->eps = 1e-6f, now->unused = 0;
    CK(cuMemcpyHtoDAsync(to, now, sizeof *now, s)); /* <- here */
}

__attribute__((noinline)) static float elsewhere(float seed)
{
    volatile float noise[256];
    for (int i = 0; i < 256; i++)
        noise[i] = seed * (float)i;
    return noise[255];
}

int main(void)
{
    device_open();
    CUstream s = stream_new();
    CUdeviceptr x = floats(n), p = floats(4);
    float a = 1;
    CUgraph g;
    CUgraphExec e;
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    upload(p, 0.125f, s);
    CK(LAUNCH(kernel("axpy"), 4, s, &x, &p, &a, &(unsigned){4}));
    CK(cuStreamEndCapture(s, &g));
    CK(cuGraphInstantiate(&e, g, 0));
    float sink = 0;
    for (int i = 0; i < 10; i++) {
        sink += elsewhere((float)i);
        CK(cuGraphLaunch(e, s));
        CK(cuStreamSynchronize(s));
    }
    CK(cuGraphExecDestroy(e));
    CK(cuGraphDestroy(g));
    CK(cuMemFree(x));
    CK(cuMemFree(p));
    CK(cuStreamDestroy(s));
    return sink < 0;
}
