// SPDX-License-Identifier: Apache-2.0
/* Copies: rows, areas, volumes; to and from variables; between devices.
 *
 * The direction that a program names is passed on, not looked up: a copy node keeps it,
 * and a wrong one is the driver's to refuse, as on a GPU. */
#include "softcuda/runtime/copies.h"
#include "softcuda/runtime/registry.h"

/* ---- descriptions ------------------------------------------------------------------------ */

static bool is_kind(int kind)
{
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

/* A kind says of which memory each side is; cudaMemcpyDefault leaves it to addresses. */
static CUmemorytype source_type(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
           : kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice
               ? CU_MEMORYTYPE_HOST
               : CU_MEMORYTYPE_DEVICE;
}

static CUmemorytype target_type(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
           : kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost
               ? CU_MEMORYTYPE_HOST
               : CU_MEMORYTYPE_DEVICE;
}

/* Bytes of an element of an array; 0: it is none. */
static size_t element_bytes(const rt_driver *cu, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    if (cu->cuArray3DGetDescriptor(&shape, array) != CUDA_SUCCESS)
        return 0;
    const size_t channel = shape.Format == CU_AD_FORMAT_UNSIGNED_INT8 ||
                                   shape.Format == CU_AD_FORMAT_SIGNED_INT8
                               ? 1
                           : shape.Format == CU_AD_FORMAT_UNSIGNED_INT16 ||
                                   shape.Format == CU_AD_FORMAT_SIGNED_INT16 ||
                                   shape.Format == CU_AD_FORMAT_HALF
                               ? 2
                               : 4;
    return channel * shape.NumChannels;
}

cudaError_t rt_row_bytes(const rt_driver *cu, CUarray array, size_t *out)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    const CUresult result = cu->cuArray3DGetDescriptor(&shape, array);
    if (result == CUDA_SUCCESS)
        *out = shape.Width * element_bytes(cu, array);
    return (cudaError_t)result;
}

/* Positions, in memory too, and widths count elements where an array takes part, bytes
 * elsewhere. */
cudaError_t rt_copy_to_driver(const rt_driver *cu, const struct cudaMemcpy3DParms *from,
                              CUDA_MEMCPY3D *out)
{
    if (!from)
        return cudaErrorInvalidValue;
    if (!is_kind((int)from->kind))
        return cudaErrorInvalidMemcpyDirection;
    const CUarray array = from->srcArray ? from->srcArray : from->dstArray;
    const size_t unit = array ? element_bytes(cu, array) : 1;
    const size_t source_unit = from->srcArray ? element_bytes(cu, from->srcArray) : unit;
    const size_t target_unit = from->dstArray ? element_bytes(cu, from->dstArray) : unit;
    if (source_unit == 0 || target_unit == 0)
        return cudaErrorInvalidResourceHandle;
    *out = (CUDA_MEMCPY3D){.srcXInBytes = from->srcPos.x * source_unit,
                           .srcY = from->srcPos.y,
                           .srcZ = from->srcPos.z,
                           .srcPitch = from->srcPtr.pitch,
                           .srcHeight = from->srcPtr.ysize,
                           .dstXInBytes = from->dstPos.x * target_unit,
                           .dstY = from->dstPos.y,
                           .dstZ = from->dstPos.z,
                           .dstPitch = from->dstPtr.pitch,
                           .dstHeight = from->dstPtr.ysize,
                           .WidthInBytes = from->extent.width * unit,
                           .Height = from->extent.height,
                           .Depth = from->extent.depth};
    out->srcMemoryType = from->srcArray ? CU_MEMORYTYPE_ARRAY : source_type(from->kind);
    out->srcArray = from->srcArray;
    out->srcHost = from->srcPtr.ptr;
    out->srcDevice = (CUdeviceptr)(uintptr_t)from->srcPtr.ptr;
    out->dstMemoryType = from->dstArray ? CU_MEMORYTYPE_ARRAY : target_type(from->kind);
    out->dstArray = from->dstArray;
    out->dstHost = from->dstPtr.ptr;
    out->dstDevice = (CUdeviceptr)(uintptr_t)from->dstPtr.ptr;
    return cudaSuccess;
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    const bool from_host = from == CU_MEMORYTYPE_HOST, to_host = to == CU_MEMORYTYPE_HOST;
    return from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
           : to_host ? cudaMemcpyDeviceToHost
                     : cudaMemcpyDeviceToDevice;
}

static void *address_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_ARRAY  ? NULL
           : type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host
                                        : (void *)(uintptr_t)device;
}

/* How long a row is, the driver does not keep: 0 (an H200). */
static struct cudaPitchedPtr memory_of(CUmemorytype type, const void *host,
                                       CUdeviceptr device, size_t pitch, size_t height)
{
    if (type == CU_MEMORYTYPE_ARRAY)
        return (struct cudaPitchedPtr){0};
    return (struct cudaPitchedPtr){address_of(type, host, device), pitch, 0, height};
}

void rt_copy_to_runtime(const rt_driver *cu, const CUDA_MEMCPY3D *from,
                        struct cudaMemcpy3DParms *out)
{
    const bool from_array = from->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    const bool to_array = from->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    const CUarray array = from_array ? from->srcArray : to_array ? from->dstArray : NULL;
    const size_t bytes = array ? element_bytes(cu, array) : 1;
    const size_t width_unit = bytes ? bytes : 1;
    const size_t other = to_array ? element_bytes(cu, from->dstArray) : width_unit;
    const size_t target_unit = other ? other : 1;
    *out = (struct cudaMemcpy3DParms){
        .srcArray = from_array ? from->srcArray : NULL,
        .srcPos = {from->srcXInBytes / width_unit, from->srcY, from->srcZ},
        .srcPtr = memory_of(from->srcMemoryType, from->srcHost, from->srcDevice,
                            from->srcPitch, from->srcHeight),
        .dstArray = to_array ? from->dstArray : NULL,
        .dstPos = {from->dstXInBytes / target_unit, from->dstY, from->dstZ},
        .dstPtr = memory_of(from->dstMemoryType, from->dstHost, from->dstDevice,
                            from->dstPitch, from->dstHeight),
        .extent = {from->WidthInBytes / width_unit, from->Height, from->Depth},
        .kind = kind_of(from->srcMemoryType, from->dstMemoryType)};
}

struct cudaMemcpy3DParms rt_copy_row(void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, 0, 0, 0},
                                      .dstPtr = {to, 0, 0, 0},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

/* ---- rows -------------------------------------------------------------------------------- */

static cudaError_t copy(const rt_driver *cu, void *to, const void *from, size_t bytes,
                        int kind)
{
    const CUdeviceptr target = (CUdeviceptr)(uintptr_t)to;
    const CUdeviceptr source = (CUdeviceptr)(uintptr_t)from;
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return (cudaError_t)cu->cuMemcpy(target, source, bytes);
    case cudaMemcpyHostToDevice:
        return (cudaError_t)cu->cuMemcpyHtoD(target, from, bytes);
    case cudaMemcpyDeviceToHost: return (cudaError_t)cu->cuMemcpyDtoH(to, source, bytes);
    case cudaMemcpyDeviceToDevice:
        return (cudaError_t)cu->cuMemcpyDtoD(target, source, bytes);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

static cudaError_t copy_async(const rt_driver *cu, void *to, const void *from,
                              size_t bytes, int kind, CUstream stream)
{
    const CUdeviceptr target = (CUdeviceptr)(uintptr_t)to;
    const CUdeviceptr source = (CUdeviceptr)(uintptr_t)from;
    switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return (cudaError_t)cu->cuMemcpyAsync(target, source, bytes, stream);
    case cudaMemcpyHostToDevice:
        return (cudaError_t)cu->cuMemcpyHtoDAsync(target, from, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return (cudaError_t)cu->cuMemcpyDtoHAsync(to, source, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return (cudaError_t)cu->cuMemcpyDtoDAsync(target, source, bytes, stream);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

RT_TWINS(cudaMemcpy, _ptds, (void *, to, const void *, from, size_t, bytes, int, kind),
         copy(cu, to, from, bytes, kind))
RT_TWINS(cudaMemcpyAsync, _ptsz,
         (void *, to, const void *, from, size_t, bytes, int, kind, CUstream, stream),
         copy_async(cu, to, from, bytes, kind, stream))

/* ---- areas and volumes --------------------------------------------------------------------- */

static cudaError_t copy_3d(const rt_driver *cu, const struct cudaMemcpy3DParms *what,
                           CUstream stream, bool waits)
{
    CUDA_MEMCPY3D driver;
    const cudaError_t result = rt_copy_to_driver(cu, what, &driver);
    if (result != cudaSuccess)
        return result;
    return (cudaError_t)(waits ? cu->cuMemcpy3D(&driver)
                               : cu->cuMemcpy3DAsync(&driver, stream));
}

static cudaError_t copy_2d(const rt_driver *cu, void *to, size_t to_pitch,
                           const void *from, size_t from_pitch, size_t width,
                           size_t height, int kind, CUstream stream, bool waits)
{
    if (width == 0 || height == 0)
        return is_kind(kind) ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidPitchValue;
    const struct cudaMemcpy3DParms what = {
        .srcPtr = {(void *)(uintptr_t)from, from_pitch, width, height},
        .dstPtr = {to, to_pitch, width, height},
        .extent = {width, height, 1},
        .kind = (enum cudaMemcpyKind)kind};
    return copy_3d(cu, &what, stream, waits);
}

RT_TWINS(cudaMemcpy2D, _ptds,
         (void *, to, size_t, to_pitch, const void *, from, size_t, from_pitch, size_t,
          width, size_t, height, int, kind),
         copy_2d(cu, to, to_pitch, from, from_pitch, width, height, kind, NULL, true))
RT_TWINS(cudaMemcpy2DAsync, _ptsz,
         (void *, to, size_t, to_pitch, const void *, from, size_t, from_pitch, size_t,
          width, size_t, height, int, kind, CUstream, stream),
         copy_2d(cu, to, to_pitch, from, from_pitch, width, height, kind, stream, false))
RT_TWINS(cudaMemcpy3D, _ptds, (const struct cudaMemcpy3DParms *, what),
         copy_3d(cu, what, NULL, true))
RT_TWINS(cudaMemcpy3DAsync, _ptsz,
         (const struct cudaMemcpy3DParms *, what, CUstream, stream),
         copy_3d(cu, what, stream, false))

/* ---- variables ------------------------------------------------------------------------------ */

cudaError_t rt_symbol_range(const rt_driver *cu, const void *shadow, size_t count,
                            size_t offset, CUdeviceptr *out)
{
    CUdeviceptr address;
    size_t bytes;
    const cudaError_t result = rt_symbol(cu, shadow, &address, &bytes);
    if (result != cudaSuccess)
        return result;
    if (offset > bytes || count > bytes - offset)
        return cudaErrorInvalidValue;
    *out = address + offset;
    return cudaSuccess;
}

static cudaError_t copy_symbol(const rt_driver *cu, const void *shadow, void *host,
                               size_t count, size_t offset, int kind, CUstream stream,
                               bool writes, bool waits)
{
    CUdeviceptr at;
    const cudaError_t result = rt_symbol_range(cu, shadow, count, offset, &at);
    if (result != cudaSuccess)
        return result;
    if (kind == cudaMemcpyHostToHost ||
        kind == (writes ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        return cudaErrorInvalidMemcpyDirection;
    void *variable = (void *)(uintptr_t)at;
    void *to = writes ? variable : host, *from = writes ? host : variable;
    return waits ? copy(cu, to, from, count, kind)
                 : copy_async(cu, to, from, count, kind, stream);
}

static cudaError_t symbol_address(const rt_driver *cu, CUdeviceptr *out,
                                  const void *shadow)
{
    size_t bytes;
    return out ? rt_symbol(cu, shadow, out, &bytes) : cudaErrorInvalidValue;
}

static cudaError_t symbol_size(const rt_driver *cu, size_t *out, const void *shadow)
{
    CUdeviceptr address;
    return out ? rt_symbol(cu, shadow, &address, out) : cudaErrorInvalidValue;
}

RT_ENTRY(cudaGetSymbolAddress, (CUdeviceptr *, out, const void *, symbol),
         symbol_address(cu, out, symbol))
RT_ENTRY(cudaGetSymbolSize, (size_t *, out, const void *, symbol),
         symbol_size(cu, out, symbol))
RT_TWINS(cudaMemcpyToSymbol, _ptds,
         (const void *, symbol, void *, from, size_t, count, size_t, offset, int, kind),
         copy_symbol(cu, symbol, from, count, offset, kind, NULL, true, true))
RT_TWINS(cudaMemcpyToSymbolAsync, _ptsz,
         (const void *, symbol, void *, from, size_t, count, size_t, offset, int, kind,
          CUstream, stream),
         copy_symbol(cu, symbol, from, count, offset, kind, stream, true, false))
RT_TWINS(cudaMemcpyFromSymbol, _ptds,
         (void *, to, const void *, symbol, size_t, count, size_t, offset, int, kind),
         copy_symbol(cu, symbol, to, count, offset, kind, NULL, false, true))
RT_TWINS(cudaMemcpyFromSymbolAsync, _ptsz,
         (void *, to, const void *, symbol, size_t, count, size_t, offset, int, kind,
          CUstream, stream),
         copy_symbol(cu, symbol, to, count, offset, kind, stream, false, false))

/* ---- between devices ------------------------------------------------------------------------ */

/* Addresses say which device they are of; the numbers are checked alone. */
static cudaError_t copy_peer(const rt_driver *cu, CUdeviceptr to, int to_device,
                             CUdeviceptr from, int from_device, size_t bytes,
                             CUstream stream, bool waits)
{
    int count = 0;
    const CUresult result = cu->cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    if (to_device < 0 || to_device >= count || from_device < 0 || from_device >= count)
        return cudaErrorInvalidDevice;
    return (cudaError_t)(waits ? cu->cuMemcpy(to, from, bytes)
                               : cu->cuMemcpyAsync(to, from, bytes, stream));
}

RT_ENTRY(cudaMemcpyPeer,
         (CUdeviceptr, to, int, to_device, CUdeviceptr, from, int, from_device, size_t,
          bytes),
         copy_peer(cu, to, to_device, from, from_device, bytes, NULL, true))
RT_ENTRY(cudaMemcpyPeerAsync,
         (CUdeviceptr, to, int, to_device, CUdeviceptr, from, int, from_device, size_t,
          bytes, CUstream, stream),
         copy_peer(cu, to, to_device, from, from_device, bytes, stream, false))

/* ---- volumes between devices ------------------------------------------------------------ */

static cudaError_t volume_peer(const rt_driver *cu,
                               const struct cudaMemcpy3DPeerParms *from, CUstream stream,
                               bool waits)
{
    if (!from)
        return cudaErrorInvalidValue;
    const struct cudaMemcpy3DParms same = {from->srcArray, from->srcPos,     from->srcPtr,
                                           from->dstArray, from->dstPos,     from->dstPtr,
                                           from->extent,   cudaMemcpyDefault};
    CUDA_MEMCPY3D copy;
    cudaError_t result = rt_device_check(cu, from->srcDevice);
    if (result == cudaSuccess)
        result = rt_device_check(cu, from->dstDevice);
    if (result == cudaSuccess)
        result = rt_copy_to_driver(cu, &same, &copy);
    if (result != cudaSuccess)
        return result;
    /* Addresses say which device they are of, and arrays know it. */
    return (cudaError_t)(waits ? cu->cuMemcpy3D(&copy)
                               : cu->cuMemcpy3DAsync(&copy, stream));
}

RT_TWINS(cudaMemcpy3DPeer, _ptds, (const struct cudaMemcpy3DPeerParms *, what),
         volume_peer(cu, what, NULL, true))
RT_TWINS(cudaMemcpy3DPeerAsync, _ptsz,
         (const struct cudaMemcpy3DPeerParms *, what, CUstream, stream),
         volume_peer(cu, what, stream, false))
