// SPDX-License-Identifier: Apache-2.0
// device.foreign-handle
//
// A conditional handle is made for a graph and belongs to one conditional node of it, or of a body
// in it. For a node of another graph, and for a second node, the driver refuses it with
// CUDA_ERROR_INVALID_VALUE. Make a handle for each node, for the graph that is launched.
#include "device.h"

static CUgraphConditionalHandle handle_of(CUgraph graph)
{
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

static CUgraphNodeParams loop_of(CUgraphConditionalHandle handle)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    params.conditional.size = 1;
    params.conditional.ctx = context;
    return params;
}

/* Of the graph that was built before. */
static void first(void)
{
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNodeParams params = loop_of(handle_of(graph));
    CUgraphNode node = NULL;
    CU(cuGraphAddNode(&node, other, NULL, NULL, 0, &params)); // <-- first
    EXPECT(node == NULL);
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(other));
}

/* One handle for two loops of a graph. */
static void second(void)
{
    CUgraph graph = new_graph();
    CUgraphNodeParams params = loop_of(handle_of(graph)), more = params;
    CUgraphNode node = NULL, next = NULL;
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    CU(cuGraphAddNode(&next, graph, &node, NULL, 1, &more)); // <-- second
    EXPECT(next == NULL);
    CU(cuGraphDestroy(graph));
}

/* Of the graph, for a loop in the body of another loop of it. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr outer = new_words(2), inner = new_words(3);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle one = handle_of(graph), other = handle_of(graph);
    CUgraph body = add_condition(graph, NULL, one, CU_GRAPH_COND_TYPE_WHILE);
    CUgraphNode counts = add_one(body, NULL, "down", (void *[]){&one, &outer});
    CUgraph nested = add_condition(body, counts, other, CU_GRAPH_COND_TYPE_WHILE);
    add_one(nested, NULL, "down", (void *[]){&other, &inner});
    replay_once(graph, stream);
    EXPECT(word_at(outer) == 0 && word_at(inner) == 0);
}

BROKEN(first, second, near)
