// SPDX-License-Identifier: Apache-2.0
// device.branch-beside-launch
//
// A graph may have conditional nodes, and it may have kernels that launch graphs. With both, an
// H100 (driver 580) does not end a launch once a body has run, whatever the order of the two.
// softcuda ends it. Put them into two graphs.
#include "device.h"

/* A graph for kernels to launch, which adds one to the word. */
static CUgraphExec device_graph(CUdeviceptr word, CUstream stream)
{
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, add_graph(word),
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuGraphUpload(exec, stream));
    CU(cuStreamSynchronize(stream));
    return exec;
}

static CUgraphConditionalHandle taken(CUgraph graph)
{
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

static void run(CUgraph graph, CUstream stream)
{
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_and_wait(exec, stream);
}

/* The branch comes after the kernel. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), out = new_words(0);
    CUgraphExec small = device_graph(word, stream);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle = taken(graph);
    CUgraphNode set = add_one(graph, NULL, "set", (void *[]){&handle, &(unsigned){1}});
    CUgraphNode fire = add_one(graph, set, "fire",
                               (void *[]){&small, &(unsigned long long){FORGET}, &out});
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, &fire, NULL, 1, &params)); // <-- first
    add_one(params.conditional.phGraph_out[0], NULL, "add", (void *[]){&word});
    run(graph, stream);
}

/* Nothing orders the two, and the body is captured. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), out = new_words(0);
    CUgraphExec small = device_graph(word, stream);
    CUgraph graph = new_graph(), body = NULL;
    CUgraphConditionalHandle handle = taken(graph);
    CUgraphNode set = add_one(graph, NULL, "set", (void *[]){&handle, &(unsigned){0}});
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, &set, NULL, 1, &params)); // <-- second
    CU(cuStreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], NULL, NULL,
                                   0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ONE("add", stream, &word);
    CU(cuStreamEndCapture(stream, &body));
    add_one(graph, NULL, "fire", (void *[]){&small, &(unsigned long long){FORGET}, &out});
    run(graph, stream);
}

/* Each in a graph of its own. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), out = new_words(0);
    CUgraphExec small = device_graph(word, stream);
    CUgraph launches = new_graph(), branches = new_graph();
    CUgraphConditionalHandle handle = taken(branches);
    CUgraphNode set = add_one(branches, NULL, "set", (void *[]){&handle, &(unsigned){1}});
    CUgraph body = add_condition(branches, set, handle, CU_GRAPH_COND_TYPE_IF);
    add_one(body, NULL, "add", (void *[]){&word});
    add_one(launches, NULL, "fire",
            (void *[]){&small, &(unsigned long long){FORGET}, &out});
    run(launches, stream);
    run(branches, stream);
    EXPECT(word_at(word) == 2);
}

BROKEN(first, second, near)
