// SPDX-License-Identifier: Apache-2.0
// device.launch-outside
//
// Kernels launch graphs from within graphs alone: launched into a stream, a kernel that calls
// cudaGraphLaunch() is refused with 801. And they launch into one of three streams (fire and
// forget, tail, sibling): any other gets 1, and nothing runs. Capture the kernel.
// env: SOFTCUDA_CHECK=race
#include "device.h"

static CUgraphExec device_graph(CUdeviceptr word, CUstream stream)
{
    CUgraph graph = add_graph(word);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphDestroy(graph));
    CU(cuGraphUpload(exec, stream));
    return exec;
}

/* Eagerly. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec inner = device_graph(word, stream);
    ONE("fire", stream, &inner, &(unsigned long long){FORGET}, &answer); // <-- first
    CU(cuStreamSynchronize(stream));
    EXPECT(word_at(word) == 0);
    CU(cuGraphExecDestroy(inner));
}

/* By an extended launch, before the loop that is captured begins. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec inner = device_graph(word, stream);
    unsigned long long where = TAIL;
    void *arguments[] = {&inner, &where, &answer};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream};
    CU(cuLaunchKernelEx(&config, device_kernel("fire"), arguments, NULL)); // <-- second
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(inner));
}

/* Captured. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec inner = device_graph(word, stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("fire", stream, &inner, &(unsigned long long){FORGET}, &answer);
    CUgraphExec outer = end_capture(stream);
    launch_and_wait(outer, stream);
    EXPECT(word_at(word) == 1 && word_at(answer) == 0);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
}

BROKEN(first, second, near)
