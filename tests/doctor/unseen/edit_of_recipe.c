// SPDX-License-Identifier: Apache-2.0
/* The scale of a step is changed in the graph that the executable was made of, in each
 * epoch; the executable keeps the first. */
#include "app.h"

int main(void)
{
    app_start();
    CUstream s;
    CUgraph g;
    CUgraphNode node;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr p = app_alloc(256);
    float factor = 1;
    unsigned n = 64;
    void *a[] = {&p, &factor, &n};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = app_kernel("scale"),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 64,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = a};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddKernelNode(&node, g, NULL, 0, &kernel));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int epoch = 0; epoch < 4; epoch++) {
        factor *= 0.5F;
        OK(cuGraphKernelNodeSetParams(node, &kernel)); /* <- here */
        for (int i = 0; i < 3; i++)
            OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
    }
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    return 0;
}
