// SPDX-License-Identifier: Apache-2.0
// device.update-overwritten
//
// A kernel has changed parameters of a node on the device; then the host sets the node of the
// executable. With the next launch or upload the host's parameters replace all that the kernel has
// set. Let one of the two set a node: set what the host knows before the kernel runs, or pass it
// through memory.
#include "device.h"

typedef struct changing {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraphDeviceNode device_node;
} changing;

static changing changing_graph(CUdeviceptr word, CUstream stream)
{
    changing out = {.graph = new_graph()};
    CUlaunchAttributeValue value = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
    out.node = add_one(out.graph, NULL, "add", (void *[]){&word});
    CU(cuGraphKernelNodeSetAttribute(
        out.node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value));
    out.device_node = value.deviceUpdatableKernelNode.devNode;
    CU(cuGraphInstantiateWithFlags(&out.exec, out.graph, 0));
    CU(cuGraphUpload(out.exec, stream));
    CU(cuStreamSynchronize(stream));
    return out;
}

static void drop(changing *of)
{
    CU(cuGraphExecDestroy(of->exec));
    CU(cuGraphDestroy(of->graph));
}

/* The buffer that the kernel chose is lost. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), chosen = new_words(0), answer = new_words(9);
    CUdeviceptr value = new_words(0);
    CU(cuMemcpyHtoD(value, &chosen, sizeof(chosen)));
    changing of = changing_graph(word, stream);
    ONE("set_param", stream, &of.device_node, &value, &answer);
    launch_and_wait(of.exec, stream);
    EXPECT(word_at(chosen) == 1 && word_at(answer) == 0);
    const CUDA_KERNEL_NODE_PARAMS params = one_thread("add", (void *[]){&word});
    CU(cuGraphExecKernelNodeSetParams(of.exec, of.node, &params)); // <-- first
    launch_and_wait(of.exec, stream);
    EXPECT(word_at(chosen) == 1 && word_at(word) == 1);
    drop(&of);
}

/* The kernel that chooses is in a graph of its own, and the host sets a grid. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), chosen = new_words(0), answer = new_words(9);
    CUdeviceptr value = new_words(0);
    CU(cuMemcpyHtoD(value, &chosen, sizeof(chosen)));
    changing of = changing_graph(word, stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("set_param", stream, &of.device_node, &value, &answer);
    CUgraphExec chooses = end_capture(stream);
    CU(cuGraphLaunch(chooses, stream));
    launch_and_wait(of.exec, stream);
    CUDA_KERNEL_NODE_PARAMS params = one_thread("add", (void *[]){&word});
    params.gridDimX = 2;
    CU(cuGraphExecKernelNodeSetParams(of.exec, of.node, &params)); // <-- second
    launch_and_wait(of.exec, stream);
    EXPECT(word_at(chosen) == 1);
    CU(cuGraphExecDestroy(chooses));
    drop(&of);
}

/* The host first, and then the kernel. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), chosen = new_words(0), answer = new_words(9);
    CUdeviceptr value = new_words(0);
    CU(cuMemcpyHtoD(value, &chosen, sizeof(chosen)));
    changing of = changing_graph(word, stream);
    const CUDA_KERNEL_NODE_PARAMS params = one_thread("add", (void *[]){&word});
    CU(cuGraphExecKernelNodeSetParams(of.exec, of.node, &params));
    CU(cuGraphUpload(of.exec, stream));
    CU(cuStreamSynchronize(stream));
    ONE("set_param", stream, &of.device_node, &value, &answer);
    launch_and_wait(of.exec, stream);
    EXPECT(word_at(chosen) == 1 && word_at(word) == 0);
    drop(&of);
}

BROKEN(first, second, near)
