// SPDX-License-Identifier: Apache-2.0
/* What an address is: cuPointerGetAttribute(s).
 *
 * An address is looked up among the devices' ranges, then among host memory that the
 * driver knows. No context is needed. */
#include <pthread.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/poolobject.h"
#include "softcuda/memory/share.h"

static bool find(CUdeviceptr address, soft_allocation *out)
{
    soft_device *device = soft_device_holding(address);
    if (device)
        return soft_memory_find(device->memory, address, out);
    return soft_host_find(address, out);
}

static bool is_host(const soft_allocation *found)
{
    return found->kind == SOFT_MEMORY_HOST || found->kind == SOFT_MEMORY_REGISTERED ||
           found->of_host;
}

#define PUT(type, value)                                                                 \
    do {                                                                                 \
        const type put_ = (value);                                                       \
        memcpy(out, &put_, sizeof(put_));                                                \
    } while (0)

/* Memory of pools and graphs, and mappings, are of a device and belong to no context. */
static CUcontext context_of(const soft_allocation *found)
{
    const bool owned = found->kind == SOFT_MEMORY_DEVICE ||
                       found->kind == SOFT_MEMORY_MANAGED ||
                       found->kind == SOFT_MEMORY_EXTERNAL || is_host(found);
    return owned && soft_handle_is(found->owner, SOFT_KIND_CONTEXT)
               ? (CUcontext)found->owner
               : NULL;
}

/* Host memory counts as the device's of the context that allocated it. */
static int ordinal_of(const soft_allocation *found)
{
    if (!is_host(found))
        return (int)found->device;
    return soft_handle_is(found->owner, SOFT_KIND_CONTEXT)
               ? ((const soft_context *)found->owner)->device->ordinal
               : 0;
}

/* Whether memory may be exported, as those say who made it. */
static unsigned long long handle_types(const soft_allocation *found, CUdeviceptr address)
{
    if (found->kind == SOFT_MEMORY_POOL) {
        const soft_pool_object *pool = soft_pool_object_of(found->pool);
        return pool ? (unsigned long long)pool->handle_types : 0;
    }
    if (found->kind != SOFT_MEMORY_VMM)
        return CU_MEM_HANDLE_TYPE_NONE;
    soft_physical *physical =
        soft_range_physical(soft_device_at((int)found->device)->memory, address);
    const bool is_shared = physical && soft_physical_is_shared(physical);
    if (physical)
        soft_physical_release(physical);
    return is_shared ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
}

static CUresult host_pointer(const soft_allocation *found, CUdeviceptr address, void *out)
{
    if (!is_host(found) && !found->is_managed)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is device memory: the host has no address for it",
                         (unsigned long long)address);
    PUT(void *, (void *)(uintptr_t)address);
    return CUDA_SUCCESS;
}

/* ---- CU_POINTER_ATTRIBUTE_SYNC_MEMOPS --------------------------------------------------
 *
 * Every operation that waits here waits in any case, so this is only what was said. */

struct synced {
    uint64_t buffer_id, base;
};

static pthread_mutex_t synced_mutex = PTHREAD_MUTEX_INITIALIZER;
static gphi_vec
    synced; /* struct synced: where it is not what it began as: 1 for managed memory,
                         * else 0 */

/* SIZE_MAX: it was not set. */
static size_t synced_at_locked(uint64_t buffer_id)
{
    for (size_t i = 0; i < synced.count; i++)
        if (((struct synced *)gphi_vec_at(&synced, i))->buffer_id == buffer_id)
            return i;
    return SIZE_MAX;
}

static unsigned is_synced(const soft_allocation *found)
{
    pthread_mutex_lock(&synced_mutex);
    const bool was_set = synced_at_locked(found->buffer_id) != SIZE_MAX;
    pthread_mutex_unlock(&synced_mutex);
    return was_set != found->is_managed;
}

/* Freed allocations go first, so that the list is no longer than what lives. */
static void forget_freed_locked(void)
{
    for (size_t i = synced.count; i-- > 0;) {
        const struct synced *each = gphi_vec_at(&synced, i);
        soft_allocation now;
        if (!find(each->base, &now) || now.buffer_id != each->buffer_id)
            gphi_vec_remove(&synced, i);
    }
}

static CUresult set_synced(const soft_allocation *found, bool on)
{
    const struct synced fresh = {found->buffer_id, found->base};
    gph_status status = GPH_OK;
    pthread_mutex_lock(&synced_mutex);
    if (synced.item_bytes == 0)
        gphi_vec_init(&synced, gphi_heap(NULL), sizeof(fresh));
    const size_t at = synced_at_locked(found->buffer_id);
    const bool differs = on != found->is_managed;
    if (differs && at == SIZE_MAX) {
        forget_freed_locked();
        status = gphi_vec_push(&synced, &fresh);
    } else if (!differs && at != SIZE_MAX) {
        gphi_vec_remove(&synced, at);
    }
    pthread_mutex_unlock(&synced_mutex);
    return status == GPH_OK ? CUDA_SUCCESS
                            : soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a note");
}

/* The type of each value is CUDA's, which differs from attribute to attribute: a wrong
 * width would write over the caller's stack. */
static CUresult get(const soft_allocation *found, CUpointer_attribute attribute,
                    CUdeviceptr address, void *out)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: PUT(CUcontext, context_of(found)); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        PUT(CUmemorytype, is_host(found) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: PUT(CUdeviceptr, address); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return host_pointer(found, address, out);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: PUT(unsigned int, is_synced(found)); break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: PUT(unsigned long long, found->buffer_id); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: PUT(unsigned int, found->is_managed); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: PUT(int, ordinal_of(found)); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        PUT(int, found->kind == SOFT_MEMORY_DEVICE);
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: PUT(int, 0); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: PUT(CUdeviceptr, found->base); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: PUT(size_t, found->bytes); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: PUT(int, 1); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        PUT(unsigned long long, handle_types(found, address));
        break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        PUT(CUmemAccess_flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        PUT(CUmemoryPool, (CUmemoryPool)soft_pool_object_of(found->pool));
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        PUT(unsigned long long, found->buffer_id);
        break;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "there are no peer-to-peer tokens");
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a pointer attribute",
                         (int)attribute);
    }
    return CUDA_SUCCESS;
}

/* Unlike the call for several, it refuses addresses that the driver does not know. */
CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    SOFT_TRY(soft_enter_with(__func__, out, "data"));
    soft_allocation found;
    if (!find(address, &found))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is not memory that the driver knows",
                         (unsigned long long)address);
    return get(&found, attribute, address, out);
}

/* What cuPointerGetAttributes() gives for an address that it does not know. */
static CUresult put_unknown(CUpointer_attribute attribute, CUdeviceptr address, void *out)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: PUT(int, CU_DEVICE_INVALID); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        PUT(void *, (void *)(uintptr_t)address);
        break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_MAPPED: PUT(int, 0); break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: PUT(uint64_t, 0); break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a pointer attribute",
                         (int)attribute);
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes,
                                void **out, CUdeviceptr address)
{
    SOFT_TRY(soft_enter(__func__));
    if (count == 0 || !attributes || !out)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u attributes at %p, values at %p",
                         count, (void *)attributes, (void *)out);
    soft_allocation found;
    const bool known = find(address, &found);
    for (unsigned i = 0; i < count; i++) {
        if (!out[i])
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "data[%u] is NULL", i);
        const bool no_host = known && !is_host(&found) && !found.is_managed &&
                             attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER;
        if (no_host)
            memset(out[i], 0, sizeof(void *));
        else
            SOFT_TRY(known ? get(&found, attributes[i], address, out[i])
                           : put_unknown(attributes[i], address, out[i]));
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr address)
{
    SOFT_TRY(soft_enter_with(__func__, value, "value"));
    soft_allocation found;
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !find(address, &found))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d of 0x%llx cannot be set",
                         (int)attribute, (unsigned long long)address);
    unsigned int on;
    memcpy(&on, value, sizeof(on));
    return set_synced(&found, on != 0);
}
