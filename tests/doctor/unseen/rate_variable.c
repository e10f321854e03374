// SPDX-License-Identifier: Apache-2.0
/* The learning rate lies in the trainer, whose address the capture was given: it decays from
 * step to step, and the graph has the first one. */
#include "kit.h"

typedef struct trainer {
    CUstream stream;
    CUfunction axpy;
    CUdeviceptr weights, grads;
    float rate;
    unsigned n;
    CUgraphExec exec;
    CUgraph graph;
    CUgraphNode node;
} trainer;

static void record(trainer *t)
{
    size_t count = 1;
    CK(cuStreamBeginCapture(t->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    float *rate = &t->rate;
    LAUNCH(t->axpy, t->n, t->stream, &t->weights, &t->grads, rate, &t->n); /* <- here */
    CK(cuStreamEndCapture(t->stream, &t->graph));
    CK(cuGraphGetNodes(t->graph, &t->node, &count));
    CK(cuGraphInstantiate(&t->exec, t->graph, 0));
}

static void step(trainer *t)
{
#ifdef FIXED
    CUDA_KERNEL_NODE_PARAMS params = {0};
    CK(cuGraphKernelNodeGetParams(t->node, &params));
    params.kernelParams = (void *[]){&t->weights, &t->grads, &t->rate, &t->n};
    CK(cuGraphExecKernelNodeSetParams(t->exec, t->node, &params));
#endif
    CK(cuGraphLaunch(t->exec, t->stream));
}

int main(void)
{
    trainer t = {.rate = 0.5f, .n = 64};
    device_open();
    t.axpy = kernel("axpy");
    t.stream = stream_new();
    t.weights = floats(t.n);
    t.grads = floats(t.n);
    record(&t);
    for (int i = 0; i < 5; i++, t.rate *= 0.5f)
        step(&t);
    CK(cuStreamSynchronize(t.stream));
    printf("%g\n", first(t.weights));
    CK(cuGraphExecDestroy(t.exec));
    CK(cuGraphDestroy(t.graph));
    return 0;
}
