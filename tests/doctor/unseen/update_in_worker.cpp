// SPDX-License-Identifier: Apache-2.0
/* A worker records a longer step and updates the one executable, whose refusal it throws
 * away with its guard; the main thread goes on to replay it. */
#include "app.h"
#include <thread>
#include <vector>

struct Graph {
    CUgraph g = nullptr;
    ~Graph()
    {
        if (g)
            cuGraphDestroy(g);
    }
};

static void record(CUstream s, CUdeviceptr p, int steps, Graph *out)
{
    CUfunction inc = app_kernel("inc");
    unsigned n = 64;
    void *a[] = {&p, &n};
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < steps; i++)
        OK(cuLaunchKernel(inc, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr));
    OK(cuStreamEndCapture(s, &out->g));
}

int main()
{
    app_start();
    CUstream s, other;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&other, 1));
    CUdeviceptr p = app_alloc(256);
    {
        Graph first;
        record(s, p, 2, &first);
        OK(cuGraphInstantiateWithFlags(&x, first.g, 0));
    }
    for (int k = 0; k < 3; k++) {
        std::thread worker([&] {
            OK(cuCtxSetCurrent(app_context));
            Graph longer;
            CUgraphExecUpdateResultInfo why;
            record(other, p, 3 + k, &longer);
            cuGraphExecUpdate(x, longer.g, &why); /* <- here */
        });
        worker.join();
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    return 0;
}
