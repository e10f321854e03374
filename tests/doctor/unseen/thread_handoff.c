// SPDX-License-Identifier: Apache-2.0
/* A loader thread copies into the input and synchronizes its stream, then hands over by
 * a condition variable; the server launches, synchronizes, hands back. */
#include "app.h"
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn;
static CUdeviceptr in;
static void wait_for(int t)
{
    pthread_mutex_lock(&m);
    while (turn != t)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
}

static void hand(int t)
{
    pthread_mutex_lock(&m);
    turn = t;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
}

static void *loader(void *a)
{
    (void)a;
    cuCtxSetCurrent(app_context);
    CUstream up;
    OK(cuStreamCreate(&up, 1));
    float *h;
    OK(cuMemAllocHost((void **)&h, 1024));
    for (int i = 0; i < 30; i++) {
        wait_for(0);
        h[0] = (float)i;
        OK(cuMemcpyHtoDAsync(in, h, 1024, up));
        OK(cuStreamSynchronize(up));
        hand(1);
    }
    return NULL;
}

int main(void)
{
    app_start();
    in = app_alloc(1024);
    CUdeviceptr out = app_alloc(1024);
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction add = app_kernel("add");
    unsigned n = 256;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    for (int i = 0; i < 3; i++)
        OK(RUN(add, 2, 128, s, &out, &in, &in, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    pthread_t t;
    pthread_create(&t, NULL, loader, NULL);
    for (int i = 0; i < 30; i++) {
        wait_for(1);
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        hand(0);
    }
    pthread_join(t, NULL);
    OK(cuGraphExecDestroy(x));
    return 0;
}
