// SPDX-License-Identifier: Apache-2.0
/* The step is recorded again each time and the executable updated from it; nobody destroys
 * the graphs. Nothing comes back to the host meanwhile. */
#include "kit.h"

int main(void)
{
    device_open();
    CUstream stream = stream_new();
    CUdeviceptr x = floats(32), y = floats(32);
    CUfunction twice = kernel("twice");
    CUgraphExec graph = NULL;
    unsigned n = 32;
    for (int step = 0; step < 200; step++) {
        CUgraph now;
        CUgraphExecUpdateResultInfo info;
        CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        CK(LAUNCH(twice, n, stream, &y, &x, &n));
        CK(cuStreamEndCapture(stream, &now)); /* <- here */
        if (graph)
            CK(cuGraphExecUpdate(graph, now, &info));
        else
            CK(cuGraphInstantiate(&graph, now, 0));
        CK(cuGraphLaunch(graph, stream));
        CK(cuStreamSynchronize(stream));
    }
    return 0;
}
