// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* Two workers, each with a stream and an executable; the scratch was made once. */
enum { WORKERS = 2 };
static unsigned n = 1 << 13;
typedef struct worker {
    CUstream s;
    CUgraph g;
    CUgraphExec e;
    CUdeviceptr in, scratch, out;
} worker;

static void worker_init(worker *w, CUdeviceptr scratch)
{
    w->s = stream_new();
    w->in = floats(n);
    w->out = floats(1);
    w->scratch = scratch;
    CK(cuStreamBeginCapture(w->s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CK(LAUNCH(kernel("twice"), n, w->s, &w->scratch, &w->in, &n));
    CK(LAUNCH(kernel("total"), 1, w->s, &w->out, &w->scratch, &n));
    CK(cuStreamEndCapture(w->s, &w->g));
    CK(cuGraphInstantiate(&w->e, w->g, 0));
}

static void worker_run(worker *w)
{
    CK(cuGraphLaunch(w->e, w->s)); /* <- here */
}

int main(void)
{
    device_open();
    worker w[WORKERS];
#ifdef FIXED
    for (int i = 0; i < WORKERS; i++)
        worker_init(&w[i], floats(n));
#else
    CUdeviceptr scratch = floats(n);
    for (int i = 0; i < WORKERS; i++)
        worker_init(&w[i], scratch);
#endif
    for (int step = 0; step < 20; step++)
        for (int i = 0; i < WORKERS; i++)
            worker_run(&w[i]);
    for (int i = 0; i < WORKERS; i++)
        CK(cuStreamSynchronize(w[i].s));
    for (int i = 0; i < WORKERS; i++) {
        CK(cuGraphExecDestroy(w[i].e));
        CK(cuGraphDestroy(w[i].g));
        CK(cuMemFree(w[i].in));
        CK(cuMemFree(w[i].out));
#ifndef FIXED
        if (i == 0)
#endif
            CK(cuMemFree(w[i].scratch));
        CK(cuStreamDestroy(w[i].s));
    }
    return 0;
}
