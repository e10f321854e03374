// SPDX-License-Identifier: Apache-2.0
/* Device, pinned host and managed memory: allocation, registration, queries.
 *
 * Whatever frees memory waits for the work of its context first, as on a GPU: nothing
 * that runs loses its bytes. */
#include "softcuda/memory/memory.h"

#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/module.h"
#include "softcuda/device/poolobject.h"
#include "softcuda/device/task.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/rules/rules.h"

#define PITCH_UNIT 512

static CUresult allocate(soft_context *context, soft_memory_kind kind, size_t bytes,
                         unsigned flags, CUdeviceptr *out)
{
    SOFT_TRY(soft_need(out, "dptr"));
    *out = 0; /* no address on failure, as the real driver does it */
    if (bytes == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0 bytes are asked for");
    uint64_t address;
    SOFT_TRY(soft_pass(soft_memory_alloc(context->device->memory, kind, bytes, flags,
                                         context, &address, soft_error())));
    *out = address;
    return CUDA_SUCCESS;
}

/* Of the current context, with which it is freed. */
CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return allocate(context, SOFT_MEMORY_DEVICE, bytes, 0, out);
}

/* Device memory that the host may touch, too. */
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x, not CU_MEM_ATTACH_GLOBAL or _HOST", flags);
    return allocate(context, SOFT_MEMORY_MANAGED, bytes, flags, out);
}

/* The pitch of a GPU, so that programs that compute with it find what they know. */
CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned int element)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(pitch, "pPitch"));
    *pitch = 0;
    if (out)
        *out = 0;
    if (element != 4 && element != 8 && element != 16)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "elements of %u bytes, not 4, 8 or 16",
                         element);
    if (width > SIZE_MAX - PITCH_UNIT)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "rows of %zu bytes", width);
    const size_t row = (width + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
    size_t bytes;
    if (__builtin_mul_overflow(row, height, &bytes))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu rows of %zu bytes", height, row);
    SOFT_TRY(allocate(context, SOFT_MEMORY_DEVICE, bytes, 0, out));
    *pitch = row;
    return CUDA_SUCCESS;
}

/* Waits for the work of the context, so nothing that runs still uses the memory. */
static CUresult free_found(soft_context *context, soft_device *device,
                           const soft_allocation *found, uint64_t address)
{
    soft_context *owner = soft_handle_is(found->owner, SOFT_KIND_CONTEXT)
                              ? (soft_context *)found->owner
                              : NULL;
    if (!context)
        context = owner;
    if (!context)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "no context is current on this thread");
    SOFT_TRY(soft_streams_wait(context));
    if (owner && owner != context)
        SOFT_TRY(soft_streams_wait(owner));
    if (found->kind == SOFT_MEMORY_GRAPH)
        return soft_graph_memory_free(context, NULL, address);
    if (found->kind == SOFT_MEMORY_POOL && soft_rule(M_pool_frees))
        return soft_pass(
            soft_pool_free(device->memory, address, (soft_point){0}, soft_error()));
    return soft_pass(soft_memory_free(device->memory, address, soft_error()));
}

/* Only what an allocating call gave out, by its first byte. Memory of pools is taken as
 * well: an H100 frees it. */
CUresult soft_api_free(soft_context *context, CUdeviceptr address)
{
    soft_device *device = soft_device_holding(address);
    soft_allocation found;
    if (!device || !soft_memory_find(device->memory, address, &found)) {
        char text[256] = "no device memory";
        if (device)
            soft_memory_describe(device->memory, address, text, sizeof(text));
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx: %s",
                         (unsigned long long)address, text);
    }
    if (found.base != address)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx lies within the allocation at 0x%llx",
                         (unsigned long long)address, (unsigned long long)found.base);
    if (found.kind == SOFT_MEMORY_VMM || (found.flags & SOFT_FLAGS_MODULE) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is %s",
                         (unsigned long long)address,
                         found.kind == SOFT_MEMORY_VMM ? "mapped with cuMemMap"
                                                       : "a variable of a module");
    return free_found(context, device, &found, address);
}

/* 0 is nothing to free. Memory knows its context: none need be current. */
CUresult cuMemFree_v2(CUdeviceptr address)
{
    SOFT_TRY(soft_enter_any(__func__));
    return address == 0 ? CUDA_SUCCESS : soft_api_free(soft_context_current(), address);
}

/* Of the current context's device; free is what no chunk was given for. */
CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_memory_info info;
    soft_memory_get_info(context->device->memory, &info);
    if (free_bytes)
        *free_bytes = info.free_bytes;
    if (total)
        *total = info.limit_bytes;
    return CUDA_SUCCESS;
}

/* Outputs are 0 for what is unknown, and NOT_FOUND says so. */
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    soft_device *device = soft_device_holding(address);
    soft_allocation found = {0};
    const bool known = (device && soft_memory_find(device->memory, address, &found)) ||
                       soft_host_find(address, &found);
    if (base)
        *base = known ? found.base : 0;
    if (bytes)
        *bytes = known ? found.bytes : 0;
    if (!known)
        return soft_fail(CUDA_ERROR_NOT_FOUND, "0x%llx belongs to no allocation",
                         (unsigned long long)address);
    return CUDA_SUCCESS;
}

/* ---- host memory ------------------------------------------------------------------- */

static CUresult host_allocate(soft_context *context, void **out, size_t bytes,
                              unsigned flags)
{
    SOFT_TRY(soft_need(out, "pp"));
    *out = NULL;
    if ((flags & ~7u) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x are not cuMemHostAlloc flags",
                         flags);
    if (bytes == 0)
        return CUDA_SUCCESS; /* with NULL, unlike device memory */
    uint64_t address;
    SOFT_TRY(soft_pass(soft_host_alloc(bytes, flags, context, &address, soft_error())));
    *out = (void *)(uintptr_t)address;
    return CUDA_SUCCESS;
}

/* All flags are taken: the memory is portable and mapped in any case. */
CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return host_allocate(context, out, bytes, flags);
}

CUresult cuMemAllocHost_v2(void **out, size_t bytes)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    return host_allocate(context, out, bytes, 0);
}

/* Waits for the context: copies may be reading it. Registered memory is not freed by
 * it. */
CUresult cuMemFreeHost(void *address)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_allocation found;
    const uint64_t at = (uint64_t)(uintptr_t)address;
    if (!soft_host_find(at, &found) || found.base != at || found.kind != SOFT_MEMORY_HOST)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is not what cuMemHostAlloc or cuMemAllocHost gave", address);
    SOFT_TRY(soft_streams_wait(context));
    return soft_pass(soft_host_free(at, soft_error()));
}

/* The range is noted as it is; a page may be registered by one call only. */
CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    if (!address || bytes == 0 || (flags & ~15u) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %p, flags 0x%x", bytes,
                         address, flags);
    if ((flags & CU_MEMHOSTREGISTER_IOMEMORY) != 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "I/O memory cannot be registered");
    return soft_pass(soft_host_register((uint64_t)(uintptr_t)address, bytes, flags,
                                        context, soft_error()));
}

/* By the address that was registered, not one within. */
CUresult cuMemHostUnregister(void *address)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(address, "p"));
    SOFT_TRY(soft_streams_wait(context));
    return soft_pass(soft_host_unregister((uint64_t)(uintptr_t)address, soft_error()));
}

static CUresult host_find(const void *address, soft_allocation *out)
{
    if (!address || !soft_host_find((uint64_t)(uintptr_t)address, out))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is not host memory that the driver knows", address);
    return CUDA_SUCCESS;
}

/* One address for both sides (unified addressing). */
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *address, unsigned int flags)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pdptr"));
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    soft_allocation found;
    SOFT_TRY(host_find(address, &found));
    *out = (CUdeviceptr)(uintptr_t)address;
    return CUDA_SUCCESS;
}

/* As given to the call that made it known. */
CUresult cuMemHostGetFlags(unsigned int *out, void *address)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pFlags"));
    soft_allocation found;
    SOFT_TRY(host_find(address, &found));
    *out = found.flags;
    return CUDA_SUCCESS;
}
