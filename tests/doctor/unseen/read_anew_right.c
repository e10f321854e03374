// SPDX-License-Identifier: Apache-2.0
/* The graph's result, which began as zeros from the host, is read after each launch on the
 * graph's stream: all is right. */
#include "app.h"

int main(void)
{
    static float zeros[4096], got[4];
    CUstream s, reader;
    CUgraph g;
    CUgraphExec x;
    app_start();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&reader, CU_STREAM_NON_BLOCKING));
    CUdeviceptr in = app_alloc(sizeof(zeros)), out = app_alloc(sizeof(zeros));
    unsigned n = 4096;
    OK(cuMemcpyHtoD(out, zeros, sizeof(zeros)));
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(RUN(app_kernel("copyk"), 64, 64, s, &out, &in, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 4; i++) {
        OK(cuMemcpyHtoDAsync(in, zeros, sizeof(zeros), s));
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(got, out, sizeof(got), s));
        OK(cuStreamSynchronize(reader));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
