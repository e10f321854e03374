// SPDX-License-Identifier: Apache-2.0
/* cuIpc: memory and events of one process in another, by handles of 64 bytes.
 *
 * A handle names the process that made it, which must be alive when it is opened; what is
 * open stays good when it ends. Which code a wrong use gives was recorded on an H100. */
#include "softcuda/api/cu_share.h"

#include <string.h>
#include <unistd.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/eventshare.h"
#include "softcuda/device/task.h"

/* By the number that processes share. A GPU that this process was not shown has no address
 * range here: what is imported from it lies at the current device, which may use it. */
static soft_device *device_of(uint32_t physical)
{
    for (int i = 0; i < soft_device_count(); i++)
        if ((uint32_t)soft_device_at(i)->physical == physical)
            return soft_device_at(i);
    const soft_context *context = soft_context_current();
    return context ? context->device : soft_device_at(0);
}

CUresult soft_share_device(int file, soft_share_kind kind, soft_device **out)
{
    soft_label label;
    if (kind == SOFT_SHARE_PHYSICAL && soft_share_read(file, SOFT_SHARE_POOL, &label))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "file descriptor %d is a memory pool, not memory of cuMemCreate",
                         file);
    if (!soft_share_read(file, kind, &label))
        return soft_fail(CUDA_ERROR_UNKNOWN, "file descriptor %d is no %s", file,
                         kind == SOFT_SHARE_POOL ? "memory pool"
                                                 : "memory of cuMemCreate");
    *out = device_of(label.device);
    return CUDA_SUCCESS;
}

CUresult soft_share_check_type(CUmemAllocationHandleType type)
{
    if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_SUCCESS;
    return soft_fail(type == CU_MEM_HANDLE_TYPE_NONE ? CUDA_ERROR_INVALID_VALUE
                                                     : CUDA_ERROR_NOT_SUPPORTED,
                     "handle type 0x%x, not CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
                     (unsigned)type);
}

/* Of the whole allocation, wherever in it the address is. */
CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pHandle"));
    soft_device *device = soft_device_holding(address);
    if (!device)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not of cuMemAlloc",
                         (unsigned long long)address);
    soft_share_handle handle;
    SOFT_TRY(soft_pass(soft_ipc_export(device->memory, address, &handle, soft_error())));
    memcpy(out, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

/* Opened again it is the same address, which as many closes unmap. The one flag leaves no choice:
 * every device of this process reaches what is mapped. */
static CUresult open_memory(CUdeviceptr *out, const CUipcMemHandle *from, unsigned flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context("cuIpcOpenMemHandle", &context));
    SOFT_TRY(soft_need(out, "pdptr"));
    if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "flags are 0x%x, not CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS", flags);
    soft_share_handle handle;
    memcpy(&handle, from, sizeof(handle));
    if (!soft_share_is_sealed(&handle, SOFT_SHARE_LEDGER))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the handle is not one of cuIpcGetMemHandle");
    if (handle.process == getpid())
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT,
                         "the handle is of this process: it has the memory already");
    uint64_t address;
    SOFT_TRY(soft_pass(
        soft_ipc_open(context->device->memory, &handle, &address, soft_error())));
    *out = address;
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle,
                               unsigned int flags)
{
    return open_memory(out, &handle, flags);
}

SOFT_OLDER(cuIpcOpenMemHandle,
           (CUdeviceptr * out, CUipcMemHandle handle, unsigned int flags),
           open_memory(out, &handle, flags))

/* Waits for the work of the context, as cuMemFree() does. */
CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    soft_device *device = soft_device_holding(address);
    if (!device)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not of cuIpcOpenMemHandle",
                         (unsigned long long)address);
    SOFT_TRY(soft_streams_wait(context));
    return soft_pass(soft_ipc_close(device->memory, address, soft_error()));
}

/* ---- events ------------------------------------------------------------------------ */

/* Of an event that was made for it; another process' cannot be handed on. */
CUresult cuIpcGetEventHandle(CUipcEventHandle *out, CUevent handle)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pHandle"));
    SOFT_TRY(soft_need(handle, "event"));
    soft_event *event;
    SOFT_TRY(soft_event_find(handle, &event));
    soft_share_handle made;
    SOFT_TRY(soft_event_export(event, &made));
    memcpy(out, &made, sizeof(made));
    return CUDA_SUCCESS;
}

/* An event of this process on the counters of that one: each open is an event of its own. */
CUresult cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "phEvent"));
    soft_share_handle from;
    memcpy(&from, &handle, sizeof(from));
    struct soft_event_share *share;
    soft_event *event;
    SOFT_TRY(soft_event_open(context, &from, &share));
    SOFT_TRY(soft_event_create(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING,
                               share, &event));
    *out = (CUevent)event;
    return CUDA_SUCCESS;
}
