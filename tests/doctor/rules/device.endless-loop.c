// SPDX-License-Identifier: Apache-2.0
// device.endless-loop
//
// A WHILE node runs its body until its handle is 0. Where no kernel of the body sets the handle, or
// never to 0, it runs forever, and nothing but the end of the process stops it on a GPU. Set the
// handle in each round, and count rounds: gph_loop has a ceiling, a time budget and a word to stop
// it.
// env: SOFTCUDA_CHECK=race
// env: SOFTCUDA_KERNEL_TIMEOUT_MS=300
#include "device.h"

static CUgraph endless_graph(CUgraphConditionalHandle *handle)
{
    CUgraph graph = new_graph();
    CU(cuGraphConditionalHandleCreate(handle, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    return graph;
}

/* The body's kernel does not know the handle. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = endless_graph(&handle);
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params)); // <-- first
    add_one(params.conditional.phGraph_out[0], NULL, "add", (void *[]){&word});
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

/* It does, but its condition never becomes 0: it sets what it counts up. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = endless_graph(&handle);
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params)); // <-- second
    add_one(params.conditional.phGraph_out[0], NULL, "set",
            (void *[]){&handle, &(unsigned){1}});
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

/* Many rounds, and an end. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(3000);
    CUgraphConditionalHandle handle = 0;
    CUgraph graph = endless_graph(&handle);
    CUgraph body = add_condition(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE);
    add_one(body, NULL, "down", (void *[]){&handle, &word});
    replay_once(graph, stream);
    EXPECT(word_at(word) == 0);
}

BROKEN(first, second, near)
