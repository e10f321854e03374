// SPDX-License-Identifier: Apache-2.0
/* Memory: device, host, managed, ordered by streams; pools; what a pointer is; memset.
 *
 * cudaMalloc() of no bytes and cudaFree() of NULL succeed, where the driver refuses both.
 * A `void *` of the runtime's that names device memory is here as a CUdeviceptr: both
 * are a word of 64 bits. */
#include "softcuda/runtime/entry.h"

/* ---- device memory ---------------------------------------------------------------------- */

/* No bytes give no memory, and no error. */
static cudaError_t allocate(const rt_driver *cu, CUdeviceptr *out, size_t bytes)
{
    if (!out)
        return cudaErrorInvalidValue;
    if (bytes == 0) {
        *out = 0;
        return cudaSuccess;
    }
    return (cudaError_t)cu->cuMemAlloc(out, bytes);
}

static cudaError_t release(const rt_driver *cu, CUdeviceptr pointer)
{
    return pointer == 0 ? cudaSuccess : (cudaError_t)cu->cuMemFree(pointer);
}

/* Rows begin at multiples of what the widest element wants. */
enum { ELEMENT_BYTES = 16 };

static cudaError_t allocate_pitch(const rt_driver *cu, CUdeviceptr *out, size_t *pitch,
                                  size_t width, size_t height)
{
    if (!out || !pitch)
        return cudaErrorInvalidValue;
    if (width == 0 || height == 0) {
        *out = 0;
        *pitch = 0;
        return cudaSuccess;
    }
    return (cudaError_t)cu->cuMemAllocPitch(out, pitch, width, height, ELEMENT_BYTES);
}

static cudaError_t allocate_3d(const rt_driver *cu, struct cudaPitchedPtr *out,
                               struct cudaExtent extent)
{
    CUdeviceptr pointer = 0;
    size_t pitch = 0;
    if (!out || (extent.height != 0 && extent.depth > SIZE_MAX / extent.height))
        return cudaErrorInvalidValue;
    const cudaError_t result =
        allocate_pitch(cu, &pointer, &pitch, extent.width, extent.height * extent.depth);
    if (result == cudaSuccess)
        *out = (struct cudaPitchedPtr){(void *)(uintptr_t)pointer, pitch, extent.width,
                                       extent.height};
    return result;
}

/* 0 bytes are allowed (an H200), unlike in the driver. */
static cudaError_t allocate_managed(const rt_driver *cu, CUdeviceptr *out, size_t bytes,
                                    unsigned flags)
{
    if (bytes > 0 || !out ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return (cudaError_t)cu->cuMemAllocManaged(out, bytes, flags);
    *out = 0;
    return cudaSuccess;
}

RT_ENTRY(cudaMalloc, (CUdeviceptr *, pointer, size_t, bytes),
         allocate(cu, pointer, bytes))
RT_ENTRY(cudaFree, (CUdeviceptr, pointer), release(cu, pointer))
RT_ENTRY(cudaMallocPitch,
         (CUdeviceptr *, pointer, size_t *, pitch, size_t, width, size_t, height),
         allocate_pitch(cu, pointer, pitch, width, height))
RT_ENTRY(cudaMalloc3D, (struct cudaPitchedPtr *, pointer, struct cudaExtent, extent),
         allocate_3d(cu, pointer, extent))
RT_ENTRY(cudaMallocManaged, (CUdeviceptr *, pointer, size_t, bytes, unsigned, flags),
         allocate_managed(cu, pointer, bytes, flags))
RT_TWINS(cudaMallocAsync, _ptsz,
         (CUdeviceptr *, pointer, size_t, bytes, CUstream, stream),
         cu->cuMemAllocAsync(pointer, bytes, stream))
RT_TWINS(cudaMallocFromPoolAsync, _ptsz,
         (CUdeviceptr *, pointer, size_t, bytes, CUmemoryPool, pool, CUstream, stream),
         cu->cuMemAllocFromPoolAsync(pointer, bytes, pool, stream))
RT_TWINS(cudaFreeAsync, _ptsz, (CUdeviceptr, pointer, CUstream, stream),
         cu->cuMemFreeAsync(pointer, stream))
RT_ENTRY(cudaMemGetInfo, (size_t *, unused, size_t *, total),
         cu->cuMemGetInfo(unused, total))

/* ---- host memory ------------------------------------------------------------------------ */

static cudaError_t allocate_host(const rt_driver *cu, void **out, size_t bytes,
                                 unsigned flags)
{
    if (!out)
        return cudaErrorInvalidValue;
    if (bytes == 0) {
        *out = NULL;
        return cudaSuccess;
    }
    return (cudaError_t)cu->cuMemHostAlloc(out, bytes, flags);
}

static cudaError_t release_host(const rt_driver *cu, void *pointer)
{
    return pointer ? (cudaError_t)cu->cuMemFreeHost(pointer) : cudaSuccess;
}

RT_ENTRY(cudaMallocHost, (void **, pointer, size_t, bytes),
         allocate_host(cu, pointer, bytes, 0))
RT_ENTRY(cudaHostAlloc, (void **, pointer, size_t, bytes, unsigned, flags),
         allocate_host(cu, pointer, bytes, flags))
RT_ENTRY(cudaFreeHost, (void *, pointer), release_host(cu, pointer))
RT_ENTRY(cudaHostRegister, (void *, pointer, size_t, bytes, unsigned, flags),
         cu->cuMemHostRegister(pointer, bytes, flags))
RT_ENTRY(cudaHostUnregister, (void *, pointer), cu->cuMemHostUnregister(pointer))
RT_ENTRY(cudaHostGetDevicePointer, (CUdeviceptr *, out, void *, host, unsigned, flags),
         cu->cuMemHostGetDevicePointer(out, host, flags))
RT_ENTRY(cudaHostGetFlags, (unsigned *, flags, void *, host),
         cu->cuMemHostGetFlags(flags, host))

/* ---- managed memory --------------------------------------------------------------------- */

RT_TWINS(cudaMemPrefetchAsync, _ptsz,
         (CUdeviceptr, pointer, size_t, bytes, CUmemLocation, location, unsigned, flags,
          CUstream, stream),
         cu->cuMemPrefetchAsync(pointer, bytes, location, flags, stream))
RT_ENTRY(cudaMemAdvise,
         (CUdeviceptr, pointer, size_t, bytes, CUmem_advise, advice, CUmemLocation,
          location),
         cu->cuMemAdvise(pointer, bytes, advice, location))
RT_ENTRY(cudaMemRangeGetAttribute,
         (void *, out, size_t, room, CUmem_range_attribute, which, CUdeviceptr, pointer,
          size_t, bytes),
         cu->cuMemRangeGetAttribute(out, room, which, pointer, bytes))
RT_ENTRY(cudaMemRangeGetAttributes,
         (void **, out, size_t *, rooms, CUmem_range_attribute *, which, size_t, count,
          CUdeviceptr, pointer, size_t, bytes),
         cu->cuMemRangeGetAttributes(out, rooms, which, count, pointer, bytes))

/* A pool of the runtime is the driver's: attributes have the same numbers, so that pools go
 * from one interface to the other. */
/* ---- pools ------------------------------------------------------------------------------ */

RT_ENTRY(cudaMemPoolCreate, (CUmemoryPool *, pool, const CUmemPoolProps *, properties),
         cu->cuMemPoolCreate(pool, properties))
RT_ENTRY(cudaMemPoolDestroy, (CUmemoryPool, pool), cu->cuMemPoolDestroy(pool))
RT_ENTRY(cudaMemPoolTrimTo, (CUmemoryPool, pool, size_t, bytes),
         cu->cuMemPoolTrimTo(pool, bytes))
RT_ENTRY(cudaMemPoolSetAttribute,
         (CUmemoryPool, pool, CUmemPool_attribute, which, void *, value),
         cu->cuMemPoolSetAttribute(pool, which, value))
RT_ENTRY(cudaMemPoolGetAttribute,
         (CUmemoryPool, pool, CUmemPool_attribute, which, void *, value),
         cu->cuMemPoolGetAttribute(pool, which, value))
RT_ENTRY(cudaMemPoolSetAccess,
         (CUmemoryPool, pool, const CUmemAccessDesc *, access, size_t, count),
         cu->cuMemPoolSetAccess(pool, access, count))
RT_ENTRY(cudaMemPoolGetAccess,
         (CUmemAccess_flags *, flags, CUmemoryPool, pool, CUmemLocation *, location),
         cu->cuMemPoolGetAccess(flags, pool, location))
RT_ENTRY(cudaMemPoolExportToShareableHandle,
         (void *, handle, CUmemoryPool, pool, CUmemAllocationHandleType, type, unsigned,
          flags),
         cu->cuMemPoolExportToShareableHandle(handle, pool, type, flags))
RT_ENTRY(cudaMemPoolImportFromShareableHandle,
         (CUmemoryPool *, pool, void *, handle, CUmemAllocationHandleType, type, unsigned,
          flags),
         cu->cuMemPoolImportFromShareableHandle(pool, handle, type, flags))
RT_ENTRY(cudaMemPoolExportPointer, (CUmemPoolPtrExportData *, out, CUdeviceptr, pointer),
         cu->cuMemPoolExportPointer(out, pointer))
RT_ENTRY(cudaMemPoolImportPointer,
         (CUdeviceptr *, pointer, CUmemoryPool, pool, CUmemPoolPtrExportData *, data),
         cu->cuMemPoolImportPointer(pointer, pool, data))
RT_EARLY(cudaDeviceGetDefaultMemPool, (CUmemoryPool *, pool, int, device),
         cu->cuDeviceGetDefaultMemPool(pool, device))
RT_EARLY(cudaDeviceGetMemPool, (CUmemoryPool *, pool, int, device),
         cu->cuDeviceGetMemPool(pool, device))
RT_EARLY(cudaDeviceSetMemPool, (int, device, CUmemoryPool, pool),
         cu->cuDeviceSetMemPool(device, pool))
RT_EARLY(cudaMemGetDefaultMemPool,
         (CUmemoryPool *, pool, CUmemLocation *, location, CUmemAllocationType, type),
         cu->cuMemGetDefaultMemPool(pool, location, type))
RT_EARLY(cudaMemGetMemPool,
         (CUmemoryPool *, pool, CUmemLocation *, location, CUmemAllocationType, type),
         cu->cuMemGetMemPool(pool, location, type))
RT_EARLY(cudaMemSetMemPool,
         (CUmemLocation *, location, CUmemAllocationType, type, CUmemoryPool, pool),
         cu->cuMemSetMemPool(location, type, pool))
RT_ENTRY(cudaDeviceGraphMemTrim, (int, device), cu->cuDeviceGraphMemTrim(device))
RT_ENTRY(cudaDeviceGetGraphMemAttribute,
         (int, device, CUgraphMem_attribute, which, void *, value),
         cu->cuDeviceGetGraphMemAttribute(device, which, value))
RT_ENTRY(cudaDeviceSetGraphMemAttribute,
         (int, device, CUgraphMem_attribute, which, void *, value),
         cu->cuDeviceSetGraphMemAttribute(device, which, value))

/* ---- what a pointer is ------------------------------------------------------------------ */

/* Memory that the driver does not know is host memory of the program's own. */
static cudaError_t describe(const rt_driver *cu, struct cudaPointerAttributes *out,
                            const void *pointer)
{
    if (!out)
        return cudaErrorInvalidValue;
    unsigned type = 0, is_managed = 0;
    int device = cudaInvalidDeviceId;
    void *on_device = NULL, *on_host = NULL;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *values[] = {&type, &device, &on_device, &on_host, &is_managed};
    const CUresult result =
        cu->cuPointerGetAttributes(5, which, values, (CUdeviceptr)(uintptr_t)pointer);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    *out = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered,
                                          .device = cudaInvalidDeviceId,
                                          .hostPointer = (void *)(uintptr_t)pointer};
    if (type == 0)
        return cudaSuccess;
    out->type = is_managed                   ? cudaMemoryTypeManaged
                : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                             : cudaMemoryTypeDevice;
    out->device = device;
    out->devicePointer = on_device;
    out->hostPointer = on_host;
    return cudaSuccess;
}

RT_ENTRY(cudaPointerGetAttributes,
         (struct cudaPointerAttributes *, out, const void *, pointer),
         describe(cu, out, pointer))

/* ---- memset ----------------------------------------------------------------------------- */

/* Slices whose rows follow each other are one area. */
static cudaError_t fill_3d(const rt_driver *cu, struct cudaPitchedPtr to, int value,
                           struct cudaExtent extent, CUstream stream, bool waits)
{
    const unsigned char byte = (unsigned char)value;
    const bool is_whole = extent.height == to.ysize || extent.depth <= 1;
    const size_t slices = is_whole ? 1 : extent.depth;
    const size_t rows = is_whole ? extent.height * extent.depth : extent.height;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return cudaSuccess;
    if (extent.width > to.pitch)
        return cudaErrorInvalidValue;
    CUresult result = CUDA_SUCCESS;
    for (size_t z = 0; z < slices && result == CUDA_SUCCESS; z++) {
        const CUdeviceptr at =
            (CUdeviceptr)(uintptr_t)to.ptr + (CUdeviceptr)(z * to.pitch * to.ysize);
        result =
            waits ? cu->cuMemsetD2D8(at, to.pitch, byte, extent.width, rows)
                  : cu->cuMemsetD2D8Async(at, to.pitch, byte, extent.width, rows, stream);
    }
    return (cudaError_t)result;
}

RT_TWINS(cudaMemset, _ptds, (CUdeviceptr, pointer, int, value, size_t, bytes),
         cu->cuMemsetD8(pointer, (unsigned char)value, bytes))
RT_TWINS(cudaMemsetAsync, _ptsz,
         (CUdeviceptr, pointer, int, value, size_t, bytes, CUstream, stream),
         cu->cuMemsetD8Async(pointer, (unsigned char)value, bytes, stream))
RT_TWINS(cudaMemset2D, _ptds,
         (CUdeviceptr, pointer, size_t, pitch, int, value, size_t, width, size_t, height),
         cu->cuMemsetD2D8(pointer, pitch, (unsigned char)value, width, height))
RT_TWINS(cudaMemset2DAsync, _ptsz,
         (CUdeviceptr, pointer, size_t, pitch, int, value, size_t, width, size_t, height,
          CUstream, stream),
         cu->cuMemsetD2D8Async(pointer, pitch, (unsigned char)value, width, height,
                               stream))
RT_TWINS(cudaMemset3D, _ptds,
         (struct cudaPitchedPtr, to, int, value, struct cudaExtent, extent),
         fill_3d(cu, to, value, extent, NULL, true))
RT_TWINS(cudaMemset3DAsync, _ptsz,
         (struct cudaPitchedPtr, to, int, value, struct cudaExtent, extent, CUstream,
          stream),
         fill_3d(cu, to, value, extent, stream, false))
