// SPDX-License-Identifier: Apache-2.0
/* Graphs that get the kernels of PULL slots after they were captured. */
#include "base/fail.h"
#include "base/heap.h"
#include "slot/slots.h"

/* The nodes that come first. NULL: there is not enough memory. */
static gph_status list_roots(const gph_slots *slots, CUgraph graph, CUgraphNode **out,
                             size_t *count, gph_error *error)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    const gph_allocator heap = slots->runtime->heap;
    size_t total = 0;
    GPHI_TRY(gphi_slots_check(cu->cuGraphGetRootNodes(graph, NULL, &total),
                              "cuGraphGetRootNodes", error));
    *count = total;
    *out = NULL;
    if (total == 0)
        return GPH_OK;
    CUgraphNode *roots = gphi_heap_array(heap, total, sizeof(CUgraphNode));
    GPHI_TRY(gphi_made(error, roots, "the %zu roots of a graph", total));
    const CUresult result = cu->cuGraphGetRootNodes(graph, roots, count);
    if (result != CUDA_SUCCESS) {
        gphi_heap_free(heap, roots, total * sizeof(CUgraphNode));
        return gphi_slots_check(result, "cuGraphGetRootNodes", error);
    }
    *out = roots;
    return GPH_OK;
}

/* Kernels in a row, ahead of all that was first. */
static CUresult add_nodes(gph_slots *slots, CUgraph graph, const CUgraphNode *roots,
                          size_t count, const char **call)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    struct gphi_feed_room room;
    const uint32_t kernels = gphi_ring_kernels(slots, &room);
    CUresult result = CUDA_SUCCESS;
    *call = "cuGraphAddKernelNode";
    for (uint32_t i = 0; i < kernels && result == CUDA_SUCCESS; i++) {
        const CUgraphNode *before = i > 0 ? &slots->nodes[i - 1] : NULL;
        result =
            cu->cuGraphAddKernelNode(&slots->nodes[i], graph, before, i, &room.params[i]);
        slots->node_count += result == CUDA_SUCCESS;
    }
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        *call = "cuGraphAddDependencies";
        result = cu->cuGraphAddDependencies(graph, &slots->nodes[kernels - 1], &roots[i],
                                            NULL, 1);
    }
    return result;
}

gph_status gph_slots_enter(gph_slots *slots, CUgraph graph, gph_error *error)
{
    GPHI_TRY(gphi_need(error, slots, graph));
    if (slots->node_count > 0)
        return gphi_fail(error, GPH_E_STATE,
                         "the feed is in a graph already: gph_slots_leave() first");
    if (slots->word_count == 0)
        return GPH_OK;
    CUgraphNode *roots = NULL;
    size_t count = 0;
    const char *call = NULL;
    GPHI_TRY(list_roots(slots, graph, &roots, &count, error));
    const CUresult result = add_nodes(slots, graph, roots, count, &call);
    gphi_heap_free(slots->runtime->heap, roots, count * sizeof(CUgraphNode));
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    gphi_ignore(gph_slots_leave(slots, NULL), "the first failure counts");
    return gphi_slots_check(result, call, error);
}

/* A node that the driver keeps counts as being there. */
gph_status gph_slots_leave(gph_slots *slots, gph_error *error)
{
    GPHI_TRY(gphi_need(error, slots));
    for (; slots->node_count > 0; slots->node_count--)
        GPHI_TRY(gphi_slots_check(
            slots->runtime->cu.cuGraphDestroyNode(slots->nodes[slots->node_count - 1]),
            "cuGraphDestroyNode", error));
    return GPH_OK;
}
