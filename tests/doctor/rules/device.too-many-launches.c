// SPDX-License-Identifier: Apache-2.0
// device.too-many-launches
//
// One run of a graph fires and forgets 120 graphs at most, and launches 255 into its tail: for more
// its kernels get 1, and nothing runs. Each run counts from zero. Put more work into each graph, or let
// the launched graphs launch further ones.
// env: SOFTCUDA_CHECK=race
#include "device.h"

enum { MANY = 256 };

static CUgraphExec execs[MANY];

static void make_all(unsigned count, CUdeviceptr word, CUstream stream)
{
    for (unsigned i = 0; i < count; i++) {
        CUgraph graph = add_graph(word);
        CU(cuGraphInstantiateWithFlags(&execs[i], graph,
                                       CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
        CU(cuGraphDestroy(graph));
        CU(cuGraphUpload(execs[i], stream));
    }
    CU(cuStreamSynchronize(stream));
}

static void drop_all(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

static CUdeviceptr list_of(unsigned count)
{
    CUdeviceptr list = 0;
    CU(cuMemAlloc(&list, count * sizeof(*execs)));
    CU(cuMemcpyHtoD(list, execs, count * sizeof(*execs)));
    return list;
}

/* A kernel for each of 121. */
static void first(void)
{
    enum { COUNT = 121 };
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0), answer = new_words(9);
    CUgraphExec host = NULL;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    make_all(COUNT, word, stream);
    for (unsigned i = 0; i < COUNT; i++)
        node = add_one(graph, node, "fire",
                       (void *[]){&execs[i], &(unsigned long long){FORGET}, &answer});
    CU(cuGraphInstantiateWithFlags(&host, graph, 0)); // <-- first
    launch_and_wait(host, stream);
    EXPECT(word_at(word) == COUNT - 1 && word_at(answer) == 1);
    CU(cuGraphExecDestroy(host));
    CU(cuGraphDestroy(graph));
    drop_all(COUNT);
}

/* One kernel with a list of 256 for the tail, of which check mode says that one is too many. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    make_all(MANY, word, stream);
    CUdeviceptr list = list_of(MANY);
    unsigned long long count = MANY, where = TAIL;
    CUgraphExec host = NULL;
    CUgraph graph = new_graph();
    add_one(graph, NULL, "fire_all", (void *[]){&list, &count, &where});
    CU(cuGraphInstantiateWithFlags(&host, graph, 0)); // <-- second
    launch_and_wait(host, stream);
    EXPECT(word_at(word) == MANY - 1);
    CU(cuGraphExecDestroy(host));
    CU(cuGraphDestroy(graph));
    CU(cuMemFree(list));
    drop_all(MANY);
}

/* As many as there may be, twice: each run counts from zero. */
static void near(void)
{
    enum { COUNT = 120 };
    CUstream stream = new_stream();
    CUdeviceptr word = new_words(0);
    make_all(COUNT, word, stream);
    CUdeviceptr list = list_of(COUNT);
    unsigned long long count = COUNT, where = FORGET;
    CUgraphExec host = NULL;
    CUgraph graph = new_graph();
    add_one(graph, NULL, "fire_all", (void *[]){&list, &count, &where});
    CU(cuGraphInstantiateWithFlags(&host, graph, 0));
    for (int i = 0; i < 2; i++)
        launch_and_wait(host, stream);
    EXPECT(word_at(word) == 2 * COUNT);
    CU(cuGraphExecDestroy(host));
    CU(cuGraphDestroy(graph));
    CU(cuMemFree(list));
    drop_all(COUNT);
}

BROKEN(first, second, near)
