// SPDX-License-Identifier: Apache-2.0
/* Steps of one kernel each, with a new input by a copy stream, which waits in turn: the graph is
 * small, and no two launches follow each other. */
#include "app.h"

static void fence(CUstream from, CUstream to, CUevent event)
{
    OK(cuEventRecord(event, from));
    OK(cuStreamWaitEvent(to, event, 0));
}

int main(void)
{
    app_start();
    CUstream run, copy;
    CUevent a, b;
    CUgraph g;
    CUgraphExec x;
    unsigned n = 1;
    OK(cuStreamCreate(&run, 1));
    OK(cuStreamCreate(&copy, 1));
    OK(cuEventCreate(&a, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&b, CU_EVENT_DISABLE_TIMING));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr counter = app_alloc(4);
    OK(cuStreamBeginCapture(run, 0));
    OK(RUN(inc, 1, 32, run, &counter, &n));
    OK(cuStreamEndCapture(run, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (unsigned i = 0; i < 200; i++) {
        OK(cuMemcpyHtoDAsync(counter, &i, 4, copy));
        fence(copy, run, a);
        OK(cuGraphLaunch(x, run));
        fence(run, copy, b);
    }
    OK(cuStreamSynchronize(run));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
