// SPDX-License-Identifier: Apache-2.0
/* Which kernels graphs launch: a key whose kernels have all been run by other keys need not
 * be run for their sake. */
#include "base/fail.h"
#include "cache/cache.h"
#include "cuda/status.h"

static gph_status see_kernel(const gph_cache *cache, CUgraphNode node, gphi_map *seen,
                             bool *is_new, gph_error *error)
{
    CUDA_KERNEL_NODE_PARAMS params = {0};
    GPHI_TRY(gphi_cuda_check(error,
                             cache->runtime->cu.cuGraphKernelNodeGetParams(node, &params),
                             "cuGraphKernelNodeGetParams", "%s", cache->name));
    const uint64_t kernel =
        params.func ? (uint64_t)(uintptr_t)params.func : (uint64_t)(uintptr_t)params.kern;
    if (gphi_map_get(seen, kernel))
        return GPH_OK;
    *is_new = true;
    return gphi_made(error, gphi_map_set(seen, kernel, 1) == GPH_OK, "kernels of %s",
                     cache->name);
}

static gph_status see_node(const gph_cache *cache, CUgraphNode node, gphi_map *seen,
                           bool *is_new, gph_error *error)
{
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    GPHI_TRY(gphi_cuda_check(error, cache->runtime->cu.cuGraphNodeGetType(node, &type),
                             "cuGraphNodeGetType", "%s", cache->name));
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        return see_kernel(cache, node, seen, is_new, error);
    *is_new |= type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    return GPH_OK;
}

gph_status gphi_cache_see(const gph_cache *cache, CUgraph graph, gphi_map *seen,
                          bool *is_new, gph_error *error)
{
    gphi_vec nodes;
    gphi_vec_init(&nodes, cache->runtime->heap, sizeof(CUgraphNode));
    gph_status status = gphi_nodes_read(cache->runtime, graph, &nodes, error);
    *is_new = false;
    for (size_t i = 0; i < nodes.count && status == GPH_OK; i++)
        status =
            see_node(cache, *(CUgraphNode *)gphi_vec_at(&nodes, i), seen, is_new, error);
    gphi_vec_fini(&nodes);
    return status;
}
