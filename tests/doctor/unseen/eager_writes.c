// SPDX-License-Identifier: Apache-2.0
/* The optimizer's kernel writes the weights on a stream of its own; the graph that reads
 * them is launched beside it. */
#include "kit.h"

int main(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUevent updated, read;
    unsigned n = 256, rounds = 3000;
    device_open();
    CUstream s = stream_new(), optimizer = stream_new();
    CUfunction twice = kernel("twice"), work = kernel("work");
    CUdeviceptr weights = floats(n), out = floats(n);
    CK(cuEventCreate(&updated, CU_EVENT_DISABLE_TIMING));
    CK(cuEventCreate(&read, CU_EVENT_DISABLE_TIMING));
    CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CK(LAUNCH(twice, n, s, &out, &weights, &n));
    CK(cuStreamEndCapture(s, &graph));
    CK(cuGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++) {
#ifdef FIXED
        CK(cuEventRecord(read, s));
        CK(cuStreamWaitEvent(optimizer, read, 0));
#endif
        LAUNCH(work, n, optimizer, &weights, &rounds, &n); /* <- here */
        CK(cuEventRecord(updated, optimizer));
#ifdef FIXED
        CK(cuStreamWaitEvent(s, updated, 0));
#endif
        CK(cuGraphLaunch(exec, s));
        CK(cuStreamSynchronize(s));
        printf("%g\n", first(out));
    }
    CK(cuStreamSynchronize(optimizer));
    CK(cuGraphExecDestroy(exec));
    CK(cuGraphDestroy(graph));
    return 0;
}
