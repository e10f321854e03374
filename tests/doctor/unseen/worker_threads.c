// SPDX-License-Identifier: Apache-2.0
/* Four workers capture in thread-local mode, each on its own stream and buffers, while a
 * loader allocates and frees. */
#include "app.h"
#include <pthread.h>
#include <stdatomic.h>

static CUfunction inc;
static atomic_int left = 4;
static void *worker(void *arg)
{
    unsigned id = (unsigned)(size_t)arg, n = 256;
    cuCtxSetCurrent(app_context);
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 1024));
    OK(cuMemsetD8Async(p, 0, 1024, s));
    for (int r = 0; r < 5; r++) {
        CUgraph g;
        CUgraphExec x;
        OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for (unsigned i = 0; i < 6 + id + (unsigned)r; i++)
            OK(RUN(inc, 2, 128, s, &p, &n));
        OK(cuStreamEndCapture(s, &g));
        OK(cuGraphInstantiateWithFlags(&x, g, 0));
        for (int i = 0; i < 20; i++)
            OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        OK(cuGraphExecDestroy(x));
        OK(cuGraphDestroy(g));
    }
    OK(cuMemFree(p));
    atomic_fetch_sub(&left, 1);
    return NULL;
}

static void *loader(void *a)
{
    (void)a;
    cuCtxSetCurrent(app_context);
    while (atomic_load(&left)) {
        CUdeviceptr q;
        OK(cuMemAlloc(&q, 4096));
        OK(cuMemFree(q));
        void *h;
        OK(cuMemAllocHost(&h, 4096));
        OK(cuMemFreeHost(h));
    }
    return NULL;
}

int main(void)
{
    app_start();
    inc = app_kernel("inc");
    pthread_t t[5];
    pthread_create(&t[4], NULL, loader, NULL);
    for (size_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 5; i++)
        pthread_join(t[i], NULL);
    return 0;
}
