// SPDX-License-Identifier: Apache-2.0
/* A profiler hook polls the event of the last layer while the capture is open. */
#include "app.h"

static CUevent after_layer;
static int layer_is_done(void)
{
    CUresult r = cuEventQuery(after_layer); /* <- here */
    printf("query %d\n", r);
    return r == CUDA_SUCCESS;
}
int main(void)
{
    app_start();
    unsigned n = 64;
    CUdeviceptr p = app_alloc(256);
    CUfunction inc = app_kernel("inc");
    CUgraph g = NULL;
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    OK(cuEventCreate(&after_layer, 0));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    for (int i = 0; i < 3; i++) {
        RUN(inc, 1, 64, s, &p, &n);
        cuEventRecord(after_layer, s);
        if (layer_is_done())
            puts("layer done");
    }
    CUresult e = cuStreamEndCapture(s, &g);
    return e == 0 ? 0 : 1;
}
