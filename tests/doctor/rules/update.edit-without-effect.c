// SPDX-License-Identifier: Apache-2.0
// update.edit-without-effect
//
// A graph is edited, and what was instantiated of it before is launched: an executable is a copy,
// and so is a child node. Update the executable from the graph, instantiate again, or set the node
// in the executable (cuGraphExec...SetParams). Editing a graph for the next instantiation is right.
#include "broken.h"

static CUgraph graph;
static CUgraphNode node;
static CUgraphExec exec;
static CUstream stream;

static CUDA_KERNEL_NODE_PARAMS filling(CUdeviceptr *out, float *value)
{
    static unsigned count = FLOATS;
    static void *arguments[3];
    arguments[0] = out, arguments[1] = value, arguments[2] = &count;
    return floats_kernel(fill, arguments);
}

static void make(CUdeviceptr *out, float *value)
{
    CUDA_KERNEL_NODE_PARAMS kernel = filling(out, value);
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
}

static void launch(int times)
{
    for (int i = 0; i < times; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

static void destroy(void)
{
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

static void first(void)
{
    CUdeviceptr out = new_floats();
    float value = 1;
    stream = new_stream();
    make(&out, &value);
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch(1);
    for (value = 2; value < 5; value++) {
        CUDA_KERNEL_NODE_PARAMS kernel = filling(&out, &value);
        CU(cuGraphKernelNodeSetParams(node, &kernel)); // <-- first
        launch(1);
    }
    destroy();
}

/* The graph that a child was made of; the parent has a copy. */
static void second(void)
{
    CUdeviceptr out = new_floats();
    CUgraph parent;
    CUgraphNode child;
    float value = 1;
    stream = new_stream();
    make(&out, &value);
    CU(cuGraphCreate(&parent, 0));
    CU(cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
    CUDA_KERNEL_NODE_PARAMS kernel = filling(&out, &(float){7});
    CU(cuGraphKernelNodeSetParams(node, &kernel)); // <-- second
    CU(cuGraphInstantiateWithFlags(&exec, parent, 0));
    launch(2);
    destroy();
    CU(cuGraphDestroy(parent));
}

/* Updated from; instantiated again; set in the executable, too; edited before the first
 * instantiation; a template that children are made of, one after another. */
static void near(void)
{
    CUdeviceptr out = new_floats();
    CUgraph parent;
    CUgraphNode child;
    CUgraphExecUpdateResultInfo info;
    float value = 1;
    stream = new_stream();
    make(&out, &value);
    CUDA_KERNEL_NODE_PARAMS kernel = filling(&out, &value);
    CU(cuGraphKernelNodeSetParams(node, &kernel));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (value = 2; value < 4; value++) {
        CU(cuGraphKernelNodeSetParams(node, &kernel));
        CU(cuGraphExecUpdate(exec, graph, &info));
        launch(2);
    }
    CU(cuGraphKernelNodeSetParams(node, &kernel));
    launch(1);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (value = 6; value < 8; value++) {
        CU(cuGraphKernelNodeSetParams(node, &kernel));
        CU(cuGraphExecKernelNodeSetParams(exec, node, &kernel));
        launch(2);
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphCreate(&parent, 0));
    for (value = 8; value < 11; value++) {
        CU(cuGraphKernelNodeSetParams(node, &kernel));
        CU(cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
    }
    CU(cuGraphInstantiateWithFlags(&exec, parent, 0));
    launch(2);
    destroy();
    CU(cuGraphDestroy(parent));
}

BROKEN(first, second, near)
