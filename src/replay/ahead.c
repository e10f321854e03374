// SPDX-License-Identifier: Apache-2.0
/* Kernels ahead of the roots of a graph.
 *
 *   kernel 0 -> kernel 1 -+-> root -> ...
 *                         `-> root -> ...      the roots are read before anything is added */
#include "replay/ahead.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"

static gph_status check(CUresult result, const char *call, gph_error *error)
{
    return gphi_cuda_check(error, result, call, "kernels ahead of a graph");
}

/* The roots, in the second half of `pairs`. */
static gph_status read_roots(gph_runtime *runtime, CUgraph graph, CUgraphNode **pairs,
                             size_t *count, gph_error *error)
{
    const gphi_cuda_table *cu = &runtime->cu;
    size_t total = 0;
    *pairs = NULL;
    *count = 0;
    GPHI_TRY(check(cu->cuGraphGetRootNodes(graph, NULL, &total), "cuGraphGetRootNodes",
                   error));
    if (total == 0)
        return GPH_OK;
    CUgraphNode *both = gphi_heap_array(runtime->heap, total, 2 * sizeof(CUgraphNode));
    GPHI_TRY(gphi_made(error, both, "the %zu roots of a graph", total));
    *pairs = both;
    *count = total;
    return check(cu->cuGraphGetRootNodes(graph, both + total, &total),
                 "cuGraphGetRootNodes", error);
}

gph_status gphi_put_ahead(gph_runtime *runtime, CUgraph graph,
                          const CUDA_KERNEL_NODE_PARAMS *kernels, uint32_t count,
                          CUgraphNode *nodes, uint32_t *made, gph_error *error)
{
    const gphi_cuda_table *cu = &runtime->cu;
    CUgraphNode *pairs = NULL;
    size_t roots = 0;
    *made = 0;
    gph_status status = read_roots(runtime, graph, &pairs, &roots, error);
    for (uint32_t i = 0; i < count && status == GPH_OK; i++) {
        status =
            check(cu->cuGraphAddKernelNode(&nodes[i], graph, i > 0 ? &nodes[i - 1] : NULL,
                                           i > 0, &kernels[i]),
                  "cuGraphAddKernelNode", error);
        *made += status == GPH_OK;
    }
    for (size_t i = 0; i < roots && status == GPH_OK; i++)
        pairs[i] = nodes[count - 1];
    if (roots > 0)
        GPHI_THEN(status, check(cu->cuGraphAddDependencies(graph, pairs, pairs + roots,
                                                           NULL, roots),
                                "cuGraphAddDependencies", error));
    gphi_heap_free(runtime->heap, pairs, roots * 2 * sizeof(CUgraphNode));
    return status;
}
