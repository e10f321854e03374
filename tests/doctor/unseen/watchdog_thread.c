// SPDX-License-Identifier: Apache-2.0
/* A watchdog thread polls an event while the main thread captures. */
#include "app.h"
#include <pthread.h>
#include <stdatomic.h>

static CUevent heartbeat;
static atomic_int stop, polled, capturing;
static void *watchdog(void *arg)
{
    (void)arg;
    cuCtxSetCurrent(app_context);
    while (!atomic_load(&capturing))
        ;
    while (!atomic_load(&stop)) {
        cuEventQuery(heartbeat); /* <- here */
        atomic_fetch_add(&polled, 1);
        break;
    }
    return NULL;
}

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&heartbeat, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(heartbeat, s));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(4096);
    unsigned n = 1024;
    pthread_t t;
    pthread_create(&t, NULL, watchdog, NULL);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(RUN(inc, 8, 128, s, &p, &n));
    atomic_store(&capturing, 1);
    while (!atomic_load(&polled))
        ;
    CUresult r = RUN(inc, 8, 128, s, &p, &n);
    CUgraph g = NULL;
    CUresult end = cuStreamEndCapture(s, &g);
    atomic_store(&stop, 1);
    pthread_join(t, NULL);
    if (r || end) {
        fprintf(stderr, "capture failed: %d %d\n", r, end);
        return 7;
    }
    return 0;
}
