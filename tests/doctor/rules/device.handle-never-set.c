// SPDX-License-Identifier: Apache-2.0
// device.handle-never-set
//
// A conditional node asks its handle, and nobody sets that: made without
// CU_GRAPH_COND_ASSIGN_DEFAULT it has whatever was there, with it the default in each launch. Let a
// kernel before the node call cudaGraphSetConditional(handle, value): it needs the handle as an
// argument.
#include "device.h"

/* No default, and the kernel that was to decide does not know the handle. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle = 0;
    CU(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0)); // <-- first
    CUgraphNode node = add_one(graph, NULL, "add", (void *[]){&word});
    CUgraph body = add_condition(graph, node, handle, CU_GRAPH_COND_TYPE_IF);
    add_one(body, NULL, "add", (void *[]){&word});
    replay_once(graph, stream);
}

/* A default of 0: the loop never begins. Its kernel is given the other loop's handle. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(3);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle one = 0, other = 0;
    CU(cuGraphConditionalHandleCreate(&one, graph, context, 1,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CU(cuGraphConditionalHandleCreate(&other, graph, context, 0, // <-- second
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraph body = add_condition(graph, NULL, one, CU_GRAPH_COND_TYPE_WHILE);
    add_one(body, NULL, "down", (void *[]){&one, &word});
    CUgraph never = add_condition(graph, NULL, other, CU_GRAPH_COND_TYPE_WHILE);
    add_one(never, NULL, "down", (void *[]){&one, &word});
    replay_once(graph, stream);
    EXPECT(word_at(word) == 0);
}

/* Set by a kernel in front, by one of the body, and by one that finds the handle in memory. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(3), ran = new_words(0), place = new_words(0);
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handles[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        CU(cuGraphConditionalHandleCreate(&handles[i], graph, context, i == 1, i > 0));
    CUgraphNode node =
        add_one(graph, NULL, "set", (void *[]){&handles[0], &(unsigned){1}});
    CUgraph body = add_condition(graph, node, handles[0], CU_GRAPH_COND_TYPE_IF);
    add_one(body, NULL, "add", (void *[]){&ran});
    CUgraph loop = add_condition(graph, NULL, handles[1], CU_GRAPH_COND_TYPE_WHILE);
    add_one(loop, NULL, "down", (void *[]){&handles[1], &word});
    CUgraph found = add_condition(graph, NULL, handles[2], CU_GRAPH_COND_TYPE_IF);
    add_one(found, NULL, "add", (void *[]){&ran});
    CU(cuMemcpyHtoD(place, &handles[2], sizeof(handles[2])));
    replay_once(graph, stream);
    EXPECT(word_at(word) == 0 && word_at(ran) == 1);
}

BROKEN(first, second, near)
