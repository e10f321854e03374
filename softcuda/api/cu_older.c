// SPDX-License-Identifier: Apache-2.0
/* Older signatures of calls, where they say the same as the newer ones. Those with 32-bit
 * device pointers are not built: no address here fits. */
#include "softcuda/api/exports.h"
#include "softcuda/device/context.h"

CUresult cuCtxCreate(CUcontext *out, unsigned int flags, CUdevice device)
{
    return cuCtxCreate_v2(out, flags, device);
}

CUresult cuCtxDestroy(CUcontext context)
{
    return cuCtxDestroy_v2(context);
}
CUresult cuCtxPushCurrent(CUcontext context)
{
    return cuCtxPushCurrent_v2(context);
}
CUresult cuCtxPopCurrent(CUcontext *out)
{
    return cuCtxPopCurrent_v2(out);
}

CUresult cuMemAllocHost(void **out, unsigned int bytes)
{
    return cuMemAllocHost_v2(out, bytes);
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned int flags)
{
    return cuMemHostRegister_v2(address, bytes, flags);
}

/* A device, or CU_DEVICE_CPU, as a location. */
static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU
               ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
               : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                     CUdevice device)
{
    return cuMemAdvise_v2(address, bytes, advice, location_of(device));
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                            CUstream stream)
{
    return cuMemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice device,
                                 CUstream stream)
{
    return cuMemPrefetchAsync_v2_ptsz(address, bytes, location_of(device), 0, stream);
}
