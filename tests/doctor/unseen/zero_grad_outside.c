// SPDX-License-Identifier: Apache-2.0
/* The optimizer's kernels clear the gradients outside the graph, for each parameter in
 * turn; by the kernel that the graph fills its loss's gradient with. */
#include "app.h"

static CUfunction scale, add;
static CUdeviceptr grad[3], loss, in;
static float factor[] = {0.5F, 0.25F, 0.125F, 0.0625F, 0.03125F, 0.0F};

static void zero_grad(CUstream s, int step)
{
    unsigned n = 64;
    for (int i = 0; i < 3; i++)
        OK(RUN(scale, 1, 64, s, &grad[i], &factor[step % 6], &n));
}

static void step(CUstream s)
{
    unsigned n = 64;
    float one = 1;
    OK(RUN(scale, 1, 64, s, &loss, &one, &n));
    for (int i = 0; i < 3; i++)
        OK(RUN(add, 1, 64, s, &grad[i], &grad[i], &in, &n));
}

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    float seen[64];
    scale = app_kernel("scale");
    add = app_kernel("add");
    OK(cuStreamCreate(&s, 1));
    loss = app_alloc(256), in = app_alloc(256);
    for (int i = 0; i < 3; i++)
        grad[i] = app_alloc(256);
    for (int i = 0; i < 4; i++) {
        step(s);
        zero_grad(s, i);
        OK(cuStreamSynchronize(s));
    }
    OK(cuStreamBeginCapture(s, 0));
    step(s);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 8; i++) {
        zero_grad(s, i);
        OK(cuGraphLaunch(x, s));
        OK(cuMemcpyDtoHAsync(seen, grad[0], 256, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
