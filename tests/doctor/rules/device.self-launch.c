// SPDX-License-Identifier: Apache-2.0
// device.self-launch
//
// A kernel can launch the graph that it is in again, into its tail, where that was instantiated
// with CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH. In a graph of the host cudaGetCurrentGraphExec()
// is 0, the launch gets 1, and the loop ends after its first round. Instantiate it with the flag.
// env: SOFTCUDA_CHECK=race
#include "device.h"

/* A loop that was captured, and instantiated as graphs are. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(5), answer = new_words(9);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("again", stream, &word, &answer);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); // <-- first
    launch_and_wait(exec, stream);
    EXPECT(word_at(word) == 4 && word_at(answer) == 1);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* By hand, with another flag. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(5), answer = new_words(9), sum = new_words(0);
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hUploadStream = stream};
    CUgraphNode node = add_one(graph, NULL, "add", (void *[]){&sum});
    add_one(graph, node, "again", (void *[]){&word, &answer});
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); // <-- second
    launch_and_wait(exec, stream);
    EXPECT(word_at(word) == 4);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* With the flag for it. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(5), answer = new_words(9);
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    add_one(graph, NULL, "again", (void *[]){&word, &answer});
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphUpload(exec, stream));
    launch_and_wait(exec, stream);
    EXPECT(word_at(word) == 0 && word_at(answer) == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
