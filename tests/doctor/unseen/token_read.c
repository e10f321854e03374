// SPDX-License-Identifier: Apache-2.0
/* A decode step reads its token by a copy that waits. On the legacy stream that runs at
 * once in a thread-local capture, and the graph lacks it. */
#include "app.h"

static CUdeviceptr logits, token;

static int step(CUstream s)
{
    unsigned n = 64;
    int at = 0;
    OK(RUN(app_kernel("inc"), 1, 64, s, &logits, &n));
    OK(RUN(app_kernel("argmax"), 1, 1, s, &token, &logits, &n));
    OK(cuMemcpyDtoH(&at, token, sizeof(at))); /* <- here */
    return at;
}

int main(void)
{
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    app_start();
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    logits = app_alloc(256);
    token = app_alloc(4);
    step(s);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    step(s);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 4; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
