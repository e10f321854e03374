// SPDX-License-Identifier: Apache-2.0
/* The memory of graphs: cuDevice*GraphMem*, and what stream-ordered allocation comes to
 * in a capture.
 *
 * Numbers are of one device. What a launch mapped stays mapped, and counts, until a
 * trim: as on an H100, where a graph that is launched again maps nothing. */
#include <gph/softcuda.h>
#include <string.h>

#include "base/fail.h"
#include "softcuda/api/describe.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/graph/capture.h"

/* ---- the graph memory of a device -------------------------------------------------- */

/* What runs, is to run or is still allocated stays (R55). */
CUresult cuDeviceGraphMemTrim(CUdevice ordinal)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_device_find(ordinal, &device));
    soft_graph_memory_trim(device);
    return CUDA_SUCCESS;
}

/* Apart from all pools (R58). Reserved memory rises when a graph is first launched or
 * uploaded, not before (R54). */
CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void *out)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_need(out, "value"));
    SOFT_TRY(soft_device_find(ordinal, &device));
    soft_graph_stats stats;
    soft_graph_get_stats(device->memory, &stats);
    uint64_t value;
    /* What a launch took counts as used until a trim. */
    switch ((int)attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
        value = soft_rule(M_reserved_steps) ? stats.used_bytes : stats.physical_bytes;
        break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
        value = soft_rule(M_reserved_steps) ? stats.reserved_bytes : stats.physical_bytes;
        break;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: value = stats.used_high_bytes; break;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: value = stats.reserved_high_bytes; break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%d is not an attribute of graph memory", (int)attribute);
    }
    memcpy(out, &value, sizeof(value));
    return CUDA_SUCCESS;
}

/* High watermarks can be set, to 0 (R56). */
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void *in)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(soft_need(in, "value"));
    SOFT_TRY(soft_device_find(ordinal, &device));
    uint64_t value;
    memcpy(&value, in, sizeof(value));
    const bool used = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    if (soft_rule(R56) &&
        ((!used && attribute != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) || value != 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "attribute %d to %llu: high watermarks can be set, to 0",
                         (int)attribute, (unsigned long long)value);
    soft_graph_reset_high(device->memory, used, !used);
    return CUDA_SUCCESS;
}

gph_status gph_softcuda_memory_get(int ordinal, gph_softcuda_memory *out)
{
    const soft_device *device = soft_device_at(ordinal);
    if (!device || !out)
        return GPH_E_INVALID;
    soft_memory_info info;
    soft_graph_stats stats;
    soft_memory_get_info(device->memory, &info);
    soft_graph_get_stats(device->memory, &stats);
    const gph_softcuda_memory memory = {.map_calls = info.map_calls,
                                        .graph_map_calls = stats.maps,
                                        .graph_bytes = stats.physical_bytes,
                                        .graph_peak_bytes = stats.physical_high_bytes,
                                        .graph_live_bytes = stats.live_bytes};
    gphi_struct_write(out, &memory, sizeof(memory));
    return GPH_OK;
}

/* ---- captures ---------------------------------------------------------------------- */

CUresult soft_api_capture_alloc(soft_stream *stream, const soft_pool_object *pool,
                                size_t bytes, CUdeviceptr *out)
{
    if (!soft_rule(R59))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "allocations are not captured");
    if (pool->is_managed || pool->of_host) /* nodes allocate pinned memory of a device */
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "allocations of managed pools and the host's are not captured");
    soft_pool_policy policy;
    soft_pool_get_policy(pool->pool, &policy);
    if (!soft_rule(M_pool_captured_apart) && policy.max_bytes && bytes > policy.max_bytes)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes are more than the pool has",
                         bytes);
    CUmemAccessDesc access[SOFT_DEVICE_MAX];
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .handleTypes = soft_rule(M_pool_exportable)
                                         ? pool->handle_types
                                         : CU_MEM_HANDLE_TYPE_NONE,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                   .id = pool->device->ordinal}},
        .accessDescs = access,
        .bytesize = bytes};
    /* The pool's access as it is now (R59). */
    for (int i = 0; i < soft_device_count() && soft_rule(M_pool_captured_access); i++)
        if (i != pool->device->ordinal &&
            atomic_load(&pool->access[i]) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            access[params.accessDescCount++] = (CUmemAccessDesc){
                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = i},
                .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    soft_node_params described = {0};
    soft_memory_params scratch;
    SOFT_TRY(soft_describe_alloc(&params, &described, &scratch));
    soft_node *node;
    soft_graph_lock();
    const CUresult result = soft_capture_add(stream, &described, &node);
    if (result == CUDA_SUCCESS)
        *out = soft_memnode_address(node);
    soft_graph_unlock();
    return result;
}

/* The address must be one of the graph's own, which soft_capture_add() finds out. */
CUresult soft_api_capture_free(soft_stream *stream, CUdeviceptr address)
{
    if (!soft_rule(M_free_not_captured) && !soft_device_holding(address))
        return CUDA_SUCCESS;
    soft_node_params described = {0};
    soft_memory_params scratch;
    soft_describe_free(address, &described, &scratch);
    soft_node *node;
    soft_graph_lock();
    const CUresult result = soft_capture_add(stream, &described, &node);
    soft_graph_unlock();
    return result;
}
