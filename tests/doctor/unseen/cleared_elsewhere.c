// SPDX-License-Identifier: Apache-2.0
/* Another thread clears the sum on a stream of its own in each step; it stops
 * when the graph takes over. */
#include "app.h"
#include <pthread.h>

static pthread_barrier_t turn;
static CUdeviceptr sum;
static CUstream side;

static void *clearer(void *none)
{
    OK(cuCtxSetCurrent(app_context));
    for (int i = 0; i < 3; i++) {
        pthread_barrier_wait(&turn);
        OK(cuMemsetD8Async(sum, 0, 256, side));
        OK(cuStreamSynchronize(side));
        pthread_barrier_wait(&turn);
    }
    return none;
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    pthread_t thread;
    unsigned n = 64;
    float seen = 0;
    CUfunction add = app_kernel("add");
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&side, 1));
    CUdeviceptr in = app_alloc(256);
    sum = app_alloc(256);
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&thread, NULL, clearer, NULL);
    for (int i = 0; i < 4; i++) {
        if (i == 3)
            OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        else {
            pthread_barrier_wait(&turn);
            pthread_barrier_wait(&turn);
        }
        OK(RUN(add, 1, 64, s, &sum, &sum, &in, &n)); /* <- here */
        if (i < 3)
            OK(cuStreamSynchronize(s));
    }
    OK(cuStreamEndCapture(s, &g));
    pthread_join(thread, NULL);
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 5; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuMemcpyDtoHAsync(&seen, sum, 4, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
