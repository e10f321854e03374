// SPDX-License-Identifier: Apache-2.0
/* Two workers in two streams read the same weights, which were uploaded once: nobody
 * writes them, and nothing has to order the launches. */
#include "kit.h"
enum { WORKERS = 2 };
static unsigned n = 1 << 12;
static float host[1 << 12];
typedef struct worker {
    CUstream s;
    CUgraph g;
    CUgraphExec e;
    CUdeviceptr out;
} worker;

static void worker_init(worker *w, CUdeviceptr weights)
{
    w->s = stream_new();
    w->out = floats(n);
    CK(cuStreamBeginCapture(w->s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CK(LAUNCH(kernel("twice"), n, w->s, &w->out, &weights, &n));
    CK(LAUNCH(kernel("twice"), n, w->s, &w->out, &weights, &n));
    CK(cuStreamEndCapture(w->s, &w->g));
    CK(cuGraphInstantiate(&w->e, w->g, 0));
}

int main(void)
{
    device_open();
    worker w[WORKERS];
    CUdeviceptr weights = floats(n);
    CK(cuMemcpyHtoD(weights, host, sizeof host));
    for (int i = 0; i < WORKERS; i++)
        worker_init(&w[i], weights);
    for (int step = 0; step < 20; step++)
        for (int i = 0; i < WORKERS; i++)
            CK(cuGraphLaunch(w[i].e, w[i].s));
    for (int i = 0; i < WORKERS; i++) {
        CK(cuStreamSynchronize(w[i].s));
        CK(cuGraphExecDestroy(w[i].e));
        CK(cuGraphDestroy(w[i].g));
        CK(cuMemFree(w[i].out));
        CK(cuStreamDestroy(w[i].s));
    }
    CK(cuMemFree(weights));
    return 0;
}
