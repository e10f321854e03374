// SPDX-License-Identifier: Apache-2.0
/* What the tests of memory nodes share. */
#ifndef CONFORMANCE_MEMORY_HELP_H
#define CONFORMANCE_MEMORY_HELP_H
#include "rule.h"

#define MIB (1ull << 20)
#define STEP (32 * MIB) /* in which graph memory is reserved */

static inline CUDA_MEM_ALLOC_NODE_PARAMS want(size_t bytes)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = bytes};
}

static inline CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    OK(cu.cuGraphCreate(&graph, 0));
    return graph;
}

/* `before` may be NULL in all of these. */
static inline CUgraphNode add_alloc(CUgraph graph, CUgraphNode before, size_t bytes,
                                    CUdeviceptr *out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = want(bytes);
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddMemAllocNode(&node, graph, before ? &before : NULL, before != NULL,
                                 &params));
    *out = params.dptr;
    return node;
}

static inline CUresult try_free(CUgraph graph, CUgraphNode before, CUdeviceptr address)
{
    CUgraphNode node = NULL;
    return cu.cuGraphAddMemFreeNode(&node, graph, before ? &before : NULL, before != NULL,
                                    address);
}

static inline CUgraphNode add_free(CUgraph graph, CUgraphNode before, CUdeviceptr address)
{
    CUgraphNode node = NULL;
    OK(cu.cuGraphAddMemFreeNode(&node, graph, before ? &before : NULL, before != NULL,
                                address));
    return node;
}

static inline CUgraphNode add_fill(CUgraph graph, CUgraphNode before, CUdeviceptr address,
                                   unsigned value, size_t words)
{
    CUcontext context = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = {
        .dst = address, .value = value, .elementSize = 4, .width = words, .height = 1};
    CUgraphNode node = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuGraphAddMemsetNode(&node, graph, before ? &before : NULL, before != NULL,
                               &params, context));
    return node;
}

static inline CUgraphNode add_copy(CUgraph graph, CUgraphNode before, CUdeviceptr to,
                                   CUdeviceptr from, size_t bytes)
{
    CUcontext context = NULL;
    const CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = from,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = to,
                                  .WidthInBytes = bytes,
                                  .Height = 1,
                                  .Depth = 1};
    CUgraphNode node = NULL;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuGraphAddMemcpyNode(&node, graph, before ? &before : NULL, before != NULL,
                               &params, context));
    return node;
}

/* alloc, fill of up to 1024 words with `value`, and free if asked for. */
static inline CUgraph simple_graph(size_t bytes, unsigned value, bool frees,
                                   CUdeviceptr *out)
{
    CUgraph graph = new_graph();
    const size_t words = bytes / 4 < 1024 ? bytes / 4 : 1024;
    CUgraphNode node = add_alloc(graph, NULL, bytes, out);
    node = add_fill(graph, node, *out, value, words);
    if (frees)
        add_free(graph, node, *out);
    return graph;
}

static inline CUgraphExec instantiate(CUgraph graph, unsigned long long flags)
{
    CUgraphExec exec = NULL;
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, flags));
    return exec;
}

static inline CUstream new_stream(void)
{
    CUstream stream = NULL;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static inline uint64_t graph_memory(CUgraphMem_attribute attribute)
{
    uint64_t value = UINT64_MAX;
    OK(cu.cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

static inline uint64_t reserved_now(void)
{
    return graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
}

/* Nothing runs, and nothing is kept for later; gives what is reserved then. */
static inline uint64_t settled(void)
{
    OK(cu.cuCtxSynchronize());
    OK(cu.cuDeviceGraphMemTrim(0));
    return reserved_now();
}

static inline unsigned word_at(CUdeviceptr address)
{
    unsigned word = 0;
    OK(cu.cuMemcpyDtoH(&word, address, sizeof(word)));
    return word;
}

/* Waits, done and gone. */
static inline void drop(CUgraphExec exec, CUgraph graph)
{
    OK(cu.cuCtxSynchronize());
    if (exec)
        OK(cu.cuGraphExecDestroy(exec));
    if (graph)
        OK(cu.cuGraphDestroy(graph));
}
#endif
