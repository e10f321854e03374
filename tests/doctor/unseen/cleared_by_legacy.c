// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* Clears its accumulators each epoch, then replays the epoch's steps. */
static unsigned n = 1 << 20;

static void epoch_begin(CUdeviceptr sum, CUstream s)
{
#ifdef FIXED
    CK(cuMemsetD32Async(sum, 0, n, s));
#else
    (void)s;
    CK(cuMemsetD32(sum, 0, n)); /* <- here */
#endif
}

static void epoch(CUgraphExec e, CUdeviceptr sum, CUstream s)
{
    epoch_begin(sum, s);
    for (int i = 0; i < 4; i++)
        CK(cuGraphLaunch(e, s));
}

int main(void)
{
    device_open();
    CUstream s = stream_new();
    CUdeviceptr sum = floats(n);
    float v = 1, got;
    int wrong = 0;
    CUgraph g;
    CUgraphExec e;
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CK(LAUNCH(kernel("add"), n, s, &sum, &v, &n));
    CK(cuStreamEndCapture(s, &g));
    CK(cuGraphInstantiate(&e, g, 0));
    for (int i = 0; i < 5; i++) {
        epoch(e, sum, s);
        CK(cuMemcpyDtoHAsync(&got, sum, 4, s));
        CK(cuStreamSynchronize(s));
        wrong += got != 4;
    }
    CK(cuGraphExecDestroy(e));
    CK(cuGraphDestroy(g));
    CK(cuMemFree(sum));
    CK(cuStreamDestroy(s));
    return wrong > 5;
}
