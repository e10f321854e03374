// SPDX-License-Identifier: Apache-2.0
// device.second-executable
//
// A graph with a kernel node that kernels may change has one executable: the device node's handle
// stands for the node of that one. A second instantiation is refused with
// CUDA_ERROR_NOT_SUPPORTED. Build the graph once for each executable.
#include "device.h"

static CUgraph updatable_graph(CUdeviceptr word)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_one(graph, NULL, "add", (void *[]){&word});
    CUlaunchAttributeValue value = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
    CU(cuGraphKernelNodeSetAttribute(
        node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value));
    return graph;
}

/* An executable for each of two streams. */
static void first(void)
{
    CUgraph graph = updatable_graph(new_words(0));
    CUgraphExec one = NULL, two = NULL;
    CU(cuGraphInstantiateWithFlags(&one, graph, 0));
    CU(cuGraphInstantiateWithFlags(&two, graph, 0)); // <-- first
    EXPECT(two == NULL);
    CU(cuGraphExecDestroy(one));
    CU(cuGraphDestroy(graph));
}

/* The node is captured, and the second executable is for the device. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    CUgraph graph = NULL;
    CUgraphExec one = NULL, two = NULL;
    CUlaunchAttribute attribute = {.id =
                                       CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE};
    attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchKernelEx(&config, device_kernel("add"), (void *[]){&word}, NULL));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&one, graph, 0));
    CU(cuGraphInstantiateWithFlags(&two, graph, // <-- second
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    EXPECT(two == NULL);
    CU(cuGraphExecDestroy(one));
    CU(cuGraphDestroy(graph));
}

/* A graph for each; and of a graph of plain nodes as many as are wanted. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    CUgraph plain = add_graph(word);
    for (int i = 0; i < 2; i++) {
        CUgraphExec exec = NULL;
        replay_once(updatable_graph(word), stream);
        CU(cuGraphInstantiateWithFlags(&exec, plain, 0));
        launch_and_wait(exec, stream);
        CU(cuGraphExecDestroy(exec));
    }
    EXPECT(word_at(word) == 4);
    CU(cuGraphDestroy(plain));
}

BROKEN(first, second, near)
