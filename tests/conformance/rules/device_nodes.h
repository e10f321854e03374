// SPDX-License-Identifier: Apache-2.0
/* Nodes that kernels change, and kernels that change their parameters. */
#ifndef CONFORMANCE_DEVICE_NODES_H
#define CONFORMANCE_DEVICE_NODES_H
#include "device_kernels.h"

#define UPDATABLE CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE

static inline CUresult set_attribute(CUgraphNode node, int value,
                                     CUgraphDeviceNode *handle)
{
    CUlaunchAttributeValue attribute;
    memset(&attribute, 0, sizeof(attribute));
    attribute.deviceUpdatableKernelNode.deviceUpdatable = value;
    const CUresult result = cu.cuGraphKernelNodeSetAttribute(node, UPDATABLE, &attribute);
    if (result == CUDA_SUCCESS && handle)
        *handle = attribute.deviceUpdatableKernelNode.devNode;
    return result;
}

static inline CUgraphDeviceNode updatable(CUgraphNode node)
{
    CUgraphDeviceNode handle = NULL;
    OK(set_attribute(node, 1, &handle));
    CHECK(handle != NULL);
    return handle;
}

static inline CUgraphExec instantiate_and_drop(CUgraph graph)
{
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphDestroy(graph));
    return exec;
}

/* Kernels that change a node; what they get is answer[at]. */
static inline CUgraphNode sets_value(CUgraph graph, CUgraphNode before,
                                     CUgraphDeviceNode node, size_t offset,
                                     CUdeviceptr value, size_t bytes, unsigned at)
{
    CUdeviceptr out = answer + 4ull * at;
    void *args[] = {&node, &offset, &value, &bytes, &out};
    return node_behind(graph, before, "set_param", args);
}

/* A word of the device with a value, for set_param(). */
static inline CUdeviceptr value_of(unsigned at, unsigned value)
{
    OK(cu.cuMemsetD32(word + 4ull * at, value, 1));
    OK(cu.cuCtxSynchronize());
    return word + 4ull * at;
}

/* A graph with one mark() that kernels may change. */
struct target {
    CUgraph graph;
    CUgraphNode node;
    CUgraphDeviceNode handle;
    CUgraphExec exec;
};

static inline struct target target_of(unsigned value, bool upload)
{
    struct target t = {.graph = new_graph()};
    t.node = marks(t.graph, NULL, value);
    t.handle = updatable(t.node);
    t.exec = instantiate(t.graph);
    if (upload)
        OK(cu.cuGraphUpload(t.exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    return t;
}

static inline void drop(const struct target *t)
{
    OK(cu.cuCtxSynchronize());
    if (t->exec)
        OK(cu.cuGraphExecDestroy(t->exec));
    OK(cu.cuGraphDestroy(t->graph));
}

/* A graph of one kernel that sets the value of a target. */
static inline CUgraphExec setter_of(CUgraphDeviceNode handle, unsigned value)
{
    CUgraph graph = new_graph();
    sets_value(graph, NULL, handle, 8, value_of(0, value), 4, 0);
    return instantiate_and_drop(graph);
}
#endif
