// SPDX-License-Identifier: Apache-2.0
/* A compile thread instantiates while the serving thread captures in the default mode;
 * the failed executable is launched. */
#include "app.h"
#include <pthread.h>

static pthread_barrier_t b;
static CUgraph ready;
static CUgraphExec exec;
static CUstream s2;
static void *compiler(void *a)
{
    (void)a;
    cuCtxSetCurrent(app_context);
    pthread_barrier_wait(&b);
    cuGraphInstantiateWithFlags(&exec, ready, 0); /* <- here */
    pthread_barrier_wait(&b);
    return NULL;
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g = NULL;
    CUdeviceptr p = app_alloc(256);
    unsigned n = 64;
    CUfunction inc = app_kernel("inc");
    pthread_t t;
    cuStreamCreate(&s, 1);
    cuStreamCreate(&s2, 1);
    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&t, NULL, compiler, NULL);
    cuStreamBeginCapture(s, 0);
    RUN(inc, 1, 64, s, &p, &n);
    cuStreamEndCapture(s, &ready);
    cuStreamBeginCapture(s, 0);
    RUN(inc, 1, 64, s, &p, &n);
    pthread_barrier_wait(&b);
    pthread_barrier_wait(&b);
    RUN(inc, 1, 64, s, &p, &n);
    CUresult r = cuStreamEndCapture(s, &g);
    pthread_join(t, NULL);
    CUresult l = cuGraphLaunch(exec, s2);
    printf("capture %d launch %d\n", r, l);
    return 0;
}
