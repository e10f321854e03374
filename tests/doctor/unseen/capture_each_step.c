// SPDX-License-Identifier: Apache-2.0
/* "Use a graph where it works": each step tries to capture, fails by the allocation of pinned
 * memory, and runs the work one by one. There never is a graph, and nobody notices. */
#include "app.h"

static CUfunction copyk;
static CUdeviceptr in, out;
static unsigned n = 64;

static void work(CUstream s)
{
    void *host = NULL;
    RUN(copyk, 1, 64, s, &out, &in, &n);
    if (cuMemHostAlloc(&host, 4096, 0) == CUDA_SUCCESS) /* <- here */
        cuMemFreeHost(host);
    RUN(copyk, 1, 64, s, &in, &out, &n);
}

int main(void)
{
    CUgraphExec x = NULL;
    CUstream s;
    app_start();
    copyk = app_kernel("copyk");
    in = app_alloc(256);
    out = app_alloc(256);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (int step = 0; step < 12; step++) {
        CUgraph g = NULL;
        if (!x &&
            cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS) {
            work(s);
            if (cuStreamEndCapture(s, &g) == CUDA_SUCCESS)
                cuGraphInstantiateWithFlags(&x, g, 0);
        }
        if (x)
            OK(cuGraphLaunch(x, s));
        else
            work(s);
        OK(cuStreamSynchronize(s));
    }
    return 0;
}
