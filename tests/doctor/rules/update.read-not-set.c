// SPDX-License-Identifier: Apache-2.0
// update.read-not-set
//
// The parameters of a kernel node are read before each launch, changed, and never set: what
// is changed is the program's own struct, or memory of the graph that the executable does not
// use. Pass them to cuGraphExecKernelNodeSetParams.
#include "broken.h"

enum { STEPS = 5 };

static CUstream stream;
static CUdeviceptr out;
static CUgraph graph;
static CUgraphExec exec;
static CUgraphNode node;

static void make(void)
{
    size_t count = 1;
    stream = new_stream();
    out = new_floats();
    graph = fill_graph(stream, out);
    CU(cuGraphGetNodes(graph, &node, &count));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static void launch(void)
{
    float value = 0;
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoHAsync(&value, out, sizeof(value), stream));
    CU(cuStreamSynchronize(stream));
    printf("%g\n", (double)value);
}

/* Written through the pointers that the driver gave. */
static void first(void)
{
    CUDA_KERNEL_NODE_PARAMS params;
    make();
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphKernelNodeGetParams(node, &params)); // <-- first
        *(float *)params.kernelParams[1] = (float)i;
        launch();
    }
}

/* In a struct of its own. */
static void set_grid(unsigned blocks)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CU(cuGraphKernelNodeGetParams(node, &params)); // <-- second
    params.gridDimX = blocks;
}

static void second(void)
{
    make();
    for (int i = 0; i < STEPS; i++) {
        set_grid(1 + (unsigned)i);
        launch();
    }
}

/* Set each time; set once, and looked at later; without a launch between; and read in order to
 * find the one that is set. */
static void near(void)
{
    CUDA_KERNEL_NODE_PARAMS params;
    CUgraphNode other = NULL;
    make();
    params = floats_kernel(
        fill, (void *[]){&(CUdeviceptr){new_floats()}, &(float){1}, &(unsigned){FLOATS}});
    CU(cuGraphAddKernelNode(&other, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++) {
        const float value = (float)i;
        CU(cuGraphKernelNodeGetParams(other, &params));
        CU(cuGraphKernelNodeGetParams(node, &params));
        params.kernelParams = (void *[]){&out, (void *)&value, &(unsigned){FLOATS}};
        CU(cuGraphExecKernelNodeSetParams(exec, node, &params));
        launch();
    }
    make();
    for (int i = 0; i < STEPS; i++) {
        const float value = (float)i;
        CU(cuGraphKernelNodeGetParams(node, &params));
        params.kernelParams = (void *[]){&out, (void *)&value, &(unsigned){FLOATS}};
        CU(cuGraphExecKernelNodeSetParams(exec, node, &params));
        launch();
    }
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphKernelNodeGetParams(node, &params));
        launch();
    }
    make();
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphKernelNodeGetParams(node, &params));
    for (int i = 0; i < STEPS; i++)
        launch();
}

BROKEN(first, second, near)
