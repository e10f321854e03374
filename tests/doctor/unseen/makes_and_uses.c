// SPDX-License-Identifier: Apache-2.0
#include "kit.h"
/* Two graphs in two streams: one makes x, the other one reads it. */
static unsigned n = 1 << 14, rounds = 500;
typedef struct stage {
    CUstream s;
    CUgraph g;
    CUgraphExec e;
    CUevent done;
} stage;

static void stage_begin(stage *t)
{
    t->s = stream_new();
    CK(cuEventCreate(&t->done, CU_EVENT_DISABLE_TIMING));
    CK(cuStreamBeginCapture(t->s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

static void stage_end(stage *t)
{
    CK(cuStreamEndCapture(t->s, &t->g));
    CK(cuGraphInstantiate(&t->e, t->g, 0));
}

static void stage_run(stage *t, stage *after)
{
#ifdef FIXED
    if (after)
        CK(cuStreamWaitEvent(t->s, after->done, 0));
#else
    (void)after;
#endif
    CK(cuGraphLaunch(t->e, t->s)); /* <- here */
    CK(cuEventRecord(t->done, t->s));
}

int main(void)
{
    device_open();
    CUdeviceptr x = floats(n), sum = floats(1);
    stage make, use;
    stage_begin(&make);
    CK(LAUNCH(kernel("work"), n, make.s, &x, &rounds, &n));
    stage_end(&make);
    stage_begin(&use);
    CK(LAUNCH(kernel("total"), 1, use.s, &sum, &x, &n));
    stage_end(&use);
    for (int i = 0; i < 10; i++) {
        stage_run(&make, i ? &use : NULL);
        stage_run(&use, &make);
    }
    CK(cuStreamSynchronize(use.s));
    CK(cuStreamSynchronize(make.s));
    stage *all[] = {&make, &use};
    for (int i = 0; i < 2; i++) {
        CK(cuGraphExecDestroy(all[i]->e));
        CK(cuGraphDestroy(all[i]->g));
        CK(cuEventDestroy(all[i]->done));
        CK(cuStreamDestroy(all[i]->s));
    }
    CK(cuMemFree(x));
    CK(cuMemFree(sum));
    return 0;
}
