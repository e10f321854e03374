// SPDX-License-Identifier: Apache-2.0
// device.not-uploaded
//
// A graph that kernels launch has to be on the device before: by cuGraphUpload(), by the flag
// CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, or by one launch of the host. Else the kernel's
// cudaGraphLaunch() gets 1, which few kernels look at, and nothing runs. Upload it where it is
// instantiated.
// env: SOFTCUDA_CHECK=race
#include "device.h"

/* Captured, and forgotten. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraph graph = add_graph(word);
    CUgraphExec inner = NULL;
    CU(cuGraphInstantiateWithFlags(&inner, graph, // <-- first
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("fire", stream, &inner, &(unsigned long long){FORGET}, &answer);
    CUgraphExec outer = end_capture(stream);
    launch_and_wait(outer, stream);
    EXPECT(word_at(word) == 0 && word_at(answer) == 1);
    CU(cuGraphExecDestroy(outer));
    CU(cuGraphExecDestroy(inner));
    CU(cuGraphDestroy(graph));
}

/* Of two graphs one is uploaded. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraph graph = add_graph(word), other = add_graph(word), outer = new_graph();
    CUgraphExec execs[2] = {NULL, NULL};
    unsigned long long where = TAIL;
    CU(cuGraphInstantiateWithFlags(&execs[0], graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphInstantiateWithFlags(&execs[1], other, // <-- second
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphUpload(execs[0], stream));
    CUgraphNode node =
        add_one(outer, NULL, "fire", (void *[]){&execs[0], &where, &answer});
    add_one(outer, node, "fire", (void *[]){&execs[1], &where, &answer});
    replay_once(outer, stream);
    EXPECT(word_at(word) == 1);
    for (int i = 0; i < 2; i++)
        CU(cuGraphExecDestroy(execs[i]));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(other));
}

/* By the call, by the flag, by a launch of the host: each after the launcher was made. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    for (int way = 0; way < 3; way++) {
        CUgraph graph = add_graph(word), outer = new_graph();
        CUgraphExec inner = NULL, host = NULL;
        unsigned long long where = FORGET;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {
            .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH, .hUploadStream = stream};
        if (way == 1)
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
        CU(cuGraphInstantiateWithParams(&inner, graph, &params));
        add_one(outer, NULL, "fire", (void *[]){&inner, &where, &answer});
        CU(cuGraphInstantiateWithFlags(&host, outer, 0));
        if (way == 0)
            CU(cuGraphUpload(inner, stream));
        if (way == 2)
            CU(cuGraphLaunch(inner, stream));
        launch_and_wait(host, stream);
        EXPECT(word_at(answer) == 0);
        CU(cuGraphExecDestroy(host));
        CU(cuGraphExecDestroy(inner));
        CU(cuGraphDestroy(graph));
        CU(cuGraphDestroy(outer));
    }
    EXPECT(word_at(word) == 4);
}

BROKEN(first, second, near)
