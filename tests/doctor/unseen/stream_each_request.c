// SPDX-License-Identifier: Apache-2.0
/* A stream is made for each request, to replay the graph in, and never destroyed. */
#include "kit.h"

int main(void)
{
    device_open();
    CUstream stream = stream_new();
    CUdeviceptr x = floats(32), y = floats(32);
    CUgraph g;
    CUgraphExec graph;
    unsigned n = 32;
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CK(LAUNCH(kernel("twice"), n, stream, &y, &x, &n));
    CK(cuStreamEndCapture(stream, &g));
    CK(cuGraphInstantiate(&graph, g, 0));
    for (int request = 0; request < 200; request++) {
        CUstream own;
        CK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING)); /* <- here */
        CK(cuGraphLaunch(graph, own));
        CK(cuStreamSynchronize(own));
    }
    return 0;
}
