// SPDX-License-Identifier: Apache-2.0
// update.left-disabled
//
// A node of an executable is switched off for one step, and nothing switches it on again: it
// is skipped in all launches that follow, while its result is still read. Switch it on before
// the next step that needs it.
#include "broken.h"

#include <stdbool.h>

enum { STEPS = 6 };

static CUstream stream;
static CUdeviceptr in, sum;
static CUgraph graph;
static CUgraphExec exec;
static CUgraphNode nodes[2];

/* Two kernels; the second adds to what is read. */
static void make(bool is_by_hand)
{
    const float one = 1;
    const unsigned floats = FLOATS;
    size_t count = 2;
    stream = new_stream();
    in = new_floats();
    sum = new_floats();
    if (is_by_hand) {
        CUDA_KERNEL_NODE_PARAMS params =
            floats_kernel(fill, (void *[]){&in, (void *)&one, (void *)&floats});
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddKernelNode(&nodes[0], graph, NULL, 0, &params));
        params = floats_kernel(scale_add,
                               (void *[]){&sum, &in, (void *)&one, (void *)&floats});
        CU(cuGraphAddKernelNode(&nodes[1], graph, nodes, 1, &params));
    } else {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        FILL(stream, in, 1);
        SCALE_ADD(stream, sum, in, 1);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphGetNodes(graph, nodes, &count));
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static float step(void)
{
    float out = 0;
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoHAsync(&out, sum, sizeof(out), stream));
    CU(cuStreamSynchronize(stream));
    return out;
}

static void first(void)
{
    make(true);
    for (int i = 0; i < STEPS; i++) {
        if (i == 2)
            CU(cuGraphNodeSetEnabled(exec, nodes[1], 0)); // <-- first
        printf("%g\n", (double)step());
    }
}

/* Captured; and the result is read at the end alone. */
static void skip(CUgraphNode node)
{
    CU(cuGraphNodeSetEnabled(exec, node, 0)); // <-- second
}

static void second(void)
{
    make(false);
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 2)
            skip(nodes[1]);
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuStreamSynchronize(stream));
    float out = 0;
    CU(cuMemcpyDtoH(&out, sum, sizeof(out)));
    printf("%g\n", (double)out);
}

/* Switched on again; off from the beginning on; and off for good, of a node whose result
 * nobody reads any more. */
static void near(void)
{
    make(true);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphNodeSetEnabled(exec, nodes[1], i % 3 != 1));
        printf("%g\n", (double)step());
    }
    CU(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    step();
    make(false);
    CU(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    for (int i = 0; i < STEPS; i++)
        printf("%g\n", (double)step());
    make(false);
    printf("%g\n", (double)step());
    CU(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
