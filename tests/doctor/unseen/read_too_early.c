// SPDX-License-Identifier: Apache-2.0
/* The graph runs on a non-blocking stream; cuMemcpyDtoH (legacy stream) does not wait
 * for it. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUfunction spin = app_kernel("spin"), inc = app_kernel("inc");
    unsigned it = 3000000, n = 64;
    CUdeviceptr t = app_alloc(256), y = app_alloc(256);
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(spin, 1, 32, s, &t, &it));
    OK(RUN(inc, 1, 64, s, &y, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    unsigned wrong = 0;
    for (unsigned i = 1; i <= 10; i++) {
        unsigned v;
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoH(&v, y, 4)); /* <- here */
        wrong += v != i;
    }
    OK(cuStreamSynchronize(s));
    printf("%u wrong\n", wrong);
    OK(cuGraphExecDestroy(x));
    return 0;
}
