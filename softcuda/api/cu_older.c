// SPDX-License-Identifier: Apache-2.0
/* Older signatures of calls, where they say the same as the newer ones. Those with 32-bit
 * device pointers are not built: no address here fits.
 *
 * Programs built with old headers import these symbols directly; cuGetProcAddress()
 * gives them to those that ask for an old version. Each passes its arguments on, so that
 * there is one check for both. */
#include "softcuda/api/exports.h"

SOFT_OLDER(cuCtxCreate, (CUcontext * out, unsigned int flags, CUdevice device),
           cuCtxCreate_v2(out, flags, device))

SOFT_OLDER(cuCtxDestroy, (CUcontext context), cuCtxDestroy_v2(context))
SOFT_OLDER(cuCtxPushCurrent, (CUcontext context), cuCtxPushCurrent_v2(context))
SOFT_OLDER(cuCtxPopCurrent, (CUcontext * out), cuCtxPopCurrent_v2(out))

SOFT_OLDER(cuMemAllocHost, (void **out, unsigned int bytes),
           cuMemAllocHost_v2(out, bytes))

SOFT_OLDER(cuMemHostRegister, (void *address, size_t bytes, unsigned int flags),
           cuMemHostRegister_v2(address, bytes, flags))

/* A device, or CU_DEVICE_CPU, as a location. */
static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU
               ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
               : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

SOFT_OLDER(cuMemAdvise,
           (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device),
           cuMemAdvise_v2(address, bytes, advice, location_of(device)))

SOFT_OLDER(cuMemPrefetchAsync,
           (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
           cuMemPrefetchAsync_v2(address, bytes, location_of(device), 0, stream))

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t bytes, CUdevice device,
                                 CUstream stream)
{
    return cuMemPrefetchAsync_v2_ptsz(address, bytes, location_of(device), 0, stream);
}
