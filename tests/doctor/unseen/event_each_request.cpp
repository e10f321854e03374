// SPDX-License-Identifier: Apache-2.0
/* Each request has an event of its own, by which the second stream waits for the first. The
 * constructor makes it, and there is no destructor. Nothing is copied to the host. */
#include "app.h"

struct Request {
    CUevent ready;
    Request() { OK(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING)); /* <- here */ }
};

int main()
{
    app_start();
    CUfunction copyk = app_kernel("copyk");
    CUstream compute, post;
    OK(cuStreamCreate(&compute, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&post, CU_STREAM_NON_BLOCKING));
    CUdeviceptr in = app_alloc(256), out = app_alloc(256), kept = app_alloc(256);
    unsigned n = 64;
    CUgraph g;
    CUgraphExec x;
    void *first[] = {&out, &in, &n}, *second[] = {&kept, &out, &n};
    OK(cuStreamBeginCapture(compute, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int layer = 0; layer < 8; layer++)
        OK(cuLaunchKernel(copyk, 1, 1, 1, 64, 1, 1, 0, compute, first, nullptr));
    OK(cuStreamEndCapture(compute, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    CUevent taken;
    OK(cuEventCreate(&taken, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 600; i++) {
        Request request;
        OK(cuGraphLaunch(x, compute));
        OK(cuEventRecord(request.ready, compute));
        OK(cuStreamWaitEvent(post, request.ready, 0));
        OK(cuLaunchKernel(copyk, 1, 1, 1, 64, 1, 1, 0, post, second, nullptr));
        OK(cuEventRecord(taken, post));
        OK(cuStreamWaitEvent(compute, taken, 0));
    }
    OK(cuStreamSynchronize(post));
    OK(cuEventDestroy(taken));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuStreamDestroy(compute));
    OK(cuStreamDestroy(post));
    return 0;
}
