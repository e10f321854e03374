// SPDX-License-Identifier: Apache-2.0
/* Graphs and nodes in a line each, for the tests of rules about structure. */
#ifndef CONFORMANCE_GRAPHS_H
#define CONFORMANCE_GRAPHS_H
#include <string.h>

#include "../kernels.h"
#include "rule.h"

#define UNTOUCHED ((CUgraphNode)(uintptr_t)0x123)

struct kernels {
    CUmodule module;
    CUfunction nothing, store;
};

static inline struct kernels load_kernels(void)
{
    struct kernels k = {0};
    OK(cu.cuModuleLoadData(&k.module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&k.nothing, k.module, "nothing"));
    OK(cu.cuModuleGetFunction(&k.store, k.module, "store"));
    return k;
}

static inline CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    return graph;
}

static inline CUgraphNode empty_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddEmptyNode(&node, graph, NULL, 0));
    return node;
}

static inline CUgraphNode kernel_node(CUgraph graph, CUfunction function)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(function, NULL);
    OK(cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return node;
}

static inline size_t edge_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    return count;
}

static inline size_t node_count(CUgraph graph)
{
    size_t count = 0;
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

static inline CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* Instantiates, launches in the default stream, waits. */
static inline void run_graph(CUgraph graph)
{
    CUgraphExec exec = instantiate(graph);
    OK(cu.cuGraphLaunch(exec, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuGraphExecDestroy(exec));
}

static inline CUdeviceptr new_words(void)
{
    CUdeviceptr words = 0;
    OK(cu.cuMemAlloc(&words, 4096));
    OK(cu.cuMemsetD32(words, 0, 1024));
    OK(cu.cuCtxSynchronize()); /* streams that do not wait for the default one */
    return words;
}

static inline unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0xdead;
    OK(cu.cuMemcpyDtoH(&word, address, sizeof(word)));
    return word;
}

static inline CUgraphNode alloc_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 4096};
    OK(cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    return node;
}

/* Memory nodes are another section's; a driver without them cannot be asked. */
static inline bool has_memory_nodes(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 4096};
    const bool has =
        cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params) == CUDA_SUCCESS;
    OK(cu.cuGraphDestroy(graph));
    return has;
}
#endif
