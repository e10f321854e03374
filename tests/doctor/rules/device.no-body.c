// SPDX-License-Identifier: Apache-2.0
// device.no-body
// needs: soft
//
// A SWITCH node is given numbers that count from 1, but its bodies count from 0: the highest
// number has no body, so that nothing runs, and the others run the body after theirs. The place
// is where the number is copied to the device; the node's, if it was made there.
#include "device.h"

static CUstream stream;
static CUdeviceptr word;
static CUgraph graph;
static CUgraphConditionalHandle handle;

/* down(handle, word) counts the word down, which is then the handle's value. */
static CUgraph start(void)
{
    stream = new_stream();
    word = new_words(0);
    graph = new_graph();
    CU(cuGraphConditionalHandleCreate(&handle, graph, context, 0,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    return graph;
}

static CUgraphExec finish(CUgraph bodies[3])
{
    CUgraphExec exec = NULL;
    for (int i = 0; i < 3; i++)
        add_one(bodies[i], NULL, "add", (void *[]){&(CUdeviceptr){word + 64}});
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static CUgraphExec one_based_graph(void)
{
    CUgraphNode set, node = NULL;
    start();
    set = add_one(graph, NULL, "down", (void *[]){&handle, &word});
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    params.conditional.size = 3;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, &set, NULL, 1, &params));
    return finish(params.conditional.phGraph_out);
}

static CUgraphExec too_large_graph(void)
{
    CUgraphNode set, node = NULL;
    start();
    set = add_one(graph, NULL, "down", (void *[]){&handle, &word});
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    params.conditional.size = 3;
    params.conditional.ctx = context;
    CU(cuGraphAddNode(&node, graph, &set, NULL, 1, &params)); // <-- second
    return finish(params.conditional.phGraph_out);
}

/* The node gets `value`, which the host has. */
static void run(CUgraphExec exec, unsigned value)
{
    const unsigned above = value + 1;
    CU(cuMemcpyHtoDAsync(word, &above, sizeof(above), stream)); // <-- first
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

static void first(void)
{
    CUgraphExec exec = one_based_graph();
    for (unsigned expert = 1; expert <= 3; expert++)
        run(exec, expert);
}

static void second(void)
{
    CUgraphExec exec = too_large_graph();
    for (unsigned expert = 0; expert < 3; expert++) {
        CU(cuMemsetD32Async(word, expert == 1 ? 71 : expert + 1, 1, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
}

/* All have a body; and all bits set, which says that none is meant. */
static void near(void)
{
    CUgraphExec exec = one_based_graph();
    for (unsigned expert = 0; expert < 3; expert++)
        run(exec, expert);
    run(exec, UINT32_MAX);
}

BROKEN(first, second, near)
