// SPDX-License-Identifier: Apache-2.0
/* Device memory that can be mapped in several places. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"
#include "slot/slots.h"

#include <stdatomic.h>

static atomic_ullong next_id = 1;

/* The same for a window's ranges: only such memory can be mapped twice. */
static CUmemAllocationProp props_of(CUdevice device)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
}

static gph_status check(CUresult result, const char *call, uint64_t bytes,
                        gph_error *error)
{
    return gphi_cuda_check(error, result, call, "a buffer of %llu bytes",
                           (unsigned long long)bytes);
}

/* Mappings are of whole pages; what a page is depends on the device. */
static gph_status granularity_of(const gph_runtime *runtime, CUdevice *device,
                                 size_t *out, gph_error *error)
{
    const gphi_cuda_table *cu = &runtime->cu;
    GPHI_TRY(check(cu->cuCtxGetDevice(device), "cuCtxGetDevice", 0, error));
    const CUmemAllocationProp props = props_of(*device);
    return check(
        cu->cuMemGetAllocationGranularity(out, &props, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "cuMemGetAllocationGranularity", 0, error);
}

static gph_slot_buffer *create(gph_runtime *runtime)
{
    gph_slot_buffer *buffer = gphi_heap_alloc(runtime->heap, sizeof(*buffer));
    if (!buffer)
        return NULL;
    buffer->runtime = runtime;
    /* relaxed: only that no number comes twice. */
    buffer->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    return buffer;
}

/* Reserved, made and mapped as far as it goes; gph_slot_buffer_destroy() takes it so. */
static CUresult fill(gph_slot_buffer *buffer, CUdevice device, const char **call)
{
    const gphi_cuda_table *cu = &buffer->runtime->cu;
    const CUmemAllocationProp props = props_of(device);
    const CUmemAccessDesc access = {.location = props.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t bytes = (size_t)buffer->bytes;
    CUdeviceptr address = 0;
    *call = "cuMemCreate";
    CUresult result = cu->cuMemCreate(&buffer->handle, bytes, &props, 0);
    if (result != CUDA_SUCCESS) {
        buffer->handle = 0;
        return result;
    }
    *call = "cuMemAddressReserve";
    result = cu->cuMemAddressReserve(&address, bytes, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuMemMap";
    result = cu->cuMemMap(address, bytes, 0, buffer->handle, 0);
    if (result == CUDA_SUCCESS) {
        buffer->address = address;
        buffer->owns_address = true;
        *call = "cuMemSetAccess";
        return cu->cuMemSetAccess(address, bytes, &access, 1);
    }
    gphi_ignore((gph_status)cu->cuMemAddressFree(address, bytes), "it fails already");
    return result;
}

gph_status gph_slot_buffer_create(gph_runtime *runtime, uint64_t bytes,
                                  gph_slot_buffer **out, gph_error *error)
{
    CUdevice device = 0;
    size_t granularity = 0;
    const char *call;
    GPHI_TRY(gphi_need(error, runtime, out));
    if (bytes == 0 || bytes > UINT64_C(1) << 48)
        return gphi_fail(error, GPH_E_INVALID, "a buffer of %llu bytes is needed",
                         (unsigned long long)bytes);
    GPHI_TRY(granularity_of(runtime, &device, &granularity, error));
    gph_slot_buffer *buffer = create(runtime);
    GPHI_TRY(
        gphi_made(error, buffer, "a buffer of %llu bytes", (unsigned long long)bytes));
    buffer->bytes = (bytes + granularity - 1) / granularity * granularity;
    const CUresult result = fill(buffer, device, &call);
    if (result != CUDA_SUCCESS) {
        const uint64_t wanted = buffer->bytes;
        gph_slot_buffer_destroy(buffer);
        return check(result, call, wanted, error);
    }
    *out = buffer;
    return GPH_OK;
}

/* A handle of its own, so that the memory stays while the caller unmaps and frees his. */
gph_status gph_slot_buffer_adopt(gph_runtime *runtime, CUdeviceptr address,
                                 uint64_t bytes, gph_slot_buffer **out, gph_error *error)
{
    CUdevice device = 0;
    size_t granularity = 0;
    CUmemGenericAllocationHandle handle = 0;
    GPHI_TRY(gphi_need(error, runtime, out, address));
    GPHI_TRY(granularity_of(runtime, &device, &granularity, error));
    if (bytes == 0 || bytes % granularity != 0)
        return gphi_fail(error, GPH_E_INVALID, "%llu bytes are not a multiple of %zu",
                         (unsigned long long)bytes, granularity);
    gph_slot_buffer *buffer = create(runtime);
    GPHI_TRY(gphi_made(error, buffer, "a buffer at 0x%llx", (unsigned long long)address));
    const CUresult result =
        runtime->cu.cuMemRetainAllocationHandle(&handle, (void *)(uintptr_t)address);
    if (result != CUDA_SUCCESS) {
        gph_slot_buffer_destroy(buffer);
        return gphi_cuda_fail(error, (gph_status)result, "cuMemRetainAllocationHandle",
                              "0x%llx: only memory that was mapped by cuMemMap can be "
                              "mapped elsewhere",
                              (unsigned long long)address);
    }
    buffer->address = address;
    buffer->bytes = bytes;
    buffer->handle = handle;
    *out = buffer;
    return GPH_OK;
}

/* Windows that still map it keep its pages until they map something else. */
void gph_slot_buffer_destroy(gph_slot_buffer *buffer)
{
    if (!buffer)
        return;
    const gphi_cuda_table *cu = &buffer->runtime->cu;
    const size_t bytes = (size_t)buffer->bytes;
    CUresult result = CUDA_SUCCESS;
    if (buffer->owns_address) {
        result = cu->cuMemUnmap(buffer->address, bytes);
        GPHI_THEN(result, cu->cuMemAddressFree(buffer->address, bytes));
    }
    if (buffer->handle != 0) {
        const CUresult released = cu->cuMemRelease(buffer->handle);
        result = result == CUDA_SUCCESS ? released : result;
    }
    if (result != CUDA_SUCCESS)
        gphi_log("slot", GPH_LOG_ERROR, "a buffer of %zu bytes at 0x%llx stays: %s",
                 bytes, (unsigned long long)buffer->address,
                 gph_status_name((gph_status)result));
    gphi_heap_free(buffer->runtime->heap, buffer, sizeof(*buffer));
}

CUdeviceptr gph_slot_buffer_address(const gph_slot_buffer *buffer)
{
    return buffer ? buffer->address : 0;
}
