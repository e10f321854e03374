// SPDX-License-Identifier: Apache-2.0
/* A reporter thread lets its stream wait for "the last event" - which was recorded by an
 * open capture: its stream is drawn in, and never joined. */
#include "app.h"
#include <pthread.h>

static pthread_barrier_t b;
static CUevent last;
static CUstream rep;
static CUdeviceptr q;
static CUfunction f;
static void *reporter(void *a)
{
    (void)a;
    unsigned n = 64;
    cuCtxSetCurrent(app_context);
    pthread_barrier_wait(&b);
    cuStreamWaitEvent(rep, last, 0);
    RUN(f, 1, 64, rep, &q, &n);
    pthread_barrier_wait(&b);
    return NULL;
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&rep, 1));
    OK(cuEventCreate(&last, 2));
    f = app_kernel("inc");
    CUdeviceptr p = app_alloc(256);
    q = app_alloc(256);
    unsigned n = 64;
    CUgraph g = NULL;
    pthread_t t;
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&t, NULL, reporter, NULL);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(RUN(f, 1, 64, s, &p, &n));
    OK(cuEventRecord(last, s));
    pthread_barrier_wait(&b);
    pthread_barrier_wait(&b);
    OK(RUN(f, 1, 64, s, &p, &n));
    CUresult r = cuStreamEndCapture(s, &g);
    pthread_join(t, NULL);
    printf("%d\n", r);
    return r ? 1 : 0;
}
