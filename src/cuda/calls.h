// SPDX-License-Identifier: Apache-2.0
/* Every entry point of the CUDA 13.0 driver, as data.
 *
 * GPHI_CUDA_CALLS: X(name, version, arguments), a line a call of the current headers.
 *   `version` is the CUDA version (major * 1000 + minor * 10) that brought this
 * signature: what cuGetProcAddress() wants to be asked for. GPHI_CUDA_SYMBOLS: X(symbol,
 * name, version, per_thread, arguments), a line for each of the symbols that libcuda.so.1
 * exports: the older signatures of a name too, and its variants for the per-thread
 * default stream (_ptsz, _ptds; per_thread = 1).
 * sizes: table */
#ifndef GPHI_CUDA_CALLS_H
#define GPHI_CUDA_CALLS_H
#include "cuda/abi.h"

/* clang-format off */

#define GPHI_CUDA_CALLS(X) \
    X(cuGetErrorString, 6000, (CUresult, const char **)) \
    X(cuGetErrorName, 6000, (CUresult, const char **)) \
    X(cuInit, 2000, (unsigned int)) \
    X(cuDriverGetVersion, 2020, (int *)) \
    X(cuDeviceGet, 2000, (CUdevice *, int)) \
    X(cuDeviceGetCount, 2000, (int *)) \
    X(cuDeviceGetName, 2000, (char *, int, CUdevice)) \
    X(cuDeviceGetUuid, 11040, (CUuuid *, CUdevice)) \
    X(cuDeviceGetLuid, 10000, (char *, unsigned int *, CUdevice)) \
    X(cuDeviceTotalMem, 3020, (size_t *, CUdevice)) \
    X(cuDeviceGetTexture1DLinearMaxWidth, 11010, (size_t *, CUarray_format, unsigned int, CUdevice)) \
    X(cuDeviceGetAttribute, 2000, (int *, CUdevice_attribute, CUdevice)) \
    X(cuDeviceGetHostAtomicCapabilities, 13000, (unsigned int *, const CUatomicOperation *, unsigned int, CUdevice)) \
    X(cuDeviceGetNvSciSyncAttributes, 10020, (void *, CUdevice, int)) \
    X(cuDeviceSetMemPool, 11020, (CUdevice, CUmemoryPool)) \
    X(cuDeviceGetMemPool, 11020, (CUmemoryPool *, CUdevice)) \
    X(cuDeviceGetDefaultMemPool, 11020, (CUmemoryPool *, CUdevice)) \
    X(cuDeviceGetExecAffinitySupport, 11040, (int *, CUexecAffinityType, CUdevice)) \
    X(cuFlushGPUDirectRDMAWrites, 11030, (CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope)) \
    X(cuDevicePrimaryCtxRetain, 7000, (CUcontext *, CUdevice)) \
    X(cuDevicePrimaryCtxRelease, 11000, (CUdevice)) \
    X(cuDevicePrimaryCtxSetFlags, 11000, (CUdevice, unsigned int)) \
    X(cuDevicePrimaryCtxGetState, 7000, (CUdevice, unsigned int *, int *)) \
    X(cuDevicePrimaryCtxReset, 11000, (CUdevice)) \
    X(cuCtxCreate, 12050, (CUcontext *, CUctxCreateParams *, unsigned int, CUdevice)) \
    X(cuCtxDestroy, 4000, (CUcontext)) \
    X(cuCtxPushCurrent, 4000, (CUcontext)) \
    X(cuCtxPopCurrent, 4000, (CUcontext *)) \
    X(cuCtxSetCurrent, 4000, (CUcontext)) \
    X(cuCtxGetCurrent, 4000, (CUcontext *)) \
    X(cuCtxGetDevice, 2000, (CUdevice *)) \
    X(cuCtxGetFlags, 7000, (unsigned int *)) \
    X(cuCtxSetFlags, 12010, (unsigned int)) \
    X(cuCtxGetId, 12000, (CUcontext, unsigned long long *)) \
    X(cuCtxSynchronize, 2000, (void)) \
    X(cuCtxSetLimit, 3010, (CUlimit, size_t)) \
    X(cuCtxGetLimit, 3010, (size_t *, CUlimit)) \
    X(cuCtxGetCacheConfig, 3020, (CUfunc_cache *)) \
    X(cuCtxSetCacheConfig, 3020, (CUfunc_cache)) \
    X(cuCtxGetApiVersion, 3020, (CUcontext, unsigned int *)) \
    X(cuCtxGetStreamPriorityRange, 5050, (int *, int *)) \
    X(cuCtxResetPersistingL2Cache, 11000, (void)) \
    X(cuCtxGetExecAffinity, 11040, (CUexecAffinityParam *, CUexecAffinityType)) \
    X(cuCtxRecordEvent, 12050, (CUcontext, CUevent)) \
    X(cuCtxWaitEvent, 12050, (CUcontext, CUevent)) \
    X(cuModuleLoad, 2000, (CUmodule *, const char *)) \
    X(cuModuleLoadData, 2000, (CUmodule *, const void *)) \
    X(cuModuleLoadDataEx, 2010, (CUmodule *, const void *, unsigned int, CUjit_option *, void **)) \
    X(cuModuleLoadFatBinary, 2000, (CUmodule *, const void *)) \
    X(cuModuleUnload, 2000, (CUmodule)) \
    X(cuModuleGetLoadingMode, 11070, (CUmoduleLoadingMode *)) \
    X(cuModuleGetFunction, 2000, (CUfunction *, CUmodule, const char *)) \
    X(cuModuleGetFunctionCount, 12040, (unsigned int *, CUmodule)) \
    X(cuModuleEnumerateFunctions, 12040, (CUfunction *, unsigned int, CUmodule)) \
    X(cuModuleGetGlobal, 3020, (CUdeviceptr *, size_t *, CUmodule, const char *)) \
    X(cuLinkCreate, 6050, (unsigned int, CUjit_option *, void **, CUlinkState *)) \
    X(cuLinkAddData, 6050, (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **)) \
    X(cuLinkAddFile, 6050, (CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **)) \
    X(cuLinkComplete, 5050, (CUlinkState, void **, size_t *)) \
    X(cuLinkDestroy, 5050, (CUlinkState)) \
    X(cuLibraryLoadData, 12000, (CUlibrary *, const void *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int)) \
    X(cuLibraryLoadFromFile, 12000, (CUlibrary *, const char *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int)) \
    X(cuLibraryUnload, 12000, (CUlibrary)) \
    X(cuLibraryGetKernel, 12000, (CUkernel *, CUlibrary, const char *)) \
    X(cuLibraryGetKernelCount, 12040, (unsigned int *, CUlibrary)) \
    X(cuLibraryEnumerateKernels, 12040, (CUkernel *, unsigned int, CUlibrary)) \
    X(cuLibraryGetModule, 12000, (CUmodule *, CUlibrary)) \
    X(cuKernelGetFunction, 12000, (CUfunction *, CUkernel)) \
    X(cuKernelGetLibrary, 12050, (CUlibrary *, CUkernel)) \
    X(cuLibraryGetGlobal, 12000, (CUdeviceptr *, size_t *, CUlibrary, const char *)) \
    X(cuLibraryGetManaged, 12000, (CUdeviceptr *, size_t *, CUlibrary, const char *)) \
    X(cuLibraryGetUnifiedFunction, 12000, (void **, CUlibrary, const char *)) \
    X(cuKernelGetAttribute, 12000, (int *, CUfunction_attribute, CUkernel, CUdevice)) \
    X(cuKernelSetAttribute, 12000, (CUfunction_attribute, int, CUkernel, CUdevice)) \
    X(cuKernelSetCacheConfig, 12000, (CUkernel, CUfunc_cache, CUdevice)) \
    X(cuKernelGetName, 12030, (const char **, CUkernel)) \
    X(cuKernelGetParamInfo, 12040, (CUkernel, size_t, size_t *, size_t *)) \
    X(cuMemGetInfo, 3020, (size_t *, size_t *)) \
    X(cuMemAlloc, 3020, (CUdeviceptr *, size_t)) \
    X(cuMemAllocPitch, 3020, (CUdeviceptr *, size_t *, size_t, size_t, unsigned int)) \
    X(cuMemFree, 3020, (CUdeviceptr)) \
    X(cuMemGetAddressRange, 3020, (CUdeviceptr *, size_t *, CUdeviceptr)) \
    X(cuMemAllocHost, 3020, (void **, size_t)) \
    X(cuMemFreeHost, 2000, (void *)) \
    X(cuMemHostAlloc, 2020, (void **, size_t, unsigned int)) \
    X(cuMemHostGetDevicePointer, 3020, (CUdeviceptr *, void *, unsigned int)) \
    X(cuMemHostGetFlags, 2030, (unsigned int *, void *)) \
    X(cuMemAllocManaged, 6000, (CUdeviceptr *, size_t, unsigned int)) \
    X(cuDeviceRegisterAsyncNotification, 12040, (CUdevice, CUasyncCallback, void *, CUasyncCallbackHandle *)) \
    X(cuDeviceUnregisterAsyncNotification, 12040, (CUdevice, CUasyncCallbackHandle)) \
    X(cuDeviceGetByPCIBusId, 4010, (CUdevice *, const char *)) \
    X(cuDeviceGetPCIBusId, 4010, (char *, int, CUdevice)) \
    X(cuIpcGetEventHandle, 4010, (CUipcEventHandle *, CUevent)) \
    X(cuIpcOpenEventHandle, 4010, (CUevent *, CUipcEventHandle)) \
    X(cuIpcGetMemHandle, 4010, (CUipcMemHandle *, CUdeviceptr)) \
    X(cuIpcOpenMemHandle, 11000, (CUdeviceptr *, CUipcMemHandle, unsigned int)) \
    X(cuIpcCloseMemHandle, 4010, (CUdeviceptr)) \
    X(cuMemHostRegister, 6050, (void *, size_t, unsigned int)) \
    X(cuMemHostUnregister, 4000, (void *)) \
    X(cuMemcpy, 4000, (CUdeviceptr, CUdeviceptr, size_t)) \
    X(cuMemcpyPeer, 4000, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t)) \
    X(cuMemcpyHtoD, 3020, (CUdeviceptr, const void *, size_t)) \
    X(cuMemcpyDtoH, 3020, (void *, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoD, 3020, (CUdeviceptr, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoA, 3020, (CUarray, size_t, CUdeviceptr, size_t)) \
    X(cuMemcpyAtoD, 3020, (CUdeviceptr, CUarray, size_t, size_t)) \
    X(cuMemcpyHtoA, 3020, (CUarray, size_t, const void *, size_t)) \
    X(cuMemcpyAtoH, 3020, (void *, CUarray, size_t, size_t)) \
    X(cuMemcpyAtoA, 3020, (CUarray, size_t, CUarray, size_t, size_t)) \
    X(cuMemcpy2D, 3020, (const CUDA_MEMCPY2D *)) \
    X(cuMemcpy2DUnaligned, 3020, (const CUDA_MEMCPY2D *)) \
    X(cuMemcpy3D, 3020, (const CUDA_MEMCPY3D *)) \
    X(cuMemcpy3DPeer, 4000, (const CUDA_MEMCPY3D_PEER *)) \
    X(cuMemcpyAsync, 4000, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyPeerAsync, 4000, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)) \
    X(cuMemcpyHtoDAsync, 3020, (CUdeviceptr, const void *, size_t, CUstream)) \
    X(cuMemcpyDtoHAsync, 3020, (void *, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyDtoDAsync, 3020, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyHtoAAsync, 3020, (CUarray, size_t, const void *, size_t, CUstream)) \
    X(cuMemcpyAtoHAsync, 3020, (void *, CUarray, size_t, size_t, CUstream)) \
    X(cuMemcpy2DAsync, 3020, (const CUDA_MEMCPY2D *, CUstream)) \
    X(cuMemcpy3DAsync, 3020, (const CUDA_MEMCPY3D *, CUstream)) \
    X(cuMemcpy3DPeerAsync, 4000, (const CUDA_MEMCPY3D_PEER *, CUstream)) \
    X(cuMemcpyBatchAsync, 13000, (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream)) \
    X(cuMemcpy3DBatchAsync, 13000, (size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream)) \
    X(cuMemsetD8, 3020, (CUdeviceptr, unsigned char, size_t)) \
    X(cuMemsetD16, 3020, (CUdeviceptr, unsigned short, size_t)) \
    X(cuMemsetD32, 3020, (CUdeviceptr, unsigned int, size_t)) \
    X(cuMemsetD2D8, 3020, (CUdeviceptr, size_t, unsigned char, size_t, size_t)) \
    X(cuMemsetD2D16, 3020, (CUdeviceptr, size_t, unsigned short, size_t, size_t)) \
    X(cuMemsetD2D32, 3020, (CUdeviceptr, size_t, unsigned int, size_t, size_t)) \
    X(cuMemsetD8Async, 3020, (CUdeviceptr, unsigned char, size_t, CUstream)) \
    X(cuMemsetD16Async, 3020, (CUdeviceptr, unsigned short, size_t, CUstream)) \
    X(cuMemsetD32Async, 3020, (CUdeviceptr, unsigned int, size_t, CUstream)) \
    X(cuMemsetD2D8Async, 3020, (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream)) \
    X(cuMemsetD2D16Async, 3020, (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream)) \
    X(cuMemsetD2D32Async, 3020, (CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream)) \
    X(cuArrayCreate, 3020, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *)) \
    X(cuArrayGetDescriptor, 3020, (CUDA_ARRAY_DESCRIPTOR *, CUarray)) \
    X(cuArrayGetSparseProperties, 11010, (CUDA_ARRAY_SPARSE_PROPERTIES *, CUarray)) \
    X(cuMipmappedArrayGetSparseProperties, 11010, (CUDA_ARRAY_SPARSE_PROPERTIES *, CUmipmappedArray)) \
    X(cuArrayGetMemoryRequirements, 11060, (CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUarray, CUdevice)) \
    X(cuMipmappedArrayGetMemoryRequirements, 11060, (CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUmipmappedArray, CUdevice)) \
    X(cuArrayGetPlane, 11020, (CUarray *, CUarray, unsigned int)) \
    X(cuArrayDestroy, 2000, (CUarray)) \
    X(cuArray3DCreate, 3020, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *)) \
    X(cuArray3DGetDescriptor, 3020, (CUDA_ARRAY3D_DESCRIPTOR *, CUarray)) \
    X(cuMipmappedArrayCreate, 5000, (CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int)) \
    X(cuMipmappedArrayGetLevel, 5000, (CUarray *, CUmipmappedArray, unsigned int)) \
    X(cuMipmappedArrayDestroy, 5000, (CUmipmappedArray)) \
    X(cuMemGetHandleForAddressRange, 11070, (void *, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long)) \
    X(cuMemBatchDecompressAsync, 12060, (CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream)) \
    X(cuMemAddressReserve, 10020, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long)) \
    X(cuMemAddressFree, 10020, (CUdeviceptr, size_t)) \
    X(cuMemCreate, 10020, (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long)) \
    X(cuMemRelease, 10020, (CUmemGenericAllocationHandle)) \
    X(cuMemMap, 10020, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)) \
    X(cuMemMapArrayAsync, 11010, (CUarrayMapInfo *, unsigned int, CUstream)) \
    X(cuMemUnmap, 10020, (CUdeviceptr, size_t)) \
    X(cuMemSetAccess, 10020, (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t)) \
    X(cuMemGetAccess, 10020, (unsigned long long *, const CUmemLocation *, CUdeviceptr)) \
    X(cuMemExportToShareableHandle, 10020, (void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long)) \
    X(cuMemImportFromShareableHandle, 10020, (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType)) \
    X(cuMemGetAllocationGranularity, 10020, (size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags)) \
    X(cuMemGetAllocationPropertiesFromHandle, 10020, (CUmemAllocationProp *, CUmemGenericAllocationHandle)) \
    X(cuMemRetainAllocationHandle, 11000, (CUmemGenericAllocationHandle *, void *)) \
    X(cuMemFreeAsync, 11020, (CUdeviceptr, CUstream)) \
    X(cuMemAllocAsync, 11020, (CUdeviceptr *, size_t, CUstream)) \
    X(cuMemPoolTrimTo, 11020, (CUmemoryPool, size_t)) \
    X(cuMemPoolSetAttribute, 11020, (CUmemoryPool, CUmemPool_attribute, void *)) \
    X(cuMemPoolGetAttribute, 11020, (CUmemoryPool, CUmemPool_attribute, void *)) \
    X(cuMemPoolSetAccess, 11020, (CUmemoryPool, const CUmemAccessDesc *, size_t)) \
    X(cuMemPoolGetAccess, 11020, (CUmemAccess_flags *, CUmemoryPool, CUmemLocation *)) \
    X(cuMemPoolCreate, 11020, (CUmemoryPool *, const CUmemPoolProps *)) \
    X(cuMemPoolDestroy, 11020, (CUmemoryPool)) \
    X(cuMemGetDefaultMemPool, 13000, (CUmemoryPool *, CUmemLocation *, CUmemAllocationType)) \
    X(cuMemGetMemPool, 13000, (CUmemoryPool *, CUmemLocation *, CUmemAllocationType)) \
    X(cuMemSetMemPool, 13000, (CUmemLocation *, CUmemAllocationType, CUmemoryPool)) \
    X(cuMemAllocFromPoolAsync, 11020, (CUdeviceptr *, size_t, CUmemoryPool, CUstream)) \
    X(cuMemPoolExportToShareableHandle, 11020, (void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long)) \
    X(cuMemPoolImportFromShareableHandle, 11020, (CUmemoryPool *, void *, CUmemAllocationHandleType, unsigned long long)) \
    X(cuMemPoolExportPointer, 11020, (CUmemPoolPtrExportData *, CUdeviceptr)) \
    X(cuMemPoolImportPointer, 11020, (CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *)) \
    X(cuMulticastCreate, 12010, (CUmemGenericAllocationHandle *, const CUmulticastObjectProp *)) \
    X(cuMulticastAddDevice, 12010, (CUmemGenericAllocationHandle, CUdevice)) \
    X(cuMulticastBindMem, 12010, (CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long)) \
    X(cuMulticastBindAddr, 12010, (CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long)) \
    X(cuMulticastUnbind, 12010, (CUmemGenericAllocationHandle, CUdevice, size_t, size_t)) \
    X(cuMulticastGetGranularity, 12010, (size_t *, const CUmulticastObjectProp *, CUmulticastGranularity_flags)) \
    X(cuPointerGetAttribute, 4000, (void *, CUpointer_attribute, CUdeviceptr)) \
    X(cuMemPrefetchAsync, 12020, (CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream)) \
    X(cuMemAdvise, 12020, (CUdeviceptr, size_t, CUmem_advise, CUmemLocation)) \
    X(cuMemPrefetchBatchAsync, 13000, (CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemDiscardBatchAsync, 13000, (CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemDiscardAndPrefetchBatchAsync, 13000, (CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemRangeGetAttribute, 8000, (void *, size_t, CUmem_range_attribute, CUdeviceptr, size_t)) \
    X(cuMemRangeGetAttributes, 8000, (void **, size_t *, CUmem_range_attribute *, size_t, CUdeviceptr, size_t)) \
    X(cuPointerSetAttribute, 6000, (const void *, CUpointer_attribute, CUdeviceptr)) \
    X(cuPointerGetAttributes, 7000, (unsigned int, CUpointer_attribute *, void **, CUdeviceptr)) \
    X(cuStreamCreate, 2000, (CUstream *, unsigned int)) \
    X(cuStreamCreateWithPriority, 5050, (CUstream *, unsigned int, int)) \
    X(cuStreamGetPriority, 5050, (CUstream, int *)) \
    X(cuStreamGetDevice, 12080, (CUstream, CUdevice *)) \
    X(cuStreamGetFlags, 5050, (CUstream, unsigned int *)) \
    X(cuStreamGetId, 12000, (CUstream, unsigned long long *)) \
    X(cuStreamGetCtx, 9020, (CUstream, CUcontext *)) \
    X(cuStreamWaitEvent, 3020, (CUstream, CUevent, unsigned int)) \
    X(cuStreamAddCallback, 5000, (CUstream, CUstreamCallback, void *, unsigned int)) \
    X(cuStreamBeginCapture, 10010, (CUstream, CUstreamCaptureMode)) \
    X(cuStreamBeginCaptureToGraph, 12030, (CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode)) \
    X(cuThreadExchangeStreamCaptureMode, 10010, (CUstreamCaptureMode *)) \
    X(cuStreamEndCapture, 10000, (CUstream, CUgraph *)) \
    X(cuStreamIsCapturing, 10000, (CUstream, CUstreamCaptureStatus *)) \
    X(cuStreamGetCaptureInfo, 12030, (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *)) \
    X(cuStreamUpdateCaptureDependencies, 12030, (CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int)) \
    X(cuStreamAttachMemAsync, 6000, (CUstream, CUdeviceptr, size_t, unsigned int)) \
    X(cuStreamQuery, 2000, (CUstream)) \
    X(cuStreamSynchronize, 2000, (CUstream)) \
    X(cuStreamDestroy, 4000, (CUstream)) \
    X(cuStreamCopyAttributes, 11000, (CUstream, CUstream)) \
    X(cuStreamGetAttribute, 11000, (CUstream, CUstreamAttrID, CUstreamAttrValue *)) \
    X(cuStreamSetAttribute, 11000, (CUstream, CUstreamAttrID, const CUstreamAttrValue *)) \
    X(cuEventCreate, 2000, (CUevent *, unsigned int)) \
    X(cuEventRecord, 2000, (CUevent, CUstream)) \
    X(cuEventRecordWithFlags, 11010, (CUevent, CUstream, unsigned int)) \
    X(cuEventQuery, 2000, (CUevent)) \
    X(cuEventSynchronize, 2000, (CUevent)) \
    X(cuEventDestroy, 4000, (CUevent)) \
    X(cuEventElapsedTime, 12080, (float *, CUevent, CUevent)) \
    X(cuImportExternalMemory, 10000, (CUexternalMemory *, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *)) \
    X(cuExternalMemoryGetMappedBuffer, 10000, (CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *)) \
    X(cuExternalMemoryGetMappedMipmappedArray, 10000, (CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *)) \
    X(cuDestroyExternalMemory, 10000, (CUexternalMemory)) \
    X(cuImportExternalSemaphore, 10000, (CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *)) \
    X(cuSignalExternalSemaphoresAsync, 10000, (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream)) \
    X(cuWaitExternalSemaphoresAsync, 10000, (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream)) \
    X(cuDestroyExternalSemaphore, 10000, (CUexternalSemaphore)) \
    X(cuStreamWaitValue32, 11070, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWaitValue64, 11070, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWriteValue32, 11070, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWriteValue64, 11070, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamBatchMemOp, 11070, (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int)) \
    X(cuFuncGetAttribute, 2020, (int *, CUfunction_attribute, CUfunction)) \
    X(cuFuncSetAttribute, 9000, (CUfunction, CUfunction_attribute, int)) \
    X(cuFuncSetCacheConfig, 3000, (CUfunction, CUfunc_cache)) \
    X(cuFuncGetModule, 11000, (CUmodule *, CUfunction)) \
    X(cuFuncGetName, 12030, (const char **, CUfunction)) \
    X(cuFuncGetParamInfo, 12040, (CUfunction, size_t, size_t *, size_t *)) \
    X(cuFuncIsLoaded, 12040, (CUfunctionLoadingState *, CUfunction)) \
    X(cuFuncLoad, 12040, (CUfunction)) \
    X(cuLaunchKernel, 4000, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **)) \
    X(cuLaunchKernelEx, 11060, (const CUlaunchConfig *, CUfunction, void **, void **)) \
    X(cuLaunchCooperativeKernel, 9000, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **)) \
    X(cuLaunchHostFunc, 10000, (CUstream, CUhostFn, void *)) \
    X(cuGraphCreate, 10000, (CUgraph *, unsigned int)) \
    X(cuGraphAddKernelNode, 12000, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphKernelNodeGetParams, 12000, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphKernelNodeSetParams, 12000, (CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphAddMemcpyNode, 10000, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext)) \
    X(cuGraphMemcpyNodeGetParams, 10000, (CUgraphNode, CUDA_MEMCPY3D *)) \
    X(cuGraphMemcpyNodeSetParams, 10000, (CUgraphNode, const CUDA_MEMCPY3D *)) \
    X(cuGraphAddMemsetNode, 10000, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext)) \
    X(cuGraphMemsetNodeGetParams, 10000, (CUgraphNode, CUDA_MEMSET_NODE_PARAMS *)) \
    X(cuGraphMemsetNodeSetParams, 10000, (CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *)) \
    X(cuGraphAddHostNode, 10000, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphHostNodeGetParams, 10000, (CUgraphNode, CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphHostNodeSetParams, 10000, (CUgraphNode, const CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphAddChildGraphNode, 10000, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph)) \
    X(cuGraphChildGraphNodeGetGraph, 10000, (CUgraphNode, CUgraph *)) \
    X(cuGraphAddEmptyNode, 10000, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t)) \
    X(cuGraphAddEventRecordNode, 11010, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent)) \
    X(cuGraphEventRecordNodeGetEvent, 11010, (CUgraphNode, CUevent *)) \
    X(cuGraphEventRecordNodeSetEvent, 11010, (CUgraphNode, CUevent)) \
    X(cuGraphAddEventWaitNode, 11010, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent)) \
    X(cuGraphEventWaitNodeGetEvent, 11010, (CUgraphNode, CUevent *)) \
    X(cuGraphEventWaitNodeSetEvent, 11010, (CUgraphNode, CUevent)) \
    X(cuGraphAddExternalSemaphoresSignalNode, 11020, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresSignalNodeGetParams, 11020, (CUgraphNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, 11020, (CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphAddExternalSemaphoresWaitNode, 11020, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresWaitNodeGetParams, 11020, (CUgraphNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, 11020, (CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphAddBatchMemOpNode, 11070, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphBatchMemOpNodeGetParams, 11070, (CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphBatchMemOpNodeSetParams, 11070, (CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphExecBatchMemOpNodeSetParams, 11070, (CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphAddMemAllocNode, 11040, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *)) \
    X(cuGraphMemAllocNodeGetParams, 11040, (CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *)) \
    X(cuGraphAddMemFreeNode, 11040, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUdeviceptr)) \
    X(cuGraphMemFreeNodeGetParams, 11040, (CUgraphNode, CUdeviceptr *)) \
    X(cuDeviceGraphMemTrim, 11040, (CUdevice)) \
    X(cuDeviceGetGraphMemAttribute, 11040, (CUdevice, CUgraphMem_attribute, void *)) \
    X(cuDeviceSetGraphMemAttribute, 11040, (CUdevice, CUgraphMem_attribute, void *)) \
    X(cuGraphClone, 10000, (CUgraph *, CUgraph)) \
    X(cuGraphNodeFindInClone, 10000, (CUgraphNode *, CUgraphNode, CUgraph)) \
    X(cuGraphNodeGetType, 10000, (CUgraphNode, CUgraphNodeType *)) \
    X(cuGraphGetNodes, 10000, (CUgraph, CUgraphNode *, size_t *)) \
    X(cuGraphGetRootNodes, 10000, (CUgraph, CUgraphNode *, size_t *)) \
    X(cuGraphGetEdges, 12030, (CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *)) \
    X(cuGraphNodeGetDependencies, 12030, (CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *)) \
    X(cuGraphNodeGetDependentNodes, 12030, (CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *)) \
    X(cuGraphAddDependencies, 12030, (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t)) \
    X(cuGraphRemoveDependencies, 12030, (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t)) \
    X(cuGraphDestroyNode, 10000, (CUgraphNode)) \
    X(cuGraphInstantiateWithFlags, 11040, (CUgraphExec *, CUgraph, unsigned long long)) \
    X(cuGraphInstantiateWithParams, 12000, (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *)) \
    X(cuGraphExecGetFlags, 12000, (CUgraphExec, cuuint64_t *)) \
    X(cuGraphExecKernelNodeSetParams, 12000, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphExecMemcpyNodeSetParams, 10020, (CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext)) \
    X(cuGraphExecMemsetNodeSetParams, 10020, (CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext)) \
    X(cuGraphExecHostNodeSetParams, 10020, (CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphExecChildGraphNodeSetParams, 11010, (CUgraphExec, CUgraphNode, CUgraph)) \
    X(cuGraphExecEventRecordNodeSetEvent, 11010, (CUgraphExec, CUgraphNode, CUevent)) \
    X(cuGraphExecEventWaitNodeSetEvent, 11010, (CUgraphExec, CUgraphNode, CUevent)) \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, (CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, (CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphNodeSetEnabled, 11060, (CUgraphExec, CUgraphNode, unsigned int)) \
    X(cuGraphNodeGetEnabled, 11060, (CUgraphExec, CUgraphNode, unsigned int *)) \
    X(cuGraphUpload, 11010, (CUgraphExec, CUstream)) \
    X(cuGraphLaunch, 10000, (CUgraphExec, CUstream)) \
    X(cuGraphExecDestroy, 10000, (CUgraphExec)) \
    X(cuGraphDestroy, 10000, (CUgraph)) \
    X(cuGraphExecUpdate, 12000, (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *)) \
    X(cuGraphKernelNodeCopyAttributes, 11000, (CUgraphNode, CUgraphNode)) \
    X(cuGraphKernelNodeGetAttribute, 11000, (CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *)) \
    X(cuGraphKernelNodeSetAttribute, 11000, (CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *)) \
    X(cuGraphDebugDotPrint, 11030, (CUgraph, const char *, unsigned int)) \
    X(cuUserObjectCreate, 11030, (CUuserObject *, void *, CUhostFn, unsigned int, unsigned int)) \
    X(cuUserObjectRetain, 11030, (CUuserObject, unsigned int)) \
    X(cuUserObjectRelease, 11030, (CUuserObject, unsigned int)) \
    X(cuGraphRetainUserObject, 11030, (CUgraph, CUuserObject, unsigned int, unsigned int)) \
    X(cuGraphReleaseUserObject, 11030, (CUgraph, CUuserObject, unsigned int)) \
    X(cuGraphAddNode, 12030, (CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *)) \
    X(cuGraphNodeSetParams, 12020, (CUgraphNode, CUgraphNodeParams *)) \
    X(cuGraphExecNodeSetParams, 12020, (CUgraphExec, CUgraphNode, CUgraphNodeParams *)) \
    X(cuGraphConditionalHandleCreate, 12030, (CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, (int *, CUfunction, int, size_t)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, (int *, CUfunction, int, size_t, unsigned int)) \
    X(cuOccupancyMaxPotentialBlockSize, 6050, (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int)) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int, unsigned int)) \
    X(cuOccupancyAvailableDynamicSMemPerBlock, 10020, (size_t *, CUfunction, int, int)) \
    X(cuOccupancyMaxPotentialClusterSize, 11070, (int *, CUfunction, const CUlaunchConfig *)) \
    X(cuOccupancyMaxActiveClusters, 11070, (int *, CUfunction, const CUlaunchConfig *)) \
    X(cuTexObjectCreate, 5000, (CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const CUDA_RESOURCE_VIEW_DESC *)) \
    X(cuTexObjectDestroy, 5000, (CUtexObject)) \
    X(cuTexObjectGetResourceDesc, 5000, (CUDA_RESOURCE_DESC *, CUtexObject)) \
    X(cuTexObjectGetTextureDesc, 5000, (CUDA_TEXTURE_DESC *, CUtexObject)) \
    X(cuTexObjectGetResourceViewDesc, 5000, (CUDA_RESOURCE_VIEW_DESC *, CUtexObject)) \
    X(cuSurfObjectCreate, 5000, (CUsurfObject *, const CUDA_RESOURCE_DESC *)) \
    X(cuSurfObjectDestroy, 5000, (CUsurfObject)) \
    X(cuSurfObjectGetResourceDesc, 5000, (CUDA_RESOURCE_DESC *, CUsurfObject)) \
    X(cuTensorMapEncodeTiled, 12000, (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)) \
    X(cuTensorMapEncodeIm2col, 12000, (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)) \
    X(cuTensorMapEncodeIm2colWide, 12080, (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, int, int, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)) \
    X(cuTensorMapReplaceAddress, 12000, (CUtensorMap *, void *)) \
    X(cuDeviceCanAccessPeer, 4000, (int *, CUdevice, CUdevice)) \
    X(cuCtxEnablePeerAccess, 4000, (CUcontext, unsigned int)) \
    X(cuCtxDisablePeerAccess, 4000, (CUcontext)) \
    X(cuDeviceGetP2PAttribute, 8000, (int *, CUdevice_P2PAttribute, CUdevice, CUdevice)) \
    X(cuDeviceGetP2PAtomicCapabilities, 13000, (unsigned int *, const CUatomicOperation *, unsigned int, CUdevice, CUdevice)) \
    X(cuGraphicsUnregisterResource, 3000, (CUgraphicsResource)) \
    X(cuGraphicsSubResourceGetMappedArray, 3000, (CUarray *, CUgraphicsResource, unsigned int, unsigned int)) \
    X(cuGraphicsResourceGetMappedMipmappedArray, 5000, (CUmipmappedArray *, CUgraphicsResource)) \
    X(cuGraphicsResourceGetMappedPointer, 3020, (CUdeviceptr *, size_t *, CUgraphicsResource)) \
    X(cuGraphicsResourceSetMapFlags, 6050, (CUgraphicsResource, unsigned int)) \
    X(cuGraphicsMapResources, 3000, (unsigned int, CUgraphicsResource *, CUstream)) \
    X(cuGraphicsUnmapResources, 3000, (unsigned int, CUgraphicsResource *, CUstream)) \
    X(cuGetProcAddress, 12000, (const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *)) \
    X(cuCoredumpGetAttribute, 12010, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCoredumpGetAttributeGlobal, 12010, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCoredumpSetAttribute, 12010, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCoredumpSetAttributeGlobal, 12010, (CUcoredumpSettings, void *, size_t *)) \
    X(cuGetExportTable, 3000, (const void **, const CUuuid *)) \
    X(cuGreenCtxCreate, 12040, (CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned int)) \
    X(cuGreenCtxDestroy, 12040, (CUgreenCtx)) \
    X(cuCtxFromGreenCtx, 12040, (CUcontext *, CUgreenCtx)) \
    X(cuDeviceGetDevResource, 12040, (CUdevice, CUdevResource *, CUdevResourceType)) \
    X(cuCtxGetDevResource, 12040, (CUcontext, CUdevResource *, CUdevResourceType)) \
    X(cuGreenCtxGetDevResource, 12040, (CUgreenCtx, CUdevResource *, CUdevResourceType)) \
    X(cuDevSmResourceSplitByCount, 12040, (CUdevResource *, unsigned int *, const CUdevResource *, CUdevResource *, unsigned int, unsigned int)) \
    X(cuDevResourceGenerateDesc, 12040, (CUdevResourceDesc *, CUdevResource *, unsigned int)) \
    X(cuGreenCtxRecordEvent, 12040, (CUgreenCtx, CUevent)) \
    X(cuGreenCtxWaitEvent, 12040, (CUgreenCtx, CUevent)) \
    X(cuStreamGetGreenCtx, 12040, (CUstream, CUgreenCtx *)) \
    X(cuGreenCtxStreamCreate, 12050, (CUstream *, CUgreenCtx, unsigned int, int)) \
    X(cuGreenCtxGetId, 12090, (CUgreenCtx, unsigned long long *)) \
    X(cuLogsRegisterCallback, 12090, (CUlogsCallback, void *, CUlogsCallbackHandle *)) \
    X(cuLogsUnregisterCallback, 12090, (CUlogsCallbackHandle)) \
    X(cuLogsCurrent, 12090, (CUlogIterator *, unsigned int)) \
    X(cuLogsDumpToFile, 12090, (CUlogIterator *, const char *, unsigned int)) \
    X(cuLogsDumpToMemory, 12090, (CUlogIterator *, char *, size_t *, unsigned int)) \
    X(cuCheckpointProcessGetRestoreThreadId, 12080, (int, int *)) \
    X(cuCheckpointProcessGetState, 12080, (int, CUprocessState *)) \
    X(cuCheckpointProcessLock, 12080, (int, CUcheckpointLockArgs *)) \
    X(cuCheckpointProcessCheckpoint, 12080, (int, CUcheckpointCheckpointArgs *)) \
    X(cuCheckpointProcessRestore, 12080, (int, CUcheckpointRestoreArgs *)) \
    X(cuCheckpointProcessUnlock, 12080, (int, CUcheckpointUnlockArgs *)) \
    X(cuProfilerStart, 4000, (void)) \
    X(cuProfilerStop, 4000, (void))

#define GPHI_CUDA_SYMBOLS(X) \
    X(cuArray3DCreate, cuArray3DCreate, 2000, 0, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR_v1 *)) \
    X(cuArray3DCreate_v2, cuArray3DCreate, 3020, 0, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *)) \
    X(cuArray3DGetDescriptor, cuArray3DGetDescriptor, 2000, 0, (CUDA_ARRAY3D_DESCRIPTOR_v1 *, CUarray)) \
    X(cuArray3DGetDescriptor_v2, cuArray3DGetDescriptor, 3020, 0, (CUDA_ARRAY3D_DESCRIPTOR *, CUarray)) \
    X(cuArrayCreate, cuArrayCreate, 2000, 0, (CUarray *, const CUDA_ARRAY_DESCRIPTOR_v1 *)) \
    X(cuArrayCreate_v2, cuArrayCreate, 3020, 0, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *)) \
    X(cuArrayDestroy, cuArrayDestroy, 2000, 0, (CUarray)) \
    X(cuArrayGetDescriptor, cuArrayGetDescriptor, 2000, 0, (CUDA_ARRAY_DESCRIPTOR_v1 *, CUarray)) \
    X(cuArrayGetDescriptor_v2, cuArrayGetDescriptor, 3020, 0, (CUDA_ARRAY_DESCRIPTOR *, CUarray)) \
    X(cuArrayGetMemoryRequirements, cuArrayGetMemoryRequirements, 11060, 0, (CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUarray, CUdevice)) \
    X(cuArrayGetPlane, cuArrayGetPlane, 11020, 0, (CUarray *, CUarray, unsigned int)) \
    X(cuArrayGetSparseProperties, cuArrayGetSparseProperties, 11010, 0, (CUDA_ARRAY_SPARSE_PROPERTIES *, CUarray)) \
    X(cuCheckpointProcessCheckpoint, cuCheckpointProcessCheckpoint, 12080, 0, (int, CUcheckpointCheckpointArgs *)) \
    X(cuCheckpointProcessGetRestoreThreadId, cuCheckpointProcessGetRestoreThreadId, 12080, 0, (int, int *)) \
    X(cuCheckpointProcessGetState, cuCheckpointProcessGetState, 12080, 0, (int, CUprocessState *)) \
    X(cuCheckpointProcessLock, cuCheckpointProcessLock, 12080, 0, (int, CUcheckpointLockArgs *)) \
    X(cuCheckpointProcessRestore, cuCheckpointProcessRestore, 12080, 0, (int, CUcheckpointRestoreArgs *)) \
    X(cuCheckpointProcessUnlock, cuCheckpointProcessUnlock, 12080, 0, (int, CUcheckpointUnlockArgs *)) \
    X(cuCoredumpGetAttribute, cuCoredumpGetAttribute, 12010, 0, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCoredumpGetAttributeGlobal, cuCoredumpGetAttributeGlobal, 12010, 0, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCoredumpSetAttribute, cuCoredumpSetAttribute, 12010, 0, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCoredumpSetAttributeGlobal, cuCoredumpSetAttributeGlobal, 12010, 0, (CUcoredumpSettings, void *, size_t *)) \
    X(cuCtxAttach, cuCtxAttach, 2000, 0, (CUcontext *, unsigned int)) \
    X(cuCtxCreate, cuCtxCreate, 2000, 0, (CUcontext *, unsigned int, CUdevice)) \
    X(cuCtxCreate_v2, cuCtxCreate, 3020, 0, (CUcontext *, unsigned int, CUdevice)) \
    X(cuCtxCreate_v3, cuCtxCreate, 11040, 0, (CUcontext *, CUexecAffinityParam *, int, unsigned int, CUdevice)) \
    X(cuCtxCreate_v4, cuCtxCreate, 12050, 0, (CUcontext *, CUctxCreateParams *, unsigned int, CUdevice)) \
    X(cuCtxDestroy, cuCtxDestroy, 2000, 0, (CUcontext)) \
    X(cuCtxDestroy_v2, cuCtxDestroy, 4000, 0, (CUcontext)) \
    X(cuCtxDetach, cuCtxDetach, 2000, 0, (CUcontext)) \
    X(cuCtxDisablePeerAccess, cuCtxDisablePeerAccess, 4000, 0, (CUcontext)) \
    X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000, 0, (CUcontext, unsigned int)) \
    X(cuCtxFromGreenCtx, cuCtxFromGreenCtx, 12040, 0, (CUcontext *, CUgreenCtx)) \
    X(cuCtxGetApiVersion, cuCtxGetApiVersion, 3020, 0, (CUcontext, unsigned int *)) \
    X(cuCtxGetCacheConfig, cuCtxGetCacheConfig, 3020, 0, (CUfunc_cache *)) \
    X(cuCtxGetCurrent, cuCtxGetCurrent, 4000, 0, (CUcontext *)) \
    X(cuCtxGetDevResource, cuCtxGetDevResource, 12040, 0, (CUcontext, CUdevResource *, CUdevResourceType)) \
    X(cuCtxGetDevice, cuCtxGetDevice, 2000, 0, (CUdevice *)) \
    X(cuCtxGetDevice_v2, cuCtxGetDevice, 13000, 0, (CUdevice *, CUcontext)) \
    X(cuCtxGetExecAffinity, cuCtxGetExecAffinity, 11040, 0, (CUexecAffinityParam *, CUexecAffinityType)) \
    X(cuCtxGetFlags, cuCtxGetFlags, 7000, 0, (unsigned int *)) \
    X(cuCtxGetId, cuCtxGetId, 12000, 0, (CUcontext, unsigned long long *)) \
    X(cuCtxGetLimit, cuCtxGetLimit, 3010, 0, (size_t *, CUlimit)) \
    X(cuCtxGetSharedMemConfig, cuCtxGetSharedMemConfig, 4020, 0, (CUsharedconfig *)) \
    X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050, 0, (int *, int *)) \
    X(cuCtxPopCurrent, cuCtxPopCurrent, 2000, 0, (CUcontext *)) \
    X(cuCtxPopCurrent_v2, cuCtxPopCurrent, 4000, 0, (CUcontext *)) \
    X(cuCtxPushCurrent, cuCtxPushCurrent, 2000, 0, (CUcontext)) \
    X(cuCtxPushCurrent_v2, cuCtxPushCurrent, 4000, 0, (CUcontext)) \
    X(cuCtxRecordEvent, cuCtxRecordEvent, 12050, 0, (CUcontext, CUevent)) \
    X(cuCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, 11000, 0, (void)) \
    X(cuCtxSetCacheConfig, cuCtxSetCacheConfig, 3020, 0, (CUfunc_cache)) \
    X(cuCtxSetCurrent, cuCtxSetCurrent, 4000, 0, (CUcontext)) \
    X(cuCtxSetFlags, cuCtxSetFlags, 12010, 0, (unsigned int)) \
    X(cuCtxSetLimit, cuCtxSetLimit, 3010, 0, (CUlimit, size_t)) \
    X(cuCtxSetSharedMemConfig, cuCtxSetSharedMemConfig, 4020, 0, (CUsharedconfig)) \
    X(cuCtxSynchronize, cuCtxSynchronize, 2000, 0, (void)) \
    X(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, 0, (CUcontext)) \
    X(cuCtxWaitEvent, cuCtxWaitEvent, 12050, 0, (CUcontext, CUevent)) \
    X(cuDestroyExternalMemory, cuDestroyExternalMemory, 10000, 0, (CUexternalMemory)) \
    X(cuDestroyExternalSemaphore, cuDestroyExternalSemaphore, 10000, 0, (CUexternalSemaphore)) \
    X(cuDevResourceGenerateDesc, cuDevResourceGenerateDesc, 12040, 0, (CUdevResourceDesc *, CUdevResource *, unsigned int)) \
    X(cuDevSmResourceSplitByCount, cuDevSmResourceSplitByCount, 12040, 0, (CUdevResource *, unsigned int *, const CUdevResource *, CUdevResource *, unsigned int, unsigned int)) \
    X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000, 0, (int *, CUdevice, CUdevice)) \
    X(cuDeviceComputeCapability, cuDeviceComputeCapability, 2000, 0, (int *, int *, CUdevice)) \
    X(cuDeviceGet, cuDeviceGet, 2000, 0, (CUdevice *, int)) \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000, 0, (int *, CUdevice_attribute, CUdevice)) \
    X(cuDeviceGetByPCIBusId, cuDeviceGetByPCIBusId, 4010, 0, (CUdevice *, const char *)) \
    X(cuDeviceGetCount, cuDeviceGetCount, 2000, 0, (int *)) \
    X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, 11020, 0, (CUmemoryPool *, CUdevice)) \
    X(cuDeviceGetDevResource, cuDeviceGetDevResource, 12040, 0, (CUdevice, CUdevResource *, CUdevResourceType)) \
    X(cuDeviceGetExecAffinitySupport, cuDeviceGetExecAffinitySupport, 11040, 0, (int *, CUexecAffinityType, CUdevice)) \
    X(cuDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, 11040, 0, (CUdevice, CUgraphMem_attribute, void *)) \
    X(cuDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities, 13000, 0, (unsigned int *, const CUatomicOperation *, unsigned int, CUdevice)) \
    X(cuDeviceGetLuid, cuDeviceGetLuid, 10000, 0, (char *, unsigned int *, CUdevice)) \
    X(cuDeviceGetMemPool, cuDeviceGetMemPool, 11020, 0, (CUmemoryPool *, CUdevice)) \
    X(cuDeviceGetName, cuDeviceGetName, 2000, 0, (char *, int, CUdevice)) \
    X(cuDeviceGetNvSciSyncAttributes, cuDeviceGetNvSciSyncAttributes, 10020, 0, (void *, CUdevice, int)) \
    X(cuDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities, 13000, 0, (unsigned int *, const CUatomicOperation *, unsigned int, CUdevice, CUdevice)) \
    X(cuDeviceGetP2PAttribute, cuDeviceGetP2PAttribute, 8000, 0, (int *, CUdevice_P2PAttribute, CUdevice, CUdevice)) \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010, 0, (char *, int, CUdevice)) \
    X(cuDeviceGetProperties, cuDeviceGetProperties, 2000, 0, (CUdevprop *, CUdevice)) \
    X(cuDeviceGetTexture1DLinearMaxWidth, cuDeviceGetTexture1DLinearMaxWidth, 11010, 0, (size_t *, CUarray_format, unsigned int, CUdevice)) \
    X(cuDeviceGetUuid, cuDeviceGetUuid, 9020, 0, (CUuuid *, CUdevice)) \
    X(cuDeviceGetUuid_v2, cuDeviceGetUuid, 11040, 0, (CUuuid *, CUdevice)) \
    X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, 11040, 0, (CUdevice)) \
    X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000, 0, (CUdevice, unsigned int *, int *)) \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 7000, 0, (CUdevice)) \
    X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000, 0, (CUdevice)) \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000, 0, (CUdevice)) \
    X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000, 0, (CUdevice)) \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, 0, (CUcontext *, CUdevice)) \
    X(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags, 7000, 0, (CUdevice, unsigned int)) \
    X(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags, 11000, 0, (CUdevice, unsigned int)) \
    X(cuDeviceRegisterAsyncNotification, cuDeviceRegisterAsyncNotification, 12040, 0, (CUdevice, CUasyncCallback, void *, CUasyncCallbackHandle *)) \
    X(cuDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute, 11040, 0, (CUdevice, CUgraphMem_attribute, void *)) \
    X(cuDeviceSetMemPool, cuDeviceSetMemPool, 11020, 0, (CUdevice, CUmemoryPool)) \
    X(cuDeviceTotalMem, cuDeviceTotalMem, 2000, 0, (unsigned int *, CUdevice)) \
    X(cuDeviceTotalMem_v2, cuDeviceTotalMem, 3020, 0, (size_t *, CUdevice)) \
    X(cuDeviceUnregisterAsyncNotification, cuDeviceUnregisterAsyncNotification, 12040, 0, (CUdevice, CUasyncCallbackHandle)) \
    X(cuDriverGetVersion, cuDriverGetVersion, 2020, 0, (int *)) \
    X(cuEventCreate, cuEventCreate, 2000, 0, (CUevent *, unsigned int)) \
    X(cuEventDestroy, cuEventDestroy, 2000, 0, (CUevent)) \
    X(cuEventDestroy_v2, cuEventDestroy, 4000, 0, (CUevent)) \
    X(cuEventElapsedTime, cuEventElapsedTime, 2000, 0, (float *, CUevent, CUevent)) \
    X(cuEventElapsedTime_v2, cuEventElapsedTime, 12080, 0, (float *, CUevent, CUevent)) \
    X(cuEventQuery, cuEventQuery, 2000, 0, (CUevent)) \
    X(cuEventRecord, cuEventRecord, 2000, 0, (CUevent, CUstream)) \
    X(cuEventRecordWithFlags, cuEventRecordWithFlags, 11010, 0, (CUevent, CUstream, unsigned int)) \
    X(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags, 11010, 1, (CUevent, CUstream, unsigned int)) \
    X(cuEventRecord_ptsz, cuEventRecord, 7000, 1, (CUevent, CUstream)) \
    X(cuEventSynchronize, cuEventSynchronize, 2000, 0, (CUevent)) \
    X(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer, 10000, 0, (CUdeviceptr *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *)) \
    X(cuExternalMemoryGetMappedMipmappedArray, cuExternalMemoryGetMappedMipmappedArray, 10000, 0, (CUmipmappedArray *, CUexternalMemory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *)) \
    X(cuFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites, 11030, 0, (CUflushGPUDirectRDMAWritesTarget, CUflushGPUDirectRDMAWritesScope)) \
    X(cuFuncGetAttribute, cuFuncGetAttribute, 2020, 0, (int *, CUfunction_attribute, CUfunction)) \
    X(cuFuncGetModule, cuFuncGetModule, 11000, 0, (CUmodule *, CUfunction)) \
    X(cuFuncGetName, cuFuncGetName, 12030, 0, (const char **, CUfunction)) \
    X(cuFuncGetParamInfo, cuFuncGetParamInfo, 12040, 0, (CUfunction, size_t, size_t *, size_t *)) \
    X(cuFuncIsLoaded, cuFuncIsLoaded, 12040, 0, (CUfunctionLoadingState *, CUfunction)) \
    X(cuFuncLoad, cuFuncLoad, 12040, 0, (CUfunction)) \
    X(cuFuncSetAttribute, cuFuncSetAttribute, 9000, 0, (CUfunction, CUfunction_attribute, int)) \
    X(cuFuncSetBlockShape, cuFuncSetBlockShape, 2000, 0, (CUfunction, int, int, int)) \
    X(cuFuncSetCacheConfig, cuFuncSetCacheConfig, 3000, 0, (CUfunction, CUfunc_cache)) \
    X(cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, 4020, 0, (CUfunction, CUsharedconfig)) \
    X(cuFuncSetSharedSize, cuFuncSetSharedSize, 2000, 0, (CUfunction, unsigned int)) \
    X(cuGetErrorName, cuGetErrorName, 6000, 0, (CUresult, const char **)) \
    X(cuGetErrorString, cuGetErrorString, 6000, 0, (CUresult, const char **)) \
    X(cuGetExportTable, cuGetExportTable, 3000, 0, (const void **, const CUuuid *)) \
    X(cuGetProcAddress, cuGetProcAddress, 11030, 0, (const char *, void **, int, cuuint64_t)) \
    X(cuGetProcAddress_v2, cuGetProcAddress, 12000, 0, (const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *)) \
    X(cuGraphAddBatchMemOpNode, cuGraphAddBatchMemOpNode, 11070, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphAddChildGraphNode, cuGraphAddChildGraphNode, 10000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraph)) \
    X(cuGraphAddDependencies, cuGraphAddDependencies, 10000, 0, (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t)) \
    X(cuGraphAddDependencies_v2, cuGraphAddDependencies, 12030, 0, (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t)) \
    X(cuGraphAddEmptyNode, cuGraphAddEmptyNode, 10000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t)) \
    X(cuGraphAddEventRecordNode, cuGraphAddEventRecordNode, 11010, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent)) \
    X(cuGraphAddEventWaitNode, cuGraphAddEventWaitNode, 11010, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUevent)) \
    X(cuGraphAddExternalSemaphoresSignalNode, cuGraphAddExternalSemaphoresSignalNode, 11020, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphAddExternalSemaphoresWaitNode, cuGraphAddExternalSemaphoresWaitNode, 11020, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphAddHostNode, cuGraphAddHostNode, 10000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode, 10000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *)) \
    X(cuGraphAddKernelNode_v2, cuGraphAddKernelNode, 12000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, 11040, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *)) \
    X(cuGraphAddMemFreeNode, cuGraphAddMemFreeNode, 11040, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUdeviceptr)) \
    X(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode, 10000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext)) \
    X(cuGraphAddMemsetNode, cuGraphAddMemsetNode, 10000, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext)) \
    X(cuGraphAddNode, cuGraphAddNode, 12020, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, CUgraphNodeParams *)) \
    X(cuGraphAddNode_v2, cuGraphAddNode, 12030, 0, (CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *)) \
    X(cuGraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeGetParams, 11070, 0, (CUgraphNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphBatchMemOpNodeSetParams, cuGraphBatchMemOpNodeSetParams, 11070, 0, (CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, 10000, 0, (CUgraphNode, CUgraph *)) \
    X(cuGraphClone, cuGraphClone, 10000, 0, (CUgraph *, CUgraph)) \
    X(cuGraphConditionalHandleCreate, cuGraphConditionalHandleCreate, 12030, 0, (CUgraphConditionalHandle *, CUgraph, CUcontext, unsigned int, unsigned int)) \
    X(cuGraphCreate, cuGraphCreate, 10000, 0, (CUgraph *, unsigned int)) \
    X(cuGraphDebugDotPrint, cuGraphDebugDotPrint, 11030, 0, (CUgraph, const char *, unsigned int)) \
    X(cuGraphDestroy, cuGraphDestroy, 10000, 0, (CUgraph)) \
    X(cuGraphDestroyNode, cuGraphDestroyNode, 10000, 0, (CUgraphNode)) \
    X(cuGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, 11010, 0, (CUgraphNode, CUevent *)) \
    X(cuGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, 11010, 0, (CUgraphNode, CUevent)) \
    X(cuGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, 11010, 0, (CUgraphNode, CUevent *)) \
    X(cuGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, 11010, 0, (CUgraphNode, CUevent)) \
    X(cuGraphExecBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams, 11070, 0, (CUgraphExec, CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *)) \
    X(cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, 11010, 0, (CUgraphExec, CUgraphNode, CUgraph)) \
    X(cuGraphExecDestroy, cuGraphExecDestroy, 10000, 0, (CUgraphExec)) \
    X(cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, 11010, 0, (CUgraphExec, CUgraphNode, CUevent)) \
    X(cuGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, 11010, 0, (CUgraphExec, CUgraphNode, CUevent)) \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, 0, (CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, 0, (CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphExecGetFlags, cuGraphExecGetFlags, 12000, 0, (CUgraphExec, cuuint64_t *)) \
    X(cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, 10020, 0, (CUgraphExec, CUgraphNode, const CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 10010, 0, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *)) \
    X(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams, 12000, 0, (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020, 0, (CUgraphExec, CUgraphNode, const CUDA_MEMCPY3D *, CUcontext)) \
    X(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, 10020, 0, (CUgraphExec, CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext)) \
    X(cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020, 0, (CUgraphExec, CUgraphNode, CUgraphNodeParams *)) \
    X(cuGraphExecUpdate, cuGraphExecUpdate, 10020, 0, (CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *)) \
    X(cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000, 0, (CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *)) \
    X(cuGraphExternalSemaphoresSignalNodeGetParams, cuGraphExternalSemaphoresSignalNodeGetParams, 11020, 0, (CUgraphNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, cuGraphExternalSemaphoresSignalNodeSetParams, 11020, 0, (CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresWaitNodeGetParams, cuGraphExternalSemaphoresWaitNodeGetParams, 11020, 0, (CUgraphNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, cuGraphExternalSemaphoresWaitNodeSetParams, 11020, 0, (CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *)) \
    X(cuGraphGetEdges, cuGraphGetEdges, 10000, 0, (CUgraph, CUgraphNode *, CUgraphNode *, size_t *)) \
    X(cuGraphGetEdges_v2, cuGraphGetEdges, 12030, 0, (CUgraph, CUgraphNode *, CUgraphNode *, CUgraphEdgeData *, size_t *)) \
    X(cuGraphGetNodes, cuGraphGetNodes, 10000, 0, (CUgraph, CUgraphNode *, size_t *)) \
    X(cuGraphGetRootNodes, cuGraphGetRootNodes, 10000, 0, (CUgraph, CUgraphNode *, size_t *)) \
    X(cuGraphHostNodeGetParams, cuGraphHostNodeGetParams, 10000, 0, (CUgraphNode, CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphHostNodeSetParams, cuGraphHostNodeSetParams, 10000, 0, (CUgraphNode, const CUDA_HOST_NODE_PARAMS *)) \
    X(cuGraphInstantiate, cuGraphInstantiate, 10000, 0, (CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t)) \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, 0, (CUgraphExec *, CUgraph, unsigned long long)) \
    X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, 0, (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *)) \
    X(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams, 12000, 1, (CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *)) \
    X(cuGraphInstantiate_v2, cuGraphInstantiate, 11000, 0, (CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t)) \
    X(cuGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, 11000, 0, (CUgraphNode, CUgraphNode)) \
    X(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, 11000, 0, (CUgraphNode, CUkernelNodeAttrID, CUkernelNodeAttrValue *)) \
    X(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams, 10000, 0, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1 *)) \
    X(cuGraphKernelNodeGetParams_v2, cuGraphKernelNodeGetParams, 12000, 0, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, 11000, 0, (CUgraphNode, CUkernelNodeAttrID, const CUkernelNodeAttrValue *)) \
    X(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams, 10000, 0, (CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *)) \
    X(cuGraphKernelNodeSetParams_v2, cuGraphKernelNodeSetParams, 12000, 0, (CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *)) \
    X(cuGraphLaunch, cuGraphLaunch, 10000, 0, (CUgraphExec, CUstream)) \
    X(cuGraphLaunch_ptsz, cuGraphLaunch, 10000, 1, (CUgraphExec, CUstream)) \
    X(cuGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams, 11040, 0, (CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *)) \
    X(cuGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams, 11040, 0, (CUgraphNode, CUdeviceptr *)) \
    X(cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams, 10000, 0, (CUgraphNode, CUDA_MEMCPY3D *)) \
    X(cuGraphMemcpyNodeSetParams, cuGraphMemcpyNodeSetParams, 10000, 0, (CUgraphNode, const CUDA_MEMCPY3D *)) \
    X(cuGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, 10000, 0, (CUgraphNode, CUDA_MEMSET_NODE_PARAMS *)) \
    X(cuGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, 10000, 0, (CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *)) \
    X(cuGraphNodeFindInClone, cuGraphNodeFindInClone, 10000, 0, (CUgraphNode *, CUgraphNode, CUgraph)) \
    X(cuGraphNodeGetDependencies, cuGraphNodeGetDependencies, 10000, 0, (CUgraphNode, CUgraphNode *, size_t *)) \
    X(cuGraphNodeGetDependencies_v2, cuGraphNodeGetDependencies, 12030, 0, (CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *)) \
    X(cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes, 10000, 0, (CUgraphNode, CUgraphNode *, size_t *)) \
    X(cuGraphNodeGetDependentNodes_v2, cuGraphNodeGetDependentNodes, 12030, 0, (CUgraphNode, CUgraphNode *, CUgraphEdgeData *, size_t *)) \
    X(cuGraphNodeGetEnabled, cuGraphNodeGetEnabled, 11060, 0, (CUgraphExec, CUgraphNode, unsigned int *)) \
    X(cuGraphNodeGetType, cuGraphNodeGetType, 10000, 0, (CUgraphNode, CUgraphNodeType *)) \
    X(cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060, 0, (CUgraphExec, CUgraphNode, unsigned int)) \
    X(cuGraphNodeSetParams, cuGraphNodeSetParams, 12020, 0, (CUgraphNode, CUgraphNodeParams *)) \
    X(cuGraphReleaseUserObject, cuGraphReleaseUserObject, 11030, 0, (CUgraph, CUuserObject, unsigned int)) \
    X(cuGraphRemoveDependencies, cuGraphRemoveDependencies, 10000, 0, (CUgraph, const CUgraphNode *, const CUgraphNode *, size_t)) \
    X(cuGraphRemoveDependencies_v2, cuGraphRemoveDependencies, 12030, 0, (CUgraph, const CUgraphNode *, const CUgraphNode *, const CUgraphEdgeData *, size_t)) \
    X(cuGraphRetainUserObject, cuGraphRetainUserObject, 11030, 0, (CUgraph, CUuserObject, unsigned int, unsigned int)) \
    X(cuGraphUpload, cuGraphUpload, 11010, 0, (CUgraphExec, CUstream)) \
    X(cuGraphUpload_ptsz, cuGraphUpload, 11010, 1, (CUgraphExec, CUstream)) \
    X(cuGraphicsMapResources, cuGraphicsMapResources, 3000, 0, (unsigned int, CUgraphicsResource *, CUstream)) \
    X(cuGraphicsMapResources_ptsz, cuGraphicsMapResources, 7000, 1, (unsigned int, CUgraphicsResource *, CUstream)) \
    X(cuGraphicsResourceGetMappedMipmappedArray, cuGraphicsResourceGetMappedMipmappedArray, 5000, 0, (CUmipmappedArray *, CUgraphicsResource)) \
    X(cuGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer, 3000, 0, (CUdeviceptr_v1 *, unsigned int *, CUgraphicsResource)) \
    X(cuGraphicsResourceGetMappedPointer_v2, cuGraphicsResourceGetMappedPointer, 3020, 0, (CUdeviceptr *, size_t *, CUgraphicsResource)) \
    X(cuGraphicsResourceSetMapFlags, cuGraphicsResourceSetMapFlags, 3000, 0, (CUgraphicsResource, unsigned int)) \
    X(cuGraphicsResourceSetMapFlags_v2, cuGraphicsResourceSetMapFlags, 6050, 0, (CUgraphicsResource, unsigned int)) \
    X(cuGraphicsSubResourceGetMappedArray, cuGraphicsSubResourceGetMappedArray, 3000, 0, (CUarray *, CUgraphicsResource, unsigned int, unsigned int)) \
    X(cuGraphicsUnmapResources, cuGraphicsUnmapResources, 3000, 0, (unsigned int, CUgraphicsResource *, CUstream)) \
    X(cuGraphicsUnmapResources_ptsz, cuGraphicsUnmapResources, 7000, 1, (unsigned int, CUgraphicsResource *, CUstream)) \
    X(cuGraphicsUnregisterResource, cuGraphicsUnregisterResource, 3000, 0, (CUgraphicsResource)) \
    X(cuGreenCtxCreate, cuGreenCtxCreate, 12040, 0, (CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned int)) \
    X(cuGreenCtxDestroy, cuGreenCtxDestroy, 12040, 0, (CUgreenCtx)) \
    X(cuGreenCtxGetDevResource, cuGreenCtxGetDevResource, 12040, 0, (CUgreenCtx, CUdevResource *, CUdevResourceType)) \
    X(cuGreenCtxGetId, cuGreenCtxGetId, 12090, 0, (CUgreenCtx, unsigned long long *)) \
    X(cuGreenCtxRecordEvent, cuGreenCtxRecordEvent, 12040, 0, (CUgreenCtx, CUevent)) \
    X(cuGreenCtxStreamCreate, cuGreenCtxStreamCreate, 12050, 0, (CUstream *, CUgreenCtx, unsigned int, int)) \
    X(cuGreenCtxWaitEvent, cuGreenCtxWaitEvent, 12040, 0, (CUgreenCtx, CUevent)) \
    X(cuImportExternalMemory, cuImportExternalMemory, 10000, 0, (CUexternalMemory *, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *)) \
    X(cuImportExternalSemaphore, cuImportExternalSemaphore, 10000, 0, (CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *)) \
    X(cuInit, cuInit, 2000, 0, (unsigned int)) \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, 4010, 0, (CUdeviceptr)) \
    X(cuIpcGetEventHandle, cuIpcGetEventHandle, 4010, 0, (CUipcEventHandle *, CUevent)) \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, 4010, 0, (CUipcMemHandle *, CUdeviceptr)) \
    X(cuIpcOpenEventHandle, cuIpcOpenEventHandle, 4010, 0, (CUevent *, CUipcEventHandle)) \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle, 4010, 0, (CUdeviceptr *, CUipcMemHandle, unsigned int)) \
    X(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle, 11000, 0, (CUdeviceptr *, CUipcMemHandle, unsigned int)) \
    X(cuKernelGetAttribute, cuKernelGetAttribute, 12000, 0, (int *, CUfunction_attribute, CUkernel, CUdevice)) \
    X(cuKernelGetFunction, cuKernelGetFunction, 12000, 0, (CUfunction *, CUkernel)) \
    X(cuKernelGetLibrary, cuKernelGetLibrary, 12050, 0, (CUlibrary *, CUkernel)) \
    X(cuKernelGetName, cuKernelGetName, 12030, 0, (const char **, CUkernel)) \
    X(cuKernelGetParamInfo, cuKernelGetParamInfo, 12040, 0, (CUkernel, size_t, size_t *, size_t *)) \
    X(cuKernelSetAttribute, cuKernelSetAttribute, 12000, 0, (CUfunction_attribute, int, CUkernel, CUdevice)) \
    X(cuKernelSetCacheConfig, cuKernelSetCacheConfig, 12000, 0, (CUkernel, CUfunc_cache, CUdevice)) \
    X(cuLaunch, cuLaunch, 2000, 0, (CUfunction)) \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000, 0, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **)) \
    X(cuLaunchCooperativeKernelMultiDevice, cuLaunchCooperativeKernelMultiDevice, 9000, 0, (CUDA_LAUNCH_PARAMS *, unsigned int, unsigned int)) \
    X(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel, 9000, 1, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **)) \
    X(cuLaunchGrid, cuLaunchGrid, 2000, 0, (CUfunction, int, int)) \
    X(cuLaunchGridAsync, cuLaunchGridAsync, 2000, 0, (CUfunction, int, int, CUstream)) \
    X(cuLaunchHostFunc, cuLaunchHostFunc, 10000, 0, (CUstream, CUhostFn, void *)) \
    X(cuLaunchHostFunc_ptsz, cuLaunchHostFunc, 10000, 1, (CUstream, CUhostFn, void *)) \
    X(cuLaunchKernel, cuLaunchKernel, 4000, 0, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **)) \
    X(cuLaunchKernelEx, cuLaunchKernelEx, 11060, 0, (const CUlaunchConfig *, CUfunction, void **, void **)) \
    X(cuLaunchKernelEx_ptsz, cuLaunchKernelEx, 11060, 1, (const CUlaunchConfig *, CUfunction, void **, void **)) \
    X(cuLaunchKernel_ptsz, cuLaunchKernel, 7000, 1, (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, void **, void **)) \
    X(cuLibraryEnumerateKernels, cuLibraryEnumerateKernels, 12040, 0, (CUkernel *, unsigned int, CUlibrary)) \
    X(cuLibraryGetGlobal, cuLibraryGetGlobal, 12000, 0, (CUdeviceptr *, size_t *, CUlibrary, const char *)) \
    X(cuLibraryGetKernel, cuLibraryGetKernel, 12000, 0, (CUkernel *, CUlibrary, const char *)) \
    X(cuLibraryGetKernelCount, cuLibraryGetKernelCount, 12040, 0, (unsigned int *, CUlibrary)) \
    X(cuLibraryGetManaged, cuLibraryGetManaged, 12000, 0, (CUdeviceptr *, size_t *, CUlibrary, const char *)) \
    X(cuLibraryGetModule, cuLibraryGetModule, 12000, 0, (CUmodule *, CUlibrary)) \
    X(cuLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction, 12000, 0, (void **, CUlibrary, const char *)) \
    X(cuLibraryLoadData, cuLibraryLoadData, 12000, 0, (CUlibrary *, const void *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int)) \
    X(cuLibraryLoadFromFile, cuLibraryLoadFromFile, 12000, 0, (CUlibrary *, const char *, CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int)) \
    X(cuLibraryUnload, cuLibraryUnload, 12000, 0, (CUlibrary)) \
    X(cuLinkAddData, cuLinkAddData, 5050, 0, (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **)) \
    X(cuLinkAddData_v2, cuLinkAddData, 6050, 0, (CUlinkState, CUjitInputType, void *, size_t, const char *, unsigned int, CUjit_option *, void **)) \
    X(cuLinkAddFile, cuLinkAddFile, 5050, 0, (CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **)) \
    X(cuLinkAddFile_v2, cuLinkAddFile, 6050, 0, (CUlinkState, CUjitInputType, const char *, unsigned int, CUjit_option *, void **)) \
    X(cuLinkComplete, cuLinkComplete, 5050, 0, (CUlinkState, void **, size_t *)) \
    X(cuLinkCreate, cuLinkCreate, 5050, 0, (unsigned int, CUjit_option *, void **, CUlinkState *)) \
    X(cuLinkCreate_v2, cuLinkCreate, 6050, 0, (unsigned int, CUjit_option *, void **, CUlinkState *)) \
    X(cuLinkDestroy, cuLinkDestroy, 5050, 0, (CUlinkState)) \
    X(cuLogsCurrent, cuLogsCurrent, 12090, 0, (CUlogIterator *, unsigned int)) \
    X(cuLogsDumpToFile, cuLogsDumpToFile, 12090, 0, (CUlogIterator *, const char *, unsigned int)) \
    X(cuLogsDumpToMemory, cuLogsDumpToMemory, 12090, 0, (CUlogIterator *, char *, size_t *, unsigned int)) \
    X(cuLogsRegisterCallback, cuLogsRegisterCallback, 12090, 0, (CUlogsCallback, void *, CUlogsCallbackHandle *)) \
    X(cuLogsUnregisterCallback, cuLogsUnregisterCallback, 12090, 0, (CUlogsCallbackHandle)) \
    X(cuMemAddressFree, cuMemAddressFree, 10020, 0, (CUdeviceptr, size_t)) \
    X(cuMemAddressReserve, cuMemAddressReserve, 10020, 0, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long)) \
    X(cuMemAdvise, cuMemAdvise, 8000, 0, (CUdeviceptr, size_t, CUmem_advise, CUdevice)) \
    X(cuMemAdvise_v2, cuMemAdvise, 12020, 0, (CUdeviceptr, size_t, CUmem_advise, CUmemLocation)) \
    X(cuMemAlloc, cuMemAlloc, 2000, 0, (CUdeviceptr_v1 *, unsigned int)) \
    X(cuMemAllocAsync, cuMemAllocAsync, 11020, 0, (CUdeviceptr *, size_t, CUstream)) \
    X(cuMemAllocAsync_ptsz, cuMemAllocAsync, 11020, 1, (CUdeviceptr *, size_t, CUstream)) \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020, 0, (CUdeviceptr *, size_t, CUmemoryPool, CUstream)) \
    X(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync, 11020, 1, (CUdeviceptr *, size_t, CUmemoryPool, CUstream)) \
    X(cuMemAllocHost, cuMemAllocHost, 2000, 0, (void **, unsigned int)) \
    X(cuMemAllocHost_v2, cuMemAllocHost, 3020, 0, (void **, size_t)) \
    X(cuMemAllocManaged, cuMemAllocManaged, 6000, 0, (CUdeviceptr *, size_t, unsigned int)) \
    X(cuMemAllocPitch, cuMemAllocPitch, 2000, 0, (CUdeviceptr_v1 *, unsigned int *, unsigned int, unsigned int, unsigned int)) \
    X(cuMemAllocPitch_v2, cuMemAllocPitch, 3020, 0, (CUdeviceptr *, size_t *, size_t, size_t, unsigned int)) \
    X(cuMemAlloc_v2, cuMemAlloc, 3020, 0, (CUdeviceptr *, size_t)) \
    X(cuMemBatchDecompressAsync, cuMemBatchDecompressAsync, 12060, 0, (CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream)) \
    X(cuMemBatchDecompressAsync_ptsz, cuMemBatchDecompressAsync, 12060, 1, (CUmemDecompressParams *, size_t, unsigned int, size_t *, CUstream)) \
    X(cuMemCreate, cuMemCreate, 10020, 0, (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long)) \
    X(cuMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync, 13000, 0, (CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemDiscardAndPrefetchBatchAsync_ptsz, cuMemDiscardAndPrefetchBatchAsync, 13000, 1, (CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemDiscardBatchAsync, cuMemDiscardBatchAsync, 13000, 0, (CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemDiscardBatchAsync_ptsz, cuMemDiscardBatchAsync, 13000, 1, (CUdeviceptr *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle, 10020, 0, (void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long)) \
    X(cuMemFree, cuMemFree, 2000, 0, (CUdeviceptr_v1)) \
    X(cuMemFreeAsync, cuMemFreeAsync, 11020, 0, (CUdeviceptr, CUstream)) \
    X(cuMemFreeAsync_ptsz, cuMemFreeAsync, 11020, 1, (CUdeviceptr, CUstream)) \
    X(cuMemFreeHost, cuMemFreeHost, 2000, 0, (void *)) \
    X(cuMemFree_v2, cuMemFree, 3020, 0, (CUdeviceptr)) \
    X(cuMemGetAccess, cuMemGetAccess, 10020, 0, (unsigned long long *, const CUmemLocation *, CUdeviceptr)) \
    X(cuMemGetAddressRange, cuMemGetAddressRange, 2000, 0, (CUdeviceptr_v1 *, unsigned int *, CUdeviceptr_v1)) \
    X(cuMemGetAddressRange_v2, cuMemGetAddressRange, 3020, 0, (CUdeviceptr *, size_t *, CUdeviceptr)) \
    X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, 10020, 0, (size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags)) \
    X(cuMemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle, 10020, 0, (CUmemAllocationProp *, CUmemGenericAllocationHandle)) \
    X(cuMemGetDefaultMemPool, cuMemGetDefaultMemPool, 13000, 0, (CUmemoryPool *, CUmemLocation *, CUmemAllocationType)) \
    X(cuMemGetHandleForAddressRange, cuMemGetHandleForAddressRange, 11070, 0, (void *, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long)) \
    X(cuMemGetInfo, cuMemGetInfo, 2000, 0, (unsigned int *, unsigned int *)) \
    X(cuMemGetInfo_v2, cuMemGetInfo, 3020, 0, (size_t *, size_t *)) \
    X(cuMemGetMemPool, cuMemGetMemPool, 13000, 0, (CUmemoryPool *, CUmemLocation *, CUmemAllocationType)) \
    X(cuMemHostAlloc, cuMemHostAlloc, 2020, 0, (void **, size_t, unsigned int)) \
    X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer, 2020, 0, (CUdeviceptr_v1 *, void *, unsigned int)) \
    X(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer, 3020, 0, (CUdeviceptr *, void *, unsigned int)) \
    X(cuMemHostGetFlags, cuMemHostGetFlags, 2030, 0, (unsigned int *, void *)) \
    X(cuMemHostRegister, cuMemHostRegister, 4000, 0, (void *, size_t, unsigned int)) \
    X(cuMemHostRegister_v2, cuMemHostRegister, 6050, 0, (void *, size_t, unsigned int)) \
    X(cuMemHostUnregister, cuMemHostUnregister, 4000, 0, (void *)) \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle, 10020, 0, (CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType)) \
    X(cuMemMap, cuMemMap, 10020, 0, (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)) \
    X(cuMemMapArrayAsync, cuMemMapArrayAsync, 11010, 0, (CUarrayMapInfo *, unsigned int, CUstream)) \
    X(cuMemMapArrayAsync_ptsz, cuMemMapArrayAsync, 11010, 1, (CUarrayMapInfo *, unsigned int, CUstream)) \
    X(cuMemPoolCreate, cuMemPoolCreate, 11020, 0, (CUmemoryPool *, const CUmemPoolProps *)) \
    X(cuMemPoolDestroy, cuMemPoolDestroy, 11020, 0, (CUmemoryPool)) \
    X(cuMemPoolExportPointer, cuMemPoolExportPointer, 11020, 0, (CUmemPoolPtrExportData *, CUdeviceptr)) \
    X(cuMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle, 11020, 0, (void *, CUmemoryPool, CUmemAllocationHandleType, unsigned long long)) \
    X(cuMemPoolGetAccess, cuMemPoolGetAccess, 11020, 0, (CUmemAccess_flags *, CUmemoryPool, CUmemLocation *)) \
    X(cuMemPoolGetAttribute, cuMemPoolGetAttribute, 11020, 0, (CUmemoryPool, CUmemPool_attribute, void *)) \
    X(cuMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle, 11020, 0, (CUmemoryPool *, void *, CUmemAllocationHandleType, unsigned long long)) \
    X(cuMemPoolImportPointer, cuMemPoolImportPointer, 11020, 0, (CUdeviceptr *, CUmemoryPool, CUmemPoolPtrExportData *)) \
    X(cuMemPoolSetAccess, cuMemPoolSetAccess, 11020, 0, (CUmemoryPool, const CUmemAccessDesc *, size_t)) \
    X(cuMemPoolSetAttribute, cuMemPoolSetAttribute, 11020, 0, (CUmemoryPool, CUmemPool_attribute, void *)) \
    X(cuMemPoolTrimTo, cuMemPoolTrimTo, 11020, 0, (CUmemoryPool, size_t)) \
    X(cuMemPrefetchAsync, cuMemPrefetchAsync, 8000, 0, (CUdeviceptr, size_t, CUdevice, CUstream)) \
    X(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync, 8000, 1, (CUdeviceptr, size_t, CUdevice, CUstream)) \
    X(cuMemPrefetchAsync_v2, cuMemPrefetchAsync, 12020, 0, (CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream)) \
    X(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync, 12020, 1, (CUdeviceptr, size_t, CUmemLocation, unsigned int, CUstream)) \
    X(cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync, 13000, 0, (CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemPrefetchBatchAsync_ptsz, cuMemPrefetchBatchAsync, 13000, 1, (CUdeviceptr *, size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream)) \
    X(cuMemRangeGetAttribute, cuMemRangeGetAttribute, 8000, 0, (void *, size_t, CUmem_range_attribute, CUdeviceptr, size_t)) \
    X(cuMemRangeGetAttributes, cuMemRangeGetAttributes, 8000, 0, (void **, size_t *, CUmem_range_attribute *, size_t, CUdeviceptr, size_t)) \
    X(cuMemRelease, cuMemRelease, 10020, 0, (CUmemGenericAllocationHandle)) \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000, 0, (CUmemGenericAllocationHandle *, void *)) \
    X(cuMemSetAccess, cuMemSetAccess, 10020, 0, (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t)) \
    X(cuMemSetMemPool, cuMemSetMemPool, 13000, 0, (CUmemLocation *, CUmemAllocationType, CUmemoryPool)) \
    X(cuMemUnmap, cuMemUnmap, 10020, 0, (CUdeviceptr, size_t)) \
    X(cuMemcpy, cuMemcpy, 4000, 0, (CUdeviceptr, CUdeviceptr, size_t)) \
    X(cuMemcpy2D, cuMemcpy2D, 2000, 0, (const CUDA_MEMCPY2D_v1 *)) \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync, 2000, 0, (const CUDA_MEMCPY2D_v1 *, CUstream)) \
    X(cuMemcpy2DAsync_v2, cuMemcpy2DAsync, 3020, 0, (const CUDA_MEMCPY2D *, CUstream)) \
    X(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync, 7000, 1, (const CUDA_MEMCPY2D *, CUstream)) \
    X(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned, 2000, 0, (const CUDA_MEMCPY2D_v1 *)) \
    X(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned, 3020, 0, (const CUDA_MEMCPY2D *)) \
    X(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned, 7000, 1, (const CUDA_MEMCPY2D *)) \
    X(cuMemcpy2D_v2, cuMemcpy2D, 3020, 0, (const CUDA_MEMCPY2D *)) \
    X(cuMemcpy2D_v2_ptds, cuMemcpy2D, 7000, 1, (const CUDA_MEMCPY2D *)) \
    X(cuMemcpy3D, cuMemcpy3D, 2000, 0, (const CUDA_MEMCPY3D_v1 *)) \
    X(cuMemcpy3DAsync, cuMemcpy3DAsync, 2000, 0, (const CUDA_MEMCPY3D_v1 *, CUstream)) \
    X(cuMemcpy3DAsync_v2, cuMemcpy3DAsync, 3020, 0, (const CUDA_MEMCPY3D *, CUstream)) \
    X(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync, 7000, 1, (const CUDA_MEMCPY3D *, CUstream)) \
    X(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync, 12080, 0, (size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream)) \
    X(cuMemcpy3DBatchAsync_ptsz, cuMemcpy3DBatchAsync, 12080, 1, (size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream)) \
    X(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync, 13000, 0, (size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream)) \
    X(cuMemcpy3DBatchAsync_v2_ptsz, cuMemcpy3DBatchAsync, 13000, 1, (size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream)) \
    X(cuMemcpy3DPeer, cuMemcpy3DPeer, 4000, 0, (const CUDA_MEMCPY3D_PEER *)) \
    X(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync, 4000, 0, (const CUDA_MEMCPY3D_PEER *, CUstream)) \
    X(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync, 7000, 1, (const CUDA_MEMCPY3D_PEER *, CUstream)) \
    X(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer, 7000, 1, (const CUDA_MEMCPY3D_PEER *)) \
    X(cuMemcpy3D_v2, cuMemcpy3D, 3020, 0, (const CUDA_MEMCPY3D *)) \
    X(cuMemcpy3D_v2_ptds, cuMemcpy3D, 7000, 1, (const CUDA_MEMCPY3D *)) \
    X(cuMemcpyAsync, cuMemcpyAsync, 4000, 0, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyAsync_ptsz, cuMemcpyAsync, 7000, 1, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyAtoA, cuMemcpyAtoA, 2000, 0, (CUarray, unsigned int, CUarray, unsigned int, unsigned int)) \
    X(cuMemcpyAtoA_v2, cuMemcpyAtoA, 3020, 0, (CUarray, size_t, CUarray, size_t, size_t)) \
    X(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA, 7000, 1, (CUarray, size_t, CUarray, size_t, size_t)) \
    X(cuMemcpyAtoD, cuMemcpyAtoD, 2000, 0, (CUdeviceptr_v1, CUarray, unsigned int, unsigned int)) \
    X(cuMemcpyAtoD_v2, cuMemcpyAtoD, 3020, 0, (CUdeviceptr, CUarray, size_t, size_t)) \
    X(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD, 7000, 1, (CUdeviceptr, CUarray, size_t, size_t)) \
    X(cuMemcpyAtoH, cuMemcpyAtoH, 2000, 0, (void *, CUarray, unsigned int, unsigned int)) \
    X(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync, 2000, 0, (void *, CUarray, unsigned int, unsigned int, CUstream)) \
    X(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync, 3020, 0, (void *, CUarray, size_t, size_t, CUstream)) \
    X(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync, 7000, 1, (void *, CUarray, size_t, size_t, CUstream)) \
    X(cuMemcpyAtoH_v2, cuMemcpyAtoH, 3020, 0, (void *, CUarray, size_t, size_t)) \
    X(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH, 7000, 1, (void *, CUarray, size_t, size_t)) \
    X(cuMemcpyBatchAsync, cuMemcpyBatchAsync, 12080, 0, (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream)) \
    X(cuMemcpyBatchAsync_ptsz, cuMemcpyBatchAsync, 12080, 1, (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream)) \
    X(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync, 13000, 0, (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream)) \
    X(cuMemcpyBatchAsync_v2_ptsz, cuMemcpyBatchAsync, 13000, 1, (CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream)) \
    X(cuMemcpyDtoA, cuMemcpyDtoA, 2000, 0, (CUarray, unsigned int, CUdeviceptr_v1, unsigned int)) \
    X(cuMemcpyDtoA_v2, cuMemcpyDtoA, 3020, 0, (CUarray, size_t, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA, 7000, 1, (CUarray, size_t, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoD, cuMemcpyDtoD, 2000, 0, (CUdeviceptr_v1, CUdeviceptr_v1, unsigned int)) \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync, 3000, 0, (CUdeviceptr_v1, CUdeviceptr_v1, unsigned int, CUstream)) \
    X(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync, 3020, 0, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync, 7000, 1, (CUdeviceptr, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyDtoD_v2, cuMemcpyDtoD, 3020, 0, (CUdeviceptr, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD, 7000, 1, (CUdeviceptr, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoH, cuMemcpyDtoH, 2000, 0, (void *, CUdeviceptr_v1, unsigned int)) \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync, 2000, 0, (void *, CUdeviceptr_v1, unsigned int, CUstream)) \
    X(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync, 3020, 0, (void *, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync, 7000, 1, (void *, CUdeviceptr, size_t, CUstream)) \
    X(cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020, 0, (void *, CUdeviceptr, size_t)) \
    X(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH, 7000, 1, (void *, CUdeviceptr, size_t)) \
    X(cuMemcpyHtoA, cuMemcpyHtoA, 2000, 0, (CUarray, unsigned int, const void *, unsigned int)) \
    X(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync, 2000, 0, (CUarray, unsigned int, const void *, unsigned int, CUstream)) \
    X(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync, 3020, 0, (CUarray, size_t, const void *, size_t, CUstream)) \
    X(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync, 7000, 1, (CUarray, size_t, const void *, size_t, CUstream)) \
    X(cuMemcpyHtoA_v2, cuMemcpyHtoA, 3020, 0, (CUarray, size_t, const void *, size_t)) \
    X(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA, 7000, 1, (CUarray, size_t, const void *, size_t)) \
    X(cuMemcpyHtoD, cuMemcpyHtoD, 2000, 0, (CUdeviceptr_v1, const void *, unsigned int)) \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync, 2000, 0, (CUdeviceptr_v1, const void *, unsigned int, CUstream)) \
    X(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync, 3020, 0, (CUdeviceptr, const void *, size_t, CUstream)) \
    X(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync, 7000, 1, (CUdeviceptr, const void *, size_t, CUstream)) \
    X(cuMemcpyHtoD_v2, cuMemcpyHtoD, 3020, 0, (CUdeviceptr, const void *, size_t)) \
    X(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD, 7000, 1, (CUdeviceptr, const void *, size_t)) \
    X(cuMemcpyPeer, cuMemcpyPeer, 4000, 0, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t)) \
    X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, 4000, 0, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)) \
    X(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync, 7000, 1, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream)) \
    X(cuMemcpyPeer_ptds, cuMemcpyPeer, 7000, 1, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t)) \
    X(cuMemcpy_ptds, cuMemcpy, 7000, 1, (CUdeviceptr, CUdeviceptr, size_t)) \
    X(cuMemsetD16, cuMemsetD16, 2000, 0, (CUdeviceptr_v1, unsigned short, unsigned int)) \
    X(cuMemsetD16Async, cuMemsetD16Async, 3020, 0, (CUdeviceptr, unsigned short, size_t, CUstream)) \
    X(cuMemsetD16Async_ptsz, cuMemsetD16Async, 7000, 1, (CUdeviceptr, unsigned short, size_t, CUstream)) \
    X(cuMemsetD16_v2, cuMemsetD16, 3020, 0, (CUdeviceptr, unsigned short, size_t)) \
    X(cuMemsetD16_v2_ptds, cuMemsetD16, 7000, 1, (CUdeviceptr, unsigned short, size_t)) \
    X(cuMemsetD2D16, cuMemsetD2D16, 2000, 0, (CUdeviceptr_v1, unsigned int, unsigned short, unsigned int, unsigned int)) \
    X(cuMemsetD2D16Async, cuMemsetD2D16Async, 3020, 0, (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream)) \
    X(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async, 7000, 1, (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream)) \
    X(cuMemsetD2D16_v2, cuMemsetD2D16, 3020, 0, (CUdeviceptr, size_t, unsigned short, size_t, size_t)) \
    X(cuMemsetD2D16_v2_ptds, cuMemsetD2D16, 7000, 1, (CUdeviceptr, size_t, unsigned short, size_t, size_t)) \
    X(cuMemsetD2D32, cuMemsetD2D32, 2000, 0, (CUdeviceptr_v1, unsigned int, unsigned int, unsigned int, unsigned int)) \
    X(cuMemsetD2D32Async, cuMemsetD2D32Async, 3020, 0, (CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream)) \
    X(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async, 7000, 1, (CUdeviceptr, size_t, unsigned int, size_t, size_t, CUstream)) \
    X(cuMemsetD2D32_v2, cuMemsetD2D32, 3020, 0, (CUdeviceptr, size_t, unsigned int, size_t, size_t)) \
    X(cuMemsetD2D32_v2_ptds, cuMemsetD2D32, 7000, 1, (CUdeviceptr, size_t, unsigned int, size_t, size_t)) \
    X(cuMemsetD2D8, cuMemsetD2D8, 2000, 0, (CUdeviceptr_v1, unsigned int, unsigned char, unsigned int, unsigned int)) \
    X(cuMemsetD2D8Async, cuMemsetD2D8Async, 3020, 0, (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream)) \
    X(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async, 7000, 1, (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream)) \
    X(cuMemsetD2D8_v2, cuMemsetD2D8, 3020, 0, (CUdeviceptr, size_t, unsigned char, size_t, size_t)) \
    X(cuMemsetD2D8_v2_ptds, cuMemsetD2D8, 7000, 1, (CUdeviceptr, size_t, unsigned char, size_t, size_t)) \
    X(cuMemsetD32, cuMemsetD32, 2000, 0, (CUdeviceptr_v1, unsigned int, unsigned int)) \
    X(cuMemsetD32Async, cuMemsetD32Async, 3020, 0, (CUdeviceptr, unsigned int, size_t, CUstream)) \
    X(cuMemsetD32Async_ptsz, cuMemsetD32Async, 7000, 1, (CUdeviceptr, unsigned int, size_t, CUstream)) \
    X(cuMemsetD32_v2, cuMemsetD32, 3020, 0, (CUdeviceptr, unsigned int, size_t)) \
    X(cuMemsetD32_v2_ptds, cuMemsetD32, 7000, 1, (CUdeviceptr, unsigned int, size_t)) \
    X(cuMemsetD8, cuMemsetD8, 2000, 0, (CUdeviceptr_v1, unsigned char, unsigned int)) \
    X(cuMemsetD8Async, cuMemsetD8Async, 3020, 0, (CUdeviceptr, unsigned char, size_t, CUstream)) \
    X(cuMemsetD8Async_ptsz, cuMemsetD8Async, 7000, 1, (CUdeviceptr, unsigned char, size_t, CUstream)) \
    X(cuMemsetD8_v2, cuMemsetD8, 3020, 0, (CUdeviceptr, unsigned char, size_t)) \
    X(cuMemsetD8_v2_ptds, cuMemsetD8, 7000, 1, (CUdeviceptr, unsigned char, size_t)) \
    X(cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000, 0, (CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int)) \
    X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000, 0, (CUmipmappedArray)) \
    X(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel, 5000, 0, (CUarray *, CUmipmappedArray, unsigned int)) \
    X(cuMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements, 11060, 0, (CUDA_ARRAY_MEMORY_REQUIREMENTS *, CUmipmappedArray, CUdevice)) \
    X(cuMipmappedArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties, 11010, 0, (CUDA_ARRAY_SPARSE_PROPERTIES *, CUmipmappedArray)) \
    X(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions, 12040, 0, (CUfunction *, unsigned int, CUmodule)) \
    X(cuModuleGetFunction, cuModuleGetFunction, 2000, 0, (CUfunction *, CUmodule, const char *)) \
    X(cuModuleGetFunctionCount, cuModuleGetFunctionCount, 12040, 0, (unsigned int *, CUmodule)) \
    X(cuModuleGetGlobal, cuModuleGetGlobal, 2000, 0, (CUdeviceptr_v1 *, unsigned int *, CUmodule, const char *)) \
    X(cuModuleGetGlobal_v2, cuModuleGetGlobal, 3020, 0, (CUdeviceptr *, size_t *, CUmodule, const char *)) \
    X(cuModuleGetLoadingMode, cuModuleGetLoadingMode, 11070, 0, (CUmoduleLoadingMode *)) \
    X(cuModuleGetSurfRef, cuModuleGetSurfRef, 3000, 0, (CUsurfref *, CUmodule, const char *)) \
    X(cuModuleGetTexRef, cuModuleGetTexRef, 2000, 0, (CUtexref *, CUmodule, const char *)) \
    X(cuModuleLoad, cuModuleLoad, 2000, 0, (CUmodule *, const char *)) \
    X(cuModuleLoadData, cuModuleLoadData, 2000, 0, (CUmodule *, const void *)) \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010, 0, (CUmodule *, const void *, unsigned int, CUjit_option *, void **)) \
    X(cuModuleLoadFatBinary, cuModuleLoadFatBinary, 2000, 0, (CUmodule *, const void *)) \
    X(cuModuleUnload, cuModuleUnload, 2000, 0, (CUmodule)) \
    X(cuMulticastAddDevice, cuMulticastAddDevice, 12010, 0, (CUmemGenericAllocationHandle, CUdevice)) \
    X(cuMulticastBindAddr, cuMulticastBindAddr, 12010, 0, (CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long)) \
    X(cuMulticastBindMem, cuMulticastBindMem, 12010, 0, (CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long)) \
    X(cuMulticastCreate, cuMulticastCreate, 12010, 0, (CUmemGenericAllocationHandle *, const CUmulticastObjectProp *)) \
    X(cuMulticastGetGranularity, cuMulticastGetGranularity, 12010, 0, (size_t *, const CUmulticastObjectProp *, CUmulticastGranularity_flags)) \
    X(cuMulticastUnbind, cuMulticastUnbind, 12010, 0, (CUmemGenericAllocationHandle, CUdevice, size_t, size_t)) \
    X(cuOccupancyAvailableDynamicSMemPerBlock, cuOccupancyAvailableDynamicSMemPerBlock, 10020, 0, (size_t *, CUfunction, int, int)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, 0, (int *, CUfunction, int, size_t)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, 0, (int *, CUfunction, int, size_t, unsigned int)) \
    X(cuOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters, 11070, 0, (int *, CUfunction, const CUlaunchConfig *)) \
    X(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, 6050, 0, (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int)) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags, cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, 0, (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int, unsigned int)) \
    X(cuOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize, 11070, 0, (int *, CUfunction, const CUlaunchConfig *)) \
    X(cuParamSetSize, cuParamSetSize, 2000, 0, (CUfunction, unsigned int)) \
    X(cuParamSetTexRef, cuParamSetTexRef, 2000, 0, (CUfunction, int, CUtexref)) \
    X(cuParamSetf, cuParamSetf, 2000, 0, (CUfunction, int, float)) \
    X(cuParamSeti, cuParamSeti, 2000, 0, (CUfunction, int, unsigned int)) \
    X(cuParamSetv, cuParamSetv, 2000, 0, (CUfunction, int, void *, unsigned int)) \
    X(cuPointerGetAttribute, cuPointerGetAttribute, 4000, 0, (void *, CUpointer_attribute, CUdeviceptr)) \
    X(cuPointerGetAttributes, cuPointerGetAttributes, 7000, 0, (unsigned int, CUpointer_attribute *, void **, CUdeviceptr)) \
    X(cuPointerSetAttribute, cuPointerSetAttribute, 6000, 0, (const void *, CUpointer_attribute, CUdeviceptr)) \
    X(cuProfilerInitialize, cuProfilerInitialize, 4000, 0, (const char *, const char *, CUoutput_mode)) \
    X(cuProfilerStart, cuProfilerStart, 4000, 0, (void)) \
    X(cuProfilerStop, cuProfilerStop, 4000, 0, (void)) \
    X(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync, 10000, 0, (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream)) \
    X(cuSignalExternalSemaphoresAsync_ptsz, cuSignalExternalSemaphoresAsync, 10000, 1, (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream)) \
    X(cuStreamAddCallback, cuStreamAddCallback, 5000, 0, (CUstream, CUstreamCallback, void *, unsigned int)) \
    X(cuStreamAddCallback_ptsz, cuStreamAddCallback, 7000, 1, (CUstream, CUstreamCallback, void *, unsigned int)) \
    X(cuStreamAttachMemAsync, cuStreamAttachMemAsync, 6000, 0, (CUstream, CUdeviceptr, size_t, unsigned int)) \
    X(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync, 7000, 1, (CUstream, CUdeviceptr, size_t, unsigned int)) \
    X(cuStreamBatchMemOp, cuStreamBatchMemOp, 8000, 0, (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int)) \
    X(cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp, 8000, 1, (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int)) \
    X(cuStreamBatchMemOp_v2, cuStreamBatchMemOp, 11070, 0, (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int)) \
    X(cuStreamBatchMemOp_v2_ptsz, cuStreamBatchMemOp, 11070, 1, (CUstream, unsigned int, CUstreamBatchMemOpParams *, unsigned int)) \
    X(cuStreamBeginCapture, cuStreamBeginCapture, 10000, 0, (CUstream)) \
    X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030, 0, (CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode)) \
    X(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph, 12030, 1, (CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode)) \
    X(cuStreamBeginCapture_ptsz, cuStreamBeginCapture, 10000, 1, (CUstream)) \
    X(cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010, 0, (CUstream, CUstreamCaptureMode)) \
    X(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture, 10010, 1, (CUstream, CUstreamCaptureMode)) \
    X(cuStreamCopyAttributes, cuStreamCopyAttributes, 11000, 0, (CUstream, CUstream)) \
    X(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes, 11000, 1, (CUstream, CUstream)) \
    X(cuStreamCreate, cuStreamCreate, 2000, 0, (CUstream *, unsigned int)) \
    X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050, 0, (CUstream *, unsigned int, int)) \
    X(cuStreamDestroy, cuStreamDestroy, 2000, 0, (CUstream)) \
    X(cuStreamDestroy_v2, cuStreamDestroy, 4000, 0, (CUstream)) \
    X(cuStreamEndCapture, cuStreamEndCapture, 10000, 0, (CUstream, CUgraph *)) \
    X(cuStreamEndCapture_ptsz, cuStreamEndCapture, 10000, 1, (CUstream, CUgraph *)) \
    X(cuStreamGetAttribute, cuStreamGetAttribute, 11000, 0, (CUstream, CUstreamAttrID, CUstreamAttrValue *)) \
    X(cuStreamGetAttribute_ptsz, cuStreamGetAttribute, 11000, 1, (CUstream, CUstreamAttrID, CUstreamAttrValue *)) \
    X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo, 10010, 0, (CUstream, CUstreamCaptureStatus *, cuuint64_t *)) \
    X(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo, 10010, 1, (CUstream, CUstreamCaptureStatus *, cuuint64_t *)) \
    X(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo, 11030, 0, (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *)) \
    X(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo, 11030, 1, (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *)) \
    X(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo, 12030, 0, (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *)) \
    X(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo, 12030, 1, (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, const CUgraphEdgeData **, size_t *)) \
    X(cuStreamGetCtx, cuStreamGetCtx, 9020, 0, (CUstream, CUcontext *)) \
    X(cuStreamGetCtx_ptsz, cuStreamGetCtx, 9020, 1, (CUstream, CUcontext *)) \
    X(cuStreamGetCtx_v2, cuStreamGetCtx, 12050, 0, (CUstream, CUcontext *, CUgreenCtx *)) \
    X(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx, 12050, 1, (CUstream, CUcontext *, CUgreenCtx *)) \
    X(cuStreamGetDevice, cuStreamGetDevice, 12080, 0, (CUstream, CUdevice *)) \
    X(cuStreamGetDevice_ptsz, cuStreamGetDevice, 12080, 1, (CUstream, CUdevice *)) \
    X(cuStreamGetFlags, cuStreamGetFlags, 5050, 0, (CUstream, unsigned int *)) \
    X(cuStreamGetFlags_ptsz, cuStreamGetFlags, 7000, 1, (CUstream, unsigned int *)) \
    X(cuStreamGetGreenCtx, cuStreamGetGreenCtx, 12040, 0, (CUstream, CUgreenCtx *)) \
    X(cuStreamGetId, cuStreamGetId, 12000, 0, (CUstream, unsigned long long *)) \
    X(cuStreamGetId_ptsz, cuStreamGetId, 12000, 1, (CUstream, unsigned long long *)) \
    X(cuStreamGetPriority, cuStreamGetPriority, 5050, 0, (CUstream, int *)) \
    X(cuStreamGetPriority_ptsz, cuStreamGetPriority, 7000, 1, (CUstream, int *)) \
    X(cuStreamIsCapturing, cuStreamIsCapturing, 10000, 0, (CUstream, CUstreamCaptureStatus *)) \
    X(cuStreamIsCapturing_ptsz, cuStreamIsCapturing, 10000, 1, (CUstream, CUstreamCaptureStatus *)) \
    X(cuStreamQuery, cuStreamQuery, 2000, 0, (CUstream)) \
    X(cuStreamQuery_ptsz, cuStreamQuery, 7000, 1, (CUstream)) \
    X(cuStreamSetAttribute, cuStreamSetAttribute, 11000, 0, (CUstream, CUstreamAttrID, const CUstreamAttrValue *)) \
    X(cuStreamSetAttribute_ptsz, cuStreamSetAttribute, 11000, 1, (CUstream, CUstreamAttrID, const CUstreamAttrValue *)) \
    X(cuStreamSynchronize, cuStreamSynchronize, 2000, 0, (CUstream)) \
    X(cuStreamSynchronize_ptsz, cuStreamSynchronize, 7000, 1, (CUstream)) \
    X(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies, 11030, 0, (CUstream, CUgraphNode *, size_t, unsigned int)) \
    X(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies, 11030, 1, (CUstream, CUgraphNode *, size_t, unsigned int)) \
    X(cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies, 12030, 0, (CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int)) \
    X(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies, 12030, 1, (CUstream, CUgraphNode *, const CUgraphEdgeData *, size_t, unsigned int)) \
    X(cuStreamWaitEvent, cuStreamWaitEvent, 3020, 0, (CUstream, CUevent, unsigned int)) \
    X(cuStreamWaitEvent_ptsz, cuStreamWaitEvent, 7000, 1, (CUstream, CUevent, unsigned int)) \
    X(cuStreamWaitValue32, cuStreamWaitValue32, 8000, 0, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWaitValue32_ptsz, cuStreamWaitValue32, 8000, 1, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWaitValue32_v2, cuStreamWaitValue32, 11070, 0, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWaitValue32_v2_ptsz, cuStreamWaitValue32, 11070, 1, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWaitValue64, cuStreamWaitValue64, 9000, 0, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWaitValue64_ptsz, cuStreamWaitValue64, 9000, 1, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWaitValue64_v2, cuStreamWaitValue64, 11070, 0, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWaitValue64_v2_ptsz, cuStreamWaitValue64, 11070, 1, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWriteValue32, cuStreamWriteValue32, 8000, 0, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWriteValue32_ptsz, cuStreamWriteValue32, 8000, 1, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWriteValue32_v2, cuStreamWriteValue32, 11070, 0, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32, 11070, 1, (CUstream, CUdeviceptr, cuuint32_t, unsigned int)) \
    X(cuStreamWriteValue64, cuStreamWriteValue64, 9000, 0, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWriteValue64_ptsz, cuStreamWriteValue64, 9000, 1, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWriteValue64_v2, cuStreamWriteValue64, 11070, 0, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64, 11070, 1, (CUstream, CUdeviceptr, cuuint64_t, unsigned int)) \
    X(cuSurfObjectCreate, cuSurfObjectCreate, 5000, 0, (CUsurfObject *, const CUDA_RESOURCE_DESC *)) \
    X(cuSurfObjectDestroy, cuSurfObjectDestroy, 5000, 0, (CUsurfObject)) \
    X(cuSurfObjectGetResourceDesc, cuSurfObjectGetResourceDesc, 5000, 0, (CUDA_RESOURCE_DESC *, CUsurfObject)) \
    X(cuSurfRefGetArray, cuSurfRefGetArray, 3000, 0, (CUarray *, CUsurfref)) \
    X(cuSurfRefSetArray, cuSurfRefSetArray, 3000, 0, (CUsurfref, CUarray, unsigned int)) \
    X(cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col, 12000, 0, (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)) \
    X(cuTensorMapEncodeIm2colWide, cuTensorMapEncodeIm2colWide, 12080, 0, (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, int, int, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)) \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000, 0, (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill)) \
    X(cuTensorMapReplaceAddress, cuTensorMapReplaceAddress, 12000, 0, (CUtensorMap *, void *)) \
    X(cuTexObjectCreate, cuTexObjectCreate, 5000, 0, (CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const CUDA_RESOURCE_VIEW_DESC *)) \
    X(cuTexObjectDestroy, cuTexObjectDestroy, 5000, 0, (CUtexObject)) \
    X(cuTexObjectGetResourceDesc, cuTexObjectGetResourceDesc, 5000, 0, (CUDA_RESOURCE_DESC *, CUtexObject)) \
    X(cuTexObjectGetResourceViewDesc, cuTexObjectGetResourceViewDesc, 5000, 0, (CUDA_RESOURCE_VIEW_DESC *, CUtexObject)) \
    X(cuTexObjectGetTextureDesc, cuTexObjectGetTextureDesc, 5000, 0, (CUDA_TEXTURE_DESC *, CUtexObject)) \
    X(cuTexRefCreate, cuTexRefCreate, 2000, 0, (CUtexref *)) \
    X(cuTexRefDestroy, cuTexRefDestroy, 2000, 0, (CUtexref)) \
    X(cuTexRefGetAddress, cuTexRefGetAddress, 2000, 0, (CUdeviceptr_v1 *, CUtexref)) \
    X(cuTexRefGetAddressMode, cuTexRefGetAddressMode, 2000, 0, (CUaddress_mode *, CUtexref, int)) \
    X(cuTexRefGetAddress_v2, cuTexRefGetAddress, 3020, 0, (CUdeviceptr *, CUtexref)) \
    X(cuTexRefGetArray, cuTexRefGetArray, 2000, 0, (CUarray *, CUtexref)) \
    X(cuTexRefGetBorderColor, cuTexRefGetBorderColor, 8000, 0, (float *, CUtexref)) \
    X(cuTexRefGetFilterMode, cuTexRefGetFilterMode, 2000, 0, (CUfilter_mode *, CUtexref)) \
    X(cuTexRefGetFlags, cuTexRefGetFlags, 2000, 0, (unsigned int *, CUtexref)) \
    X(cuTexRefGetFormat, cuTexRefGetFormat, 2000, 0, (CUarray_format *, int *, CUtexref)) \
    X(cuTexRefGetMaxAnisotropy, cuTexRefGetMaxAnisotropy, 5000, 0, (int *, CUtexref)) \
    X(cuTexRefGetMipmapFilterMode, cuTexRefGetMipmapFilterMode, 5000, 0, (CUfilter_mode *, CUtexref)) \
    X(cuTexRefGetMipmapLevelBias, cuTexRefGetMipmapLevelBias, 5000, 0, (float *, CUtexref)) \
    X(cuTexRefGetMipmapLevelClamp, cuTexRefGetMipmapLevelClamp, 5000, 0, (float *, float *, CUtexref)) \
    X(cuTexRefGetMipmappedArray, cuTexRefGetMipmappedArray, 5000, 0, (CUmipmappedArray *, CUtexref)) \
    X(cuTexRefSetAddress, cuTexRefSetAddress, 2000, 0, (unsigned int *, CUtexref, CUdeviceptr_v1, unsigned int)) \
    X(cuTexRefSetAddress2D, cuTexRefSetAddress2D, 2020, 0, (CUtexref, const CUDA_ARRAY_DESCRIPTOR_v1 *, CUdeviceptr_v1, unsigned int)) \
    X(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D, 3020, 0, (CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t)) \
    X(cuTexRefSetAddress2D_v3, cuTexRefSetAddress2D, 4010, 0, (CUtexref, const CUDA_ARRAY_DESCRIPTOR *, CUdeviceptr, size_t)) \
    X(cuTexRefSetAddressMode, cuTexRefSetAddressMode, 2000, 0, (CUtexref, int, CUaddress_mode)) \
    X(cuTexRefSetAddress_v2, cuTexRefSetAddress, 3020, 0, (size_t *, CUtexref, CUdeviceptr, size_t)) \
    X(cuTexRefSetArray, cuTexRefSetArray, 2000, 0, (CUtexref, CUarray, unsigned int)) \
    X(cuTexRefSetBorderColor, cuTexRefSetBorderColor, 8000, 0, (CUtexref, float *)) \
    X(cuTexRefSetFilterMode, cuTexRefSetFilterMode, 2000, 0, (CUtexref, CUfilter_mode)) \
    X(cuTexRefSetFlags, cuTexRefSetFlags, 2000, 0, (CUtexref, unsigned int)) \
    X(cuTexRefSetFormat, cuTexRefSetFormat, 2000, 0, (CUtexref, CUarray_format, int)) \
    X(cuTexRefSetMaxAnisotropy, cuTexRefSetMaxAnisotropy, 5000, 0, (CUtexref, unsigned int)) \
    X(cuTexRefSetMipmapFilterMode, cuTexRefSetMipmapFilterMode, 5000, 0, (CUtexref, CUfilter_mode)) \
    X(cuTexRefSetMipmapLevelBias, cuTexRefSetMipmapLevelBias, 5000, 0, (CUtexref, float)) \
    X(cuTexRefSetMipmapLevelClamp, cuTexRefSetMipmapLevelClamp, 5000, 0, (CUtexref, float, float)) \
    X(cuTexRefSetMipmappedArray, cuTexRefSetMipmappedArray, 5000, 0, (CUtexref, CUmipmappedArray, unsigned int)) \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, 0, (CUstreamCaptureMode *)) \
    X(cuUserObjectCreate, cuUserObjectCreate, 11030, 0, (CUuserObject *, void *, CUhostFn, unsigned int, unsigned int)) \
    X(cuUserObjectRelease, cuUserObjectRelease, 11030, 0, (CUuserObject, unsigned int)) \
    X(cuUserObjectRetain, cuUserObjectRetain, 11030, 0, (CUuserObject, unsigned int)) \
    X(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync, 10000, 0, (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream)) \
    X(cuWaitExternalSemaphoresAsync_ptsz, cuWaitExternalSemaphoresAsync, 10000, 1, (const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream))

/* clang-format on */
#endif
