// SPDX-License-Identifier: Apache-2.0
/* Pools and their memory in other processes: the pool travels as a file descriptor, each
 * allocation by data of 64 bytes. */
#include <fcntl.h>
#include <string.h>

#include "softcuda/api/cu_share.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/poolobject.h"
#include "softcuda/rules/rules.h"

/* A new file descriptor, the caller's. */
CUresult cuMemPoolExportToShareableHandle(void *out, CUmemoryPool handle,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "handle_out"));
    soft_pool_object *object;
    SOFT_TRY(soft_pool_object_find(handle, &object));
    const int file = soft_pool_file(object->pool);
    if (flags != 0 || type == CU_MEM_HANDLE_TYPE_NONE || file < 0 ||
        ((unsigned)type & ~(unsigned)object->handle_types))
        return soft_fail(
            soft_rule(M_pool_export) ? CUDA_ERROR_INVALID_VALUE
                                     : CUDA_ERROR_NOT_SUPPORTED,
            "pool %p was made for handle types 0x%x, not 0x%x (flags 0x%llx)",
            (void *)handle, (unsigned)object->handle_types, (unsigned)type, flags);
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                         "no file descriptor is left (ulimit -n)");
    memcpy(out, &own, sizeof(own));
    soft_pool_export(object->pool);
    return CUDA_SUCCESS;
}

/* The descriptor comes as a pointer's value, and stays the caller's. Imported again it is
 * the same pool, which goes with as many cuMemPoolDestroy(). */
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *out, void *from,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    SOFT_TRY(soft_enter_with(__func__, out, "pool_out"));
    SOFT_TRY(soft_need(from, "handle")); /* 0 is refused there, too */
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%llx, not 0", flags);
    SOFT_TRY(soft_share_check_type(type));
    const int file = (int)(intptr_t)from;
    soft_device *device;
    SOFT_TRY(soft_share_device(file, SOFT_SHARE_POOL, &device));
    soft_pool_object *object;
    SOFT_TRY(soft_pool_object_import(device, file, &object));
    *out = (CUmemoryPool)object;
    return CUDA_SUCCESS;
}

/* By the first address of an allocation. */
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *out, CUdeviceptr address)
{
    SOFT_TRY(soft_enter_with(__func__, out, "shareData_out"));
    soft_device *device = soft_device_holding(address);
    if (!device)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is not of a pool that can be exported",
                         (unsigned long long)address);
    soft_share_handle handle;
    const CUresult result = soft_pass(
        soft_pool_export_pointer(device->memory, address, &handle, soft_error()));
    if (result != CUDA_SUCCESS)
        return soft_rule(M_pool_export) ? result : CUDA_ERROR_NOT_SUPPORTED;
    memcpy(out, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

/* An address of this process, which is freed here in stream order before the other process
 * frees it. */
CUresult cuMemPoolImportPointer(CUdeviceptr *out, CUmemoryPool handle,
                                CUmemPoolPtrExportData *data)
{
    SOFT_TRY(soft_enter_with(__func__, out, "ptr_out"));
    SOFT_TRY(soft_need(data, "shareData"));
    soft_pool_object *object;
    SOFT_TRY(soft_pool_object_find(handle, &object));
    soft_share_handle from;
    memcpy(&from, data, sizeof(from));
    uint64_t address;
    SOFT_TRY(
        soft_pass(soft_pool_import_pointer(object->pool, &from, &address, soft_error())));
    *out = address;
    return CUDA_SUCCESS;
}
