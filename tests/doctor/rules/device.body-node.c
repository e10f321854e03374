// SPDX-License-Identifier: Apache-2.0
// device.body-node
//
// Bodies of conditional nodes run on the device: they hold kernels, fills, copies between memory of
// devices and pinned memory, empty nodes, child graphs of those and conditional nodes. A host
// function, an event, an allocation in one is found at the instantiation of the outermost graph,
// which fails with CUDA_ERROR_INVALID_VALUE (result 3). Do such work before the loop or after it.
#include "device.h"

static int calls;

static void count_call(void *user)
{
    (void)user;
    calls++;
}

static CUgraph loop_body(CUgraph graph, CUdeviceptr word)
{
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraph body = add_condition(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE);
    add_one(body, NULL, "down", (void *[]){&handle, &word});
    return body;
}

/* A host function that is to report each round. */
static void first(void)
{
    CUgraph graph = new_graph();
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    CUgraph body = loop_body(graph, new_words(3));
    const CUDA_HOST_NODE_PARAMS params = {.fn = count_call};
    CU(cuGraphAddHostNode(&node, body, NULL, 0, &params)); // <-- first
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* A temporary buffer, captured into the body. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = new_graph(), captured = NULL;
    CUdeviceptr temporary = 0;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CUgraphExec exec = NULL;
    CUgraph body = loop_body(graph, new_words(3));
    CU(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemAllocAsync(&temporary, 4096, stream)); // <-- second
    CU(cuMemsetD8Async(temporary, 0, 4096, stream));
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &captured));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* Beside the loop. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(3);
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    loop_body(graph, word);
    const CUDA_HOST_NODE_PARAMS params = {.fn = count_call};
    CU(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    replay_once(graph, stream);
    EXPECT(calls == 1 && word_at(word) == 0);
}

BROKEN(first, second, near)
