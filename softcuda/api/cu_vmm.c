// SPDX-License-Identifier: Apache-2.0
/* Virtual memory management: address ranges, physical memory, mappings.
 *
 * A CUmemGenericAllocationHandle is the address of a `physical` below: what the program
 * holds of a soft_physical. It goes with the last release; mappings keep the memory.
 *
 * All sizes are multiples of one granularity, 2 MiB, and a mapping takes the whole of a
 * physical allocation: a GPU allows parts, which softcuda refuses by NOT_SUPPORTED. */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "softcuda/api/cu_share.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/peer.h"
#include "softcuda/device/task.h"
#include "softcuda/rules/rules.h"

struct physical {
    soft_physical *memory;
    int device;
    CUmemAllocationProp prop;
    uint32_t holds; /* cuMemCreate() and cuMemRetainAllocationHandle() less releases */
    struct physical *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct physical *all;

static CUresult no_range(CUdeviceptr address)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "0x%llx is in no range of cuMemAddressReserve",
                     (unsigned long long)address);
}

static CUresult device_for(CUdeviceptr address, soft_device **out)
{
    *out = soft_device_holding(address);
    return *out ? CUDA_SUCCESS : no_range(address);
}

static CUresult check_flags(unsigned long long flags)
{
    if (flags != 0 && soft_rule(M_map_flags))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%llx, not 0", flags);
    return CUDA_SUCCESS;
}

/* ---- ranges ------------------------------------------------------------------------ */

/* Addresses alone; a wish for a certain one is met if it is free. Without a context
 * those of device 0. */
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "ptr"));
    SOFT_TRY(check_flags(flags));
    if (bytes == 0 || bytes % SOFT_CHUNK_BYTES != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%zu bytes are not a multiple of the granularity %llu", bytes,
                         SOFT_CHUNK_BYTES);
    if ((alignment & (alignment - 1)) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "alignment %zu is not a power of two",
                         alignment);
    const soft_context *context = soft_context_current();
    soft_device *device = context ? context->device : soft_device_at(0);
    uint64_t address;
    SOFT_TRY(soft_pass(soft_range_reserve(device->memory, bytes, alignment, wanted,
                                          &address, soft_error())));
    *out = address;
    return CUDA_SUCCESS;
}

/* Exactly what was reserved, and nothing may be mapped in it (R113). */
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(device_for(address, &device));
    return soft_pass(soft_range_free(device->memory, address, bytes, soft_error()));
}

/* ---- physical memory --------------------------------------------------------------- */

/* As an H100 on Linux without a fabric; bits that it does not know it lets pass. */
static CUresult check_handle_types(unsigned types)
{
    if (types & (CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "handle types 0x%x are of Windows",
                         types);
    if (types & CU_MEM_HANDLE_TYPE_FABRIC)
        return soft_fail(CUDA_ERROR_NOT_PERMITTED, "handle types 0x%x: no fabric is here",
                         types);
    return CUDA_SUCCESS;
}

static CUresult check_prop(const CUmemAllocationProp *prop)
{
    SOFT_TRY(soft_need(prop, "prop"));
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "allocation type %d, only CU_MEM_ALLOCATION_TYPE_PINNED exists",
                         (int)prop->type);
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "physical memory at location type %d is not built",
                         (int)prop->location.type);
    if (!soft_device_at(prop->location.id))
        return soft_fail(CUDA_ERROR_INVALID_DEVICE, "there is no device %d",
                         prop->location.id);
    return check_handle_types((unsigned)prop->requestedHandleTypes);
}

static struct physical *handle_of(CUmemGenericAllocationHandle handle)
{
    const void *object = (const void *)(uintptr_t)handle;
    return soft_handle_is(object, SOFT_KIND_PHYSICAL)
               ? (struct physical *)(uintptr_t)handle
               : NULL;
}

static CUresult no_handle(CUmemGenericAllocationHandle handle)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not a handle of cuMemCreate",
                     (unsigned long long)handle);
}

/* Takes over the caller's reference to `memory`. */
static CUresult make_handle(soft_physical *memory, int device,
                            const CUmemAllocationProp *prop,
                            CUmemGenericAllocationHandle *out)
{
    struct physical *fresh = soft_new(sizeof(*fresh));
    if (!fresh) {
        soft_physical_release(memory);
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a handle");
    }
    *fresh =
        (struct physical){.memory = memory, .device = device, .prop = *prop, .holds = 1};
    const CUresult added = soft_handle_add(fresh, SOFT_KIND_PHYSICAL);
    if (added != CUDA_SUCCESS) {
        soft_physical_release(memory);
        soft_delete(fresh);
        return added;
    }
    pthread_mutex_lock(&lock);
    fresh->next = all;
    all = fresh;
    pthread_mutex_unlock(&lock);
    *out = (CUmemGenericAllocationHandle)(uintptr_t)fresh;
    return CUDA_SUCCESS;
}

/* Memory without an address, which goes with the last handle and the last mapping. */
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "handle"));
    SOFT_TRY(check_flags(flags));
    SOFT_TRY(check_prop(prop));
    if (bytes == 0 || bytes % SOFT_CHUNK_BYTES != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%zu bytes are not a multiple of the granularity %llu", bytes,
                         SOFT_CHUNK_BYTES);
    soft_physical *memory;
    const bool is_shared =
        prop->requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    SOFT_TRY(soft_pass((is_shared ? soft_physical_create_shared : soft_physical_create)(
        soft_device_at(prop->location.id)->memory, bytes, &memory, soft_error())));
    return make_handle(memory, prop->location.id, prop, out);
}

/* Mappings keep the memory: programs release the handle as soon as they have mapped
 * it. */
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    SOFT_TRY(soft_enter(__func__));
    pthread_mutex_lock(&lock);
    struct physical *physical = handle_of(handle);
    bool last = false;
    if (physical && --physical->holds == 0) {
        last = true;
        soft_handle_remove(physical, SOFT_KIND_PHYSICAL);
        struct physical **link = &all;
        while (*link != physical)
            link = &(*link)->next;
        *link = physical->next;
    }
    pthread_mutex_unlock(&lock);
    if (!physical)
        return no_handle(handle);
    if (last) {
        soft_physical_release(physical->memory);
        soft_delete(physical);
    }
    return CUDA_SUCCESS;
}

/* The handle that exists, with one more reference, or a new one where all were
 * released. */
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address)
{
    SOFT_TRY(soft_enter_with(__func__, out, "handle"));
    soft_device *device;
    const uint64_t at = (uint64_t)(uintptr_t)address;
    SOFT_TRY(device_for(at, &device));
    soft_physical *memory = soft_range_physical(device->memory, at);
    if (!memory)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at %p", address);
    pthread_mutex_lock(&lock);
    struct physical *held = all;
    while (held && held->memory != memory)
        held = held->next;
    if (held)
        held->holds++;
    pthread_mutex_unlock(&lock);
    if (held) {
        soft_physical_release(memory);
        *out = (CUmemGenericAllocationHandle)(uintptr_t)held;
        return CUDA_SUCCESS;
    }
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->ordinal}};
    return make_handle(memory, device->ordinal, &prop, out);
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    SOFT_TRY(soft_enter_with(__func__, out, "granularity"));
    SOFT_TRY(check_prop(prop));
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a granularity option",
                         (int)option);
    *out = SOFT_CHUNK_BYTES;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle handle)
{
    SOFT_TRY(soft_enter_with(__func__, out, "prop"));
    pthread_mutex_lock(&lock);
    const struct physical *physical = handle_of(handle);
    if (physical)
        *out = physical->prop;
    pthread_mutex_unlock(&lock);
    return physical ? CUDA_SUCCESS : no_handle(handle);
}

/* ---- other processes --------------------------------------------------------------- */

/* A new file descriptor, the caller's; the memory lives as long as it is open. */
CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type,
                                      unsigned long long flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "shareableHandle"));
    SOFT_TRY(check_flags(flags));
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "handle type 0x%x, not CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
                         (unsigned)type);
    pthread_mutex_lock(&lock);
    const struct physical *physical = handle_of(handle);
    const int file = physical && (physical->prop.requestedHandleTypes & type)
                         ? soft_physical_file(physical->memory)
                         : -1;
    const int own = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&lock);
    if (!physical)
        return no_handle(handle);
    if (file < 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the memory was created without requestedHandleTypes, or it is "
                         "another process'");
    if (own < 0)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                         "no file descriptor is left (ulimit -n)");
    memcpy(out, &own, sizeof(own));
    return CUDA_SUCCESS;
}

/* The descriptor comes as a pointer's value, and stays the caller's. Memory of a device
 * that this process does not see is the current one's. An import is not exported again. */
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *from,
                                        CUmemAllocationHandleType type)
{
    SOFT_TRY(soft_enter_with(__func__, out, "handle"));
    SOFT_TRY(soft_need(from, "osHandle")); /* 0 is refused there, too */
    SOFT_TRY(soft_share_check_type(type));
    const int file = (int)(intptr_t)from;
    soft_device *device;
    SOFT_TRY(soft_share_device(file, SOFT_SHARE_PHYSICAL, &device));
    soft_physical *memory;
    SOFT_TRY(
        soft_pass(soft_physical_import(device->memory, file, &memory, soft_error())));
    const CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->ordinal}};
    return make_handle(memory, device->ordinal, &prop, out);
}

/* ---- mappings ---------------------------------------------------------------------- */

/* The memory of a handle, kept until soft_physical_release(). */
static soft_physical *memory_of(CUmemGenericAllocationHandle handle)
{
    pthread_mutex_lock(&lock);
    const struct physical *physical = handle_of(handle);
    soft_physical *memory = physical ? physical->memory : NULL;
    if (memory)
        soft_physical_retain(memory);
    pthread_mutex_unlock(&lock);
    return memory;
}

/* Flags and offset must be 0 (R113). */
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(check_flags(flags));
    soft_device *device;
    SOFT_TRY(device_for(address, &device));
    if (bytes == 0 || address % SOFT_CHUNK_BYTES != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at 0x%llx", bytes,
                         (unsigned long long)address);
    if (offset != 0 || bytes % SOFT_CHUNK_BYTES != 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%zu bytes at offset %zu: only the whole memory can be mapped",
                         bytes, offset);
    soft_physical *memory = memory_of(handle);
    if (!memory)
        return no_handle(handle);
    const CUresult status =
        soft_pass(soft_range_map(device->memory, address, bytes, memory, soft_error()));
    soft_physical_release(memory);
    return status;
}

/* Work that still uses the mapping is waited for, as cuMemFree() does. */
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    SOFT_TRY(soft_enter(__func__));
    soft_device *device;
    SOFT_TRY(device_for(address, &device));
    soft_context *context = soft_context_current();
    if (context && atomic_load(&context->alive))
        SOFT_TRY(soft_streams_wait(context));
    const CUresult result =
        soft_pass(soft_range_unmap(device->memory, address, bytes, soft_error()));
    return soft_rule(R113) ? result : CUDA_SUCCESS;
}

/* Before it nobody may touch a mapping, not the device that has the memory, either
 * (R113). */
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *desc,
                        size_t count)
{
    SOFT_TRY(soft_enter(__func__));
    if (!desc || count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu access descriptions at %p", count,
                         (const void *)desc);
    soft_device *device;
    SOFT_TRY(device_for(address, &device));
    for (size_t i = 0; i < count; i++) {
        if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
            !soft_device_at(desc[i].location.id))
            return soft_fail(CUDA_ERROR_INVALID_DEVICE, "there is no device %d",
                             desc[i].location.id);
        if (desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
            desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
            desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%x are not access flags",
                             (unsigned)desc[i].flags);
    }
    for (size_t i = 0; i < count; i++) {
        const int who = desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE
                            ? desc[i].location.id
                            : device->ordinal;
        SOFT_TRY(soft_pass(
            soft_range_set_access_of(device->memory, address, bytes, (uint32_t)who,
                                     (uint32_t)desc[i].flags, soft_error())));
    }
    soft_peer_changed();
    return CUDA_SUCCESS;
}

/* Of one device; what was never set means no access. */
CUresult cuMemGetAccess(unsigned long long *out, const CUmemLocation *location,
                        CUdeviceptr address)
{
    SOFT_TRY(soft_enter_with(__func__, out, "flags"));
    SOFT_TRY(soft_need(location, "location"));
    soft_device *device;
    SOFT_TRY(device_for(address, &device));
    uint32_t access;
    const int who =
        location->type == CU_MEM_LOCATION_TYPE_DEVICE ? location->id : device->ordinal;
    if (!soft_device_at(who))
        return soft_fail(CUDA_ERROR_INVALID_DEVICE, "there is no device %d", who);
    if (!soft_range_get_access_of(device->memory, address, (uint32_t)who, &access))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at 0x%llx",
                         (unsigned long long)address);
    *out = access;
    return CUDA_SUCCESS;
}
