// SPDX-License-Identifier: Apache-2.0
/* Many copies, prefetches or discards by one call; memory and events of other processes.
 * The structures are the driver's, word for word. */
#include "softcuda/runtime/entry.h"

/* ---- batches -------------------------------------------------------------------------------- */

#define RANGES CUdeviceptr *, pointers, size_t *, sizes, size_t, count
#define PLACES CUmemLocation *, places, size_t *, place_of, size_t, place_count

RT_TWINS(cudaMemPrefetchBatchAsync, _ptsz,
         (RANGES, PLACES, unsigned long long, flags, CUstream, stream),
         cu->cuMemPrefetchBatchAsync(pointers, sizes, count, places, place_of,
                                     place_count, flags, stream))
RT_TWINS(cudaMemDiscardBatchAsync, _ptsz,
         (RANGES, unsigned long long, flags, CUstream, stream),
         cu->cuMemDiscardBatchAsync(pointers, sizes, count, flags, stream))
RT_TWINS(cudaMemDiscardAndPrefetchBatchAsync, _ptsz,
         (RANGES, PLACES, unsigned long long, flags, CUstream, stream),
         cu->cuMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, places, place_of,
                                               place_count, flags, stream))

#define COPIES                                                                           \
    CUdeviceptr *, to, CUdeviceptr *, from, size_t *, sizes, size_t, count,              \
        CUmemcpyAttributes *, attributes, size_t *, attribute_of, size_t,                \
        attribute_count
#define VOLUMES size_t, count, CUDA_MEMCPY3D_BATCH_OP *, copies

#if RT_MAJOR == 12
/* Which copy failed, 13.0 no longer says: none of them began. */
static cudaError_t none_began(size_t *failed, CUresult result)
{
    if (failed && result != CUDA_SUCCESS)
        *failed = SIZE_MAX;
    return (cudaError_t)result;
}

RT_TWINS(cudaMemcpyBatchAsync, _ptsz, (COPIES, size_t *, failed, CUstream, stream),
         none_began(failed,
                    cu->cuMemcpyBatchAsync(to, from, sizes, count, attributes,
                                           attribute_of, attribute_count, stream)))
RT_TWINS(cudaMemcpy3DBatchAsync, _ptsz,
         (VOLUMES, size_t *, failed, unsigned long long, flags, CUstream, stream),
         none_began(failed, cu->cuMemcpy3DBatchAsync(count, copies, flags, stream)))
#else
RT_TWINS(cudaMemcpyBatchAsync, _ptsz, (COPIES, CUstream, stream),
         cu->cuMemcpyBatchAsync(to, from, sizes, count, attributes, attribute_of,
                                attribute_count, stream))
RT_TWINS(cudaMemcpy3DBatchAsync, _ptsz,
         (VOLUMES, unsigned long long, flags, CUstream, stream),
         cu->cuMemcpy3DBatchAsync(count, copies, flags, stream))
#endif

/* ---- other processes -------------------------------------------------------------------------- */

RT_ENTRY(cudaIpcGetMemHandle, (CUipcMemHandle *, out, CUdeviceptr, pointer),
         cu->cuIpcGetMemHandle(out, pointer))
RT_ENTRY(cudaIpcOpenMemHandle,
         (CUdeviceptr *, pointer, CUipcMemHandle, handle, unsigned, flags),
         cu->cuIpcOpenMemHandle(pointer, handle, flags))
RT_ENTRY(cudaIpcCloseMemHandle, (CUdeviceptr, pointer), cu->cuIpcCloseMemHandle(pointer))
RT_ENTRY(cudaIpcGetEventHandle, (CUipcEventHandle *, out, CUevent, event),
         cu->cuIpcGetEventHandle(out, event))
RT_ENTRY(cudaIpcOpenEventHandle, (CUevent *, event, CUipcEventHandle, handle),
         cu->cuIpcOpenEventHandle(event, handle))
