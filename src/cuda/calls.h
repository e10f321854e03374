// SPDX-License-Identifier: Apache-2.0
/* Every entry point of the CUDA 13.0 driver, as data: each signature is here once.
 *
 *   CALL    a call as the current headers have it. GPHI_CALL_ids count these rows.
 *   OLDER   an older signature of a call
 *   GONE    of a name that the current headers have no more
 *
 *   name    what cuGetProcAddress() is asked for
 *   (type, name, ...)   the arguments, named as the toolkit's header names them
 *   (symbol, version, per_thread), ...   what libcuda.so.1 exports with this signature:
 *           the CUDA version (major * 1000 + minor * 10) that brought it, and whether it
 *           is the variant for the per-thread default stream (_ptsz, _ptds). The first
 *           symbol's version is what cuGetProcAddress() wants to be asked for.
 *
 * A new call is one row here, one in attach/policy.def and one in
 * softcuda/graph/capture_calls.def. Read it by GPHI_CUDA_CALLS, GPHI_CUDA_SYMBOLS or
 * GPHI_CUDA_SIGNATURES below.
 * sizes: table */
#ifndef GPHI_CUDA_CALLS_H
#define GPHI_CUDA_CALLS_H
#include "cuda/abi.h"

/* clang-format off */

#define GPHI_CUDA_LIST(CALL, OLDER, GONE, X) \
    CALL(X, cuGetErrorString, (CUresult, error, const char **, pStr), (cuGetErrorString, 6000, 0)) \
    CALL(X, cuGetErrorName, (CUresult, error, const char **, pStr), (cuGetErrorName, 6000, 0)) \
    CALL(X, cuInit, (unsigned int, Flags), (cuInit, 2000, 0)) \
    CALL(X, cuDriverGetVersion, (int *, driverVersion), (cuDriverGetVersion, 2020, 0)) \
    CALL(X, cuDeviceGet, (CUdevice *, device, int, ordinal), (cuDeviceGet, 2000, 0)) \
    CALL(X, cuDeviceGetCount, (int *, count), (cuDeviceGetCount, 2000, 0)) \
    CALL(X, cuDeviceGetName, (char *, name, int, len, CUdevice, dev), (cuDeviceGetName, 2000, 0)) \
    CALL(X, cuDeviceGetUuid, (CUuuid *, uuid, CUdevice, dev), (cuDeviceGetUuid_v2, 11040, 0), (cuDeviceGetUuid, 9020, 0)) \
    CALL(X, cuDeviceGetLuid, (char *, luid, unsigned int *, deviceNodeMask, CUdevice, dev), (cuDeviceGetLuid, 10000, 0)) \
    CALL(X, cuDeviceTotalMem, (size_t *, bytes, CUdevice, dev), (cuDeviceTotalMem_v2, 3020, 0)) \
    OLDER(X, cuDeviceTotalMem, (unsigned int *, bytes, CUdevice, dev), (cuDeviceTotalMem, 2000, 0)) \
    CALL(X, cuDeviceGetTexture1DLinearMaxWidth, (size_t *, maxWidthInElements, CUarray_format, format, unsigned int, numChannels, CUdevice, dev), (cuDeviceGetTexture1DLinearMaxWidth, 11010, 0)) \
    CALL(X, cuDeviceGetAttribute, (int *, pi, CUdevice_attribute, attrib, CUdevice, dev), (cuDeviceGetAttribute, 2000, 0)) \
    CALL(X, cuDeviceGetHostAtomicCapabilities, (unsigned int *, capabilities, const CUatomicOperation *, operations, unsigned int, count, CUdevice, dev), (cuDeviceGetHostAtomicCapabilities, 13000, 0)) \
    CALL(X, cuDeviceGetNvSciSyncAttributes, (void *, nvSciSyncAttrList, CUdevice, dev, int, flags), (cuDeviceGetNvSciSyncAttributes, 10020, 0)) \
    CALL(X, cuDeviceSetMemPool, (CUdevice, dev, CUmemoryPool, pool), (cuDeviceSetMemPool, 11020, 0)) \
    CALL(X, cuDeviceGetMemPool, (CUmemoryPool *, pool, CUdevice, dev), (cuDeviceGetMemPool, 11020, 0)) \
    CALL(X, cuDeviceGetDefaultMemPool, (CUmemoryPool *, pool_out, CUdevice, dev), (cuDeviceGetDefaultMemPool, 11020, 0)) \
    CALL(X, cuDeviceGetExecAffinitySupport, (int *, pi, CUexecAffinityType, type, CUdevice, dev), (cuDeviceGetExecAffinitySupport, 11040, 0)) \
    CALL(X, cuFlushGPUDirectRDMAWrites, (CUflushGPUDirectRDMAWritesTarget, target, CUflushGPUDirectRDMAWritesScope, scope), (cuFlushGPUDirectRDMAWrites, 11030, 0)) \
    CALL(X, cuDevicePrimaryCtxRetain, (CUcontext *, pctx, CUdevice, dev), (cuDevicePrimaryCtxRetain, 7000, 0)) \
    CALL(X, cuDevicePrimaryCtxRelease, (CUdevice, dev), (cuDevicePrimaryCtxRelease_v2, 11000, 0), (cuDevicePrimaryCtxRelease, 7000, 0)) \
    CALL(X, cuDevicePrimaryCtxSetFlags, (CUdevice, dev, unsigned int, flags), (cuDevicePrimaryCtxSetFlags_v2, 11000, 0), (cuDevicePrimaryCtxSetFlags, 7000, 0)) \
    CALL(X, cuDevicePrimaryCtxGetState, (CUdevice, dev, unsigned int *, flags, int *, active), (cuDevicePrimaryCtxGetState, 7000, 0)) \
    CALL(X, cuDevicePrimaryCtxReset, (CUdevice, dev), (cuDevicePrimaryCtxReset_v2, 11000, 0), (cuDevicePrimaryCtxReset, 7000, 0)) \
    CALL(X, cuCtxCreate, (CUcontext *, pctx, CUctxCreateParams *, ctxCreateParams, unsigned int, flags, CUdevice, dev), (cuCtxCreate_v4, 12050, 0)) \
    OLDER(X, cuCtxCreate, (CUcontext *, pctx, CUexecAffinityParam *, paramsArray, int, numParams, unsigned int, flags, CUdevice, dev), (cuCtxCreate_v3, 11040, 0)) \
    OLDER(X, cuCtxCreate, (CUcontext *, pctx, unsigned int, flags, CUdevice, dev), (cuCtxCreate_v2, 3020, 0), (cuCtxCreate, 2000, 0)) \
    CALL(X, cuCtxDestroy, (CUcontext, ctx), (cuCtxDestroy_v2, 4000, 0), (cuCtxDestroy, 2000, 0)) \
    CALL(X, cuCtxPushCurrent, (CUcontext, ctx), (cuCtxPushCurrent_v2, 4000, 0), (cuCtxPushCurrent, 2000, 0)) \
    CALL(X, cuCtxPopCurrent, (CUcontext *, pctx), (cuCtxPopCurrent_v2, 4000, 0), (cuCtxPopCurrent, 2000, 0)) \
    CALL(X, cuCtxSetCurrent, (CUcontext, ctx), (cuCtxSetCurrent, 4000, 0)) \
    CALL(X, cuCtxGetCurrent, (CUcontext *, pctx), (cuCtxGetCurrent, 4000, 0)) \
    CALL(X, cuCtxGetDevice, (CUdevice *, device), (cuCtxGetDevice, 2000, 0)) \
    OLDER(X, cuCtxGetDevice, (CUdevice *, device, CUcontext, ctx), (cuCtxGetDevice_v2, 13000, 0)) \
    CALL(X, cuCtxGetFlags, (unsigned int *, flags), (cuCtxGetFlags, 7000, 0)) \
    CALL(X, cuCtxSetFlags, (unsigned int, flags), (cuCtxSetFlags, 12010, 0)) \
    CALL(X, cuCtxGetId, (CUcontext, ctx, unsigned long long *, ctxId), (cuCtxGetId, 12000, 0)) \
    CALL(X, cuCtxSynchronize, (void), (cuCtxSynchronize, 2000, 0)) \
    OLDER(X, cuCtxSynchronize, (CUcontext, ctx), (cuCtxSynchronize_v2, 13000, 0)) \
    CALL(X, cuCtxSetLimit, (CUlimit, limit, size_t, value), (cuCtxSetLimit, 3010, 0)) \
    CALL(X, cuCtxGetLimit, (size_t *, pvalue, CUlimit, limit), (cuCtxGetLimit, 3010, 0)) \
    CALL(X, cuCtxGetCacheConfig, (CUfunc_cache *, pconfig), (cuCtxGetCacheConfig, 3020, 0)) \
    CALL(X, cuCtxSetCacheConfig, (CUfunc_cache, config), (cuCtxSetCacheConfig, 3020, 0)) \
    CALL(X, cuCtxGetApiVersion, (CUcontext, ctx, unsigned int *, version), (cuCtxGetApiVersion, 3020, 0)) \
    CALL(X, cuCtxGetStreamPriorityRange, (int *, leastPriority, int *, greatestPriority), (cuCtxGetStreamPriorityRange, 5050, 0)) \
    CALL(X, cuCtxResetPersistingL2Cache, (void), (cuCtxResetPersistingL2Cache, 11000, 0)) \
    CALL(X, cuCtxGetExecAffinity, (CUexecAffinityParam *, pExecAffinity, CUexecAffinityType, type), (cuCtxGetExecAffinity, 11040, 0)) \
    CALL(X, cuCtxRecordEvent, (CUcontext, hCtx, CUevent, hEvent), (cuCtxRecordEvent, 12050, 0)) \
    CALL(X, cuCtxWaitEvent, (CUcontext, hCtx, CUevent, hEvent), (cuCtxWaitEvent, 12050, 0)) \
    CALL(X, cuModuleLoad, (CUmodule *, module, const char *, fname), (cuModuleLoad, 2000, 0)) \
    CALL(X, cuModuleLoadData, (CUmodule *, module, const void *, image), (cuModuleLoadData, 2000, 0)) \
    CALL(X, cuModuleLoadDataEx, (CUmodule *, module, const void *, image, unsigned int, numOptions, CUjit_option *, options, void **, optionValues), (cuModuleLoadDataEx, 2010, 0)) \
    CALL(X, cuModuleLoadFatBinary, (CUmodule *, module, const void *, fatCubin), (cuModuleLoadFatBinary, 2000, 0)) \
    CALL(X, cuModuleUnload, (CUmodule, hmod), (cuModuleUnload, 2000, 0)) \
    CALL(X, cuModuleGetLoadingMode, (CUmoduleLoadingMode *, mode), (cuModuleGetLoadingMode, 11070, 0)) \
    CALL(X, cuModuleGetFunction, (CUfunction *, hfunc, CUmodule, hmod, const char *, name), (cuModuleGetFunction, 2000, 0)) \
    CALL(X, cuModuleGetFunctionCount, (unsigned int *, count, CUmodule, mod), (cuModuleGetFunctionCount, 12040, 0)) \
    CALL(X, cuModuleEnumerateFunctions, (CUfunction *, functions, unsigned int, numFunctions, CUmodule, mod), (cuModuleEnumerateFunctions, 12040, 0)) \
    CALL(X, cuModuleGetGlobal, (CUdeviceptr *, dptr, size_t *, bytes, CUmodule, hmod, const char *, name), (cuModuleGetGlobal_v2, 3020, 0)) \
    OLDER(X, cuModuleGetGlobal, (CUdeviceptr_v1 *, dptr, unsigned int *, bytes, CUmodule, hmod, const char *, name), (cuModuleGetGlobal, 2000, 0)) \
    CALL(X, cuLinkCreate, (unsigned int, numOptions, CUjit_option *, options, void **, optionValues, CUlinkState *, stateOut), (cuLinkCreate_v2, 6050, 0), (cuLinkCreate, 5050, 0)) \
    CALL(X, cuLinkAddData, (CUlinkState, state, CUjitInputType, type, void *, data, size_t, size, const char *, name, unsigned int, numOptions, CUjit_option *, options, void **, optionValues), (cuLinkAddData_v2, 6050, 0), (cuLinkAddData, 5050, 0)) \
    CALL(X, cuLinkAddFile, (CUlinkState, state, CUjitInputType, type, const char *, path, unsigned int, numOptions, CUjit_option *, options, void **, optionValues), (cuLinkAddFile_v2, 6050, 0), (cuLinkAddFile, 5050, 0)) \
    CALL(X, cuLinkComplete, (CUlinkState, state, void **, cubinOut, size_t *, sizeOut), (cuLinkComplete, 5050, 0)) \
    CALL(X, cuLinkDestroy, (CUlinkState, state), (cuLinkDestroy, 5050, 0)) \
    CALL(X, cuLibraryLoadData, (CUlibrary *, library, const void *, code, CUjit_option *, jitOptions, void **, jitOptionsValues, unsigned int, numJitOptions, CUlibraryOption *, libraryOptions, void **, libraryOptionValues, unsigned int, numLibraryOptions), (cuLibraryLoadData, 12000, 0)) \
    CALL(X, cuLibraryLoadFromFile, (CUlibrary *, library, const char *, fileName, CUjit_option *, jitOptions, void **, jitOptionsValues, unsigned int, numJitOptions, CUlibraryOption *, libraryOptions, void **, libraryOptionValues, unsigned int, numLibraryOptions), (cuLibraryLoadFromFile, 12000, 0)) \
    CALL(X, cuLibraryUnload, (CUlibrary, library), (cuLibraryUnload, 12000, 0)) \
    CALL(X, cuLibraryGetKernel, (CUkernel *, pKernel, CUlibrary, library, const char *, name), (cuLibraryGetKernel, 12000, 0)) \
    CALL(X, cuLibraryGetKernelCount, (unsigned int *, count, CUlibrary, lib), (cuLibraryGetKernelCount, 12040, 0)) \
    CALL(X, cuLibraryEnumerateKernels, (CUkernel *, kernels, unsigned int, numKernels, CUlibrary, lib), (cuLibraryEnumerateKernels, 12040, 0)) \
    CALL(X, cuLibraryGetModule, (CUmodule *, pMod, CUlibrary, library), (cuLibraryGetModule, 12000, 0)) \
    CALL(X, cuKernelGetFunction, (CUfunction *, pFunc, CUkernel, kernel), (cuKernelGetFunction, 12000, 0)) \
    CALL(X, cuKernelGetLibrary, (CUlibrary *, pLib, CUkernel, kernel), (cuKernelGetLibrary, 12050, 0)) \
    CALL(X, cuLibraryGetGlobal, (CUdeviceptr *, dptr, size_t *, bytes, CUlibrary, library, const char *, name), (cuLibraryGetGlobal, 12000, 0)) \
    CALL(X, cuLibraryGetManaged, (CUdeviceptr *, dptr, size_t *, bytes, CUlibrary, library, const char *, name), (cuLibraryGetManaged, 12000, 0)) \
    CALL(X, cuLibraryGetUnifiedFunction, (void **, fptr, CUlibrary, library, const char *, symbol), (cuLibraryGetUnifiedFunction, 12000, 0)) \
    CALL(X, cuKernelGetAttribute, (int *, pi, CUfunction_attribute, attrib, CUkernel, kernel, CUdevice, dev), (cuKernelGetAttribute, 12000, 0)) \
    CALL(X, cuKernelSetAttribute, (CUfunction_attribute, attrib, int, val, CUkernel, kernel, CUdevice, dev), (cuKernelSetAttribute, 12000, 0)) \
    CALL(X, cuKernelSetCacheConfig, (CUkernel, kernel, CUfunc_cache, config, CUdevice, dev), (cuKernelSetCacheConfig, 12000, 0)) \
    CALL(X, cuKernelGetName, (const char **, name, CUkernel, hfunc), (cuKernelGetName, 12030, 0)) \
    CALL(X, cuKernelGetParamInfo, (CUkernel, kernel, size_t, paramIndex, size_t *, paramOffset, size_t *, paramSize), (cuKernelGetParamInfo, 12040, 0)) \
    CALL(X, cuMemGetInfo, (size_t *, free, size_t *, total), (cuMemGetInfo_v2, 3020, 0)) \
    OLDER(X, cuMemGetInfo, (unsigned int *, free, unsigned int *, total), (cuMemGetInfo, 2000, 0)) \
    CALL(X, cuMemAlloc, (CUdeviceptr *, dptr, size_t, bytesize), (cuMemAlloc_v2, 3020, 0)) \
    OLDER(X, cuMemAlloc, (CUdeviceptr_v1 *, dptr, unsigned int, bytesize), (cuMemAlloc, 2000, 0)) \
    CALL(X, cuMemAllocPitch, (CUdeviceptr *, dptr, size_t *, pPitch, size_t, WidthInBytes, size_t, Height, unsigned int, ElementSizeBytes), (cuMemAllocPitch_v2, 3020, 0)) \
    OLDER(X, cuMemAllocPitch, (CUdeviceptr_v1 *, dptr, unsigned int *, pPitch, unsigned int, WidthInBytes, unsigned int, Height, unsigned int, ElementSizeBytes), (cuMemAllocPitch, 2000, 0)) \
    CALL(X, cuMemFree, (CUdeviceptr, dptr), (cuMemFree_v2, 3020, 0)) \
    OLDER(X, cuMemFree, (CUdeviceptr_v1, dptr), (cuMemFree, 2000, 0)) \
    CALL(X, cuMemGetAddressRange, (CUdeviceptr *, pbase, size_t *, psize, CUdeviceptr, dptr), (cuMemGetAddressRange_v2, 3020, 0)) \
    OLDER(X, cuMemGetAddressRange, (CUdeviceptr_v1 *, pbase, unsigned int *, psize, CUdeviceptr_v1, dptr), (cuMemGetAddressRange, 2000, 0)) \
    CALL(X, cuMemAllocHost, (void **, pp, size_t, bytesize), (cuMemAllocHost_v2, 3020, 0)) \
    OLDER(X, cuMemAllocHost, (void **, pp, unsigned int, bytesize), (cuMemAllocHost, 2000, 0)) \
    CALL(X, cuMemFreeHost, (void *, p), (cuMemFreeHost, 2000, 0)) \
    CALL(X, cuMemHostAlloc, (void **, pp, size_t, bytesize, unsigned int, Flags), (cuMemHostAlloc, 2020, 0)) \
    CALL(X, cuMemHostGetDevicePointer, (CUdeviceptr *, pdptr, void *, p, unsigned int, Flags), (cuMemHostGetDevicePointer_v2, 3020, 0)) \
    OLDER(X, cuMemHostGetDevicePointer, (CUdeviceptr_v1 *, pdptr, void *, p, unsigned int, Flags), (cuMemHostGetDevicePointer, 2020, 0)) \
    CALL(X, cuMemHostGetFlags, (unsigned int *, pFlags, void *, p), (cuMemHostGetFlags, 2030, 0)) \
    CALL(X, cuMemAllocManaged, (CUdeviceptr *, dptr, size_t, bytesize, unsigned int, flags), (cuMemAllocManaged, 6000, 0)) \
    CALL(X, cuDeviceRegisterAsyncNotification, (CUdevice, device, CUasyncCallback, callbackFunc, void *, userData, CUasyncCallbackHandle *, callback), (cuDeviceRegisterAsyncNotification, 12040, 0)) \
    CALL(X, cuDeviceUnregisterAsyncNotification, (CUdevice, device, CUasyncCallbackHandle, callback), (cuDeviceUnregisterAsyncNotification, 12040, 0)) \
    CALL(X, cuDeviceGetByPCIBusId, (CUdevice *, dev, const char *, pciBusId), (cuDeviceGetByPCIBusId, 4010, 0)) \
    CALL(X, cuDeviceGetPCIBusId, (char *, pciBusId, int, len, CUdevice, dev), (cuDeviceGetPCIBusId, 4010, 0)) \
    CALL(X, cuIpcGetEventHandle, (CUipcEventHandle *, pHandle, CUevent, event), (cuIpcGetEventHandle, 4010, 0)) \
    CALL(X, cuIpcOpenEventHandle, (CUevent *, phEvent, CUipcEventHandle, handle), (cuIpcOpenEventHandle, 4010, 0)) \
    CALL(X, cuIpcGetMemHandle, (CUipcMemHandle *, pHandle, CUdeviceptr, dptr), (cuIpcGetMemHandle, 4010, 0)) \
    CALL(X, cuIpcOpenMemHandle, (CUdeviceptr *, pdptr, CUipcMemHandle, handle, unsigned int, Flags), (cuIpcOpenMemHandle_v2, 11000, 0), (cuIpcOpenMemHandle, 4010, 0)) \
    CALL(X, cuIpcCloseMemHandle, (CUdeviceptr, dptr), (cuIpcCloseMemHandle, 4010, 0)) \
    CALL(X, cuMemHostRegister, (void *, p, size_t, bytesize, unsigned int, Flags), (cuMemHostRegister_v2, 6050, 0), (cuMemHostRegister, 4000, 0)) \
    CALL(X, cuMemHostUnregister, (void *, p), (cuMemHostUnregister, 4000, 0)) \
    CALL(X, cuMemcpy, (CUdeviceptr, dst, CUdeviceptr, src, size_t, ByteCount), (cuMemcpy, 4000, 0), (cuMemcpy_ptds, 7000, 1)) \
    CALL(X, cuMemcpyPeer, (CUdeviceptr, dstDevice, CUcontext, dstContext, CUdeviceptr, srcDevice, CUcontext, srcContext, size_t, ByteCount), (cuMemcpyPeer, 4000, 0), (cuMemcpyPeer_ptds, 7000, 1)) \
    CALL(X, cuMemcpyHtoD, (CUdeviceptr, dstDevice, const void *, srcHost, size_t, ByteCount), (cuMemcpyHtoD_v2, 3020, 0), (cuMemcpyHtoD_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyHtoD, (CUdeviceptr_v1, dstDevice, const void *, srcHost, unsigned int, ByteCount), (cuMemcpyHtoD, 2000, 0)) \
    CALL(X, cuMemcpyDtoH, (void *, dstHost, CUdeviceptr, srcDevice, size_t, ByteCount), (cuMemcpyDtoH_v2, 3020, 0), (cuMemcpyDtoH_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyDtoH, (void *, dstHost, CUdeviceptr_v1, srcDevice, unsigned int, ByteCount), (cuMemcpyDtoH, 2000, 0)) \
    CALL(X, cuMemcpyDtoD, (CUdeviceptr, dstDevice, CUdeviceptr, srcDevice, size_t, ByteCount), (cuMemcpyDtoD_v2, 3020, 0), (cuMemcpyDtoD_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyDtoD, (CUdeviceptr_v1, dstDevice, CUdeviceptr_v1, srcDevice, unsigned int, ByteCount), (cuMemcpyDtoD, 2000, 0)) \
    CALL(X, cuMemcpyDtoA, (CUarray, dstArray, size_t, dstOffset, CUdeviceptr, srcDevice, size_t, ByteCount), (cuMemcpyDtoA_v2, 3020, 0), (cuMemcpyDtoA_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyDtoA, (CUarray, dstArray, unsigned int, dstOffset, CUdeviceptr_v1, srcDevice, unsigned int, ByteCount), (cuMemcpyDtoA, 2000, 0)) \
    CALL(X, cuMemcpyAtoD, (CUdeviceptr, dstDevice, CUarray, srcArray, size_t, srcOffset, size_t, ByteCount), (cuMemcpyAtoD_v2, 3020, 0), (cuMemcpyAtoD_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyAtoD, (CUdeviceptr_v1, dstDevice, CUarray, srcArray, unsigned int, srcOffset, unsigned int, ByteCount), (cuMemcpyAtoD, 2000, 0)) \
    CALL(X, cuMemcpyHtoA, (CUarray, dstArray, size_t, dstOffset, const void *, srcHost, size_t, ByteCount), (cuMemcpyHtoA_v2, 3020, 0), (cuMemcpyHtoA_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyHtoA, (CUarray, dstArray, unsigned int, dstOffset, const void *, srcHost, unsigned int, ByteCount), (cuMemcpyHtoA, 2000, 0)) \
    CALL(X, cuMemcpyAtoH, (void *, dstHost, CUarray, srcArray, size_t, srcOffset, size_t, ByteCount), (cuMemcpyAtoH_v2, 3020, 0), (cuMemcpyAtoH_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyAtoH, (void *, dstHost, CUarray, srcArray, unsigned int, srcOffset, unsigned int, ByteCount), (cuMemcpyAtoH, 2000, 0)) \
    CALL(X, cuMemcpyAtoA, (CUarray, dstArray, size_t, dstOffset, CUarray, srcArray, size_t, srcOffset, size_t, ByteCount), (cuMemcpyAtoA_v2, 3020, 0), (cuMemcpyAtoA_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpyAtoA, (CUarray, dstArray, unsigned int, dstOffset, CUarray, srcArray, unsigned int, srcOffset, unsigned int, ByteCount), (cuMemcpyAtoA, 2000, 0)) \
    CALL(X, cuMemcpy2D, (const CUDA_MEMCPY2D *, pCopy), (cuMemcpy2D_v2, 3020, 0), (cuMemcpy2D_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpy2D, (const CUDA_MEMCPY2D_v1 *, pCopy), (cuMemcpy2D, 2000, 0)) \
    CALL(X, cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *, pCopy), (cuMemcpy2DUnaligned_v2, 3020, 0), (cuMemcpy2DUnaligned_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D_v1 *, pCopy), (cuMemcpy2DUnaligned, 2000, 0)) \
    CALL(X, cuMemcpy3D, (const CUDA_MEMCPY3D *, pCopy), (cuMemcpy3D_v2, 3020, 0), (cuMemcpy3D_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemcpy3D, (const CUDA_MEMCPY3D_v1 *, pCopy), (cuMemcpy3D, 2000, 0)) \
    CALL(X, cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *, pCopy), (cuMemcpy3DPeer, 4000, 0), (cuMemcpy3DPeer_ptds, 7000, 1)) \
    CALL(X, cuMemcpyAsync, (CUdeviceptr, dst, CUdeviceptr, src, size_t, ByteCount, CUstream, hStream), (cuMemcpyAsync, 4000, 0), (cuMemcpyAsync_ptsz, 7000, 1)) \
    CALL(X, cuMemcpyPeerAsync, (CUdeviceptr, dstDevice, CUcontext, dstContext, CUdeviceptr, srcDevice, CUcontext, srcContext, size_t, ByteCount, CUstream, hStream), (cuMemcpyPeerAsync, 4000, 0), (cuMemcpyPeerAsync_ptsz, 7000, 1)) \
    CALL(X, cuMemcpyHtoDAsync, (CUdeviceptr, dstDevice, const void *, srcHost, size_t, ByteCount, CUstream, hStream), (cuMemcpyHtoDAsync_v2, 3020, 0), (cuMemcpyHtoDAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpyHtoDAsync, (CUdeviceptr_v1, dstDevice, const void *, srcHost, unsigned int, ByteCount, CUstream, hStream), (cuMemcpyHtoDAsync, 2000, 0)) \
    CALL(X, cuMemcpyDtoHAsync, (void *, dstHost, CUdeviceptr, srcDevice, size_t, ByteCount, CUstream, hStream), (cuMemcpyDtoHAsync_v2, 3020, 0), (cuMemcpyDtoHAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpyDtoHAsync, (void *, dstHost, CUdeviceptr_v1, srcDevice, unsigned int, ByteCount, CUstream, hStream), (cuMemcpyDtoHAsync, 2000, 0)) \
    CALL(X, cuMemcpyDtoDAsync, (CUdeviceptr, dstDevice, CUdeviceptr, srcDevice, size_t, ByteCount, CUstream, hStream), (cuMemcpyDtoDAsync_v2, 3020, 0), (cuMemcpyDtoDAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpyDtoDAsync, (CUdeviceptr_v1, dstDevice, CUdeviceptr_v1, srcDevice, unsigned int, ByteCount, CUstream, hStream), (cuMemcpyDtoDAsync, 3000, 0)) \
    CALL(X, cuMemcpyHtoAAsync, (CUarray, dstArray, size_t, dstOffset, const void *, srcHost, size_t, ByteCount, CUstream, hStream), (cuMemcpyHtoAAsync_v2, 3020, 0), (cuMemcpyHtoAAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpyHtoAAsync, (CUarray, dstArray, unsigned int, dstOffset, const void *, srcHost, unsigned int, ByteCount, CUstream, hStream), (cuMemcpyHtoAAsync, 2000, 0)) \
    CALL(X, cuMemcpyAtoHAsync, (void *, dstHost, CUarray, srcArray, size_t, srcOffset, size_t, ByteCount, CUstream, hStream), (cuMemcpyAtoHAsync_v2, 3020, 0), (cuMemcpyAtoHAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpyAtoHAsync, (void *, dstHost, CUarray, srcArray, unsigned int, srcOffset, unsigned int, ByteCount, CUstream, hStream), (cuMemcpyAtoHAsync, 2000, 0)) \
    CALL(X, cuMemcpy2DAsync, (const CUDA_MEMCPY2D *, pCopy, CUstream, hStream), (cuMemcpy2DAsync_v2, 3020, 0), (cuMemcpy2DAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpy2DAsync, (const CUDA_MEMCPY2D_v1 *, pCopy, CUstream, hStream), (cuMemcpy2DAsync, 2000, 0)) \
    CALL(X, cuMemcpy3DAsync, (const CUDA_MEMCPY3D *, pCopy, CUstream, hStream), (cuMemcpy3DAsync_v2, 3020, 0), (cuMemcpy3DAsync_v2_ptsz, 7000, 1)) \
    OLDER(X, cuMemcpy3DAsync, (const CUDA_MEMCPY3D_v1 *, pCopy, CUstream, hStream), (cuMemcpy3DAsync, 2000, 0)) \
    CALL(X, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *, pCopy, CUstream, hStream), (cuMemcpy3DPeerAsync, 4000, 0), (cuMemcpy3DPeerAsync_ptsz, 7000, 1)) \
    CALL(X, cuMemcpyBatchAsync, (CUdeviceptr *, dsts, CUdeviceptr *, srcs, size_t *, sizes, size_t, count, CUmemcpyAttributes *, attrs, size_t *, attrsIdxs, size_t, numAttrs, CUstream, hStream), (cuMemcpyBatchAsync_v2, 13000, 0), (cuMemcpyBatchAsync_v2_ptsz, 13000, 1)) \
    OLDER(X, cuMemcpyBatchAsync, (CUdeviceptr *, dsts, CUdeviceptr *, srcs, size_t *, sizes, size_t, count, CUmemcpyAttributes *, attrs, size_t *, attrsIdxs, size_t, numAttrs, size_t *, failIdx, CUstream, hStream), (cuMemcpyBatchAsync, 12080, 0), (cuMemcpyBatchAsync_ptsz, 12080, 1)) \
    CALL(X, cuMemcpy3DBatchAsync, (size_t, numOps, CUDA_MEMCPY3D_BATCH_OP *, opList, unsigned long long, flags, CUstream, hStream), (cuMemcpy3DBatchAsync_v2, 13000, 0), (cuMemcpy3DBatchAsync_v2_ptsz, 13000, 1)) \
    OLDER(X, cuMemcpy3DBatchAsync, (size_t, numOps, CUDA_MEMCPY3D_BATCH_OP *, opList, size_t *, failIdx, unsigned long long, flags, CUstream, hStream), (cuMemcpy3DBatchAsync, 12080, 0), (cuMemcpy3DBatchAsync_ptsz, 12080, 1)) \
    CALL(X, cuMemsetD8, (CUdeviceptr, dstDevice, unsigned char, uc, size_t, N), (cuMemsetD8_v2, 3020, 0), (cuMemsetD8_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemsetD8, (CUdeviceptr_v1, dstDevice, unsigned char, uc, unsigned int, N), (cuMemsetD8, 2000, 0)) \
    CALL(X, cuMemsetD16, (CUdeviceptr, dstDevice, unsigned short, us, size_t, N), (cuMemsetD16_v2, 3020, 0), (cuMemsetD16_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemsetD16, (CUdeviceptr_v1, dstDevice, unsigned short, us, unsigned int, N), (cuMemsetD16, 2000, 0)) \
    CALL(X, cuMemsetD32, (CUdeviceptr, dstDevice, unsigned int, ui, size_t, N), (cuMemsetD32_v2, 3020, 0), (cuMemsetD32_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemsetD32, (CUdeviceptr_v1, dstDevice, unsigned int, ui, unsigned int, N), (cuMemsetD32, 2000, 0)) \
    CALL(X, cuMemsetD2D8, (CUdeviceptr, dstDevice, size_t, dstPitch, unsigned char, uc, size_t, Width, size_t, Height), (cuMemsetD2D8_v2, 3020, 0), (cuMemsetD2D8_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemsetD2D8, (CUdeviceptr_v1, dstDevice, unsigned int, dstPitch, unsigned char, uc, unsigned int, Width, unsigned int, Height), (cuMemsetD2D8, 2000, 0)) \
    CALL(X, cuMemsetD2D16, (CUdeviceptr, dstDevice, size_t, dstPitch, unsigned short, us, size_t, Width, size_t, Height), (cuMemsetD2D16_v2, 3020, 0), (cuMemsetD2D16_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemsetD2D16, (CUdeviceptr_v1, dstDevice, unsigned int, dstPitch, unsigned short, us, unsigned int, Width, unsigned int, Height), (cuMemsetD2D16, 2000, 0)) \
    CALL(X, cuMemsetD2D32, (CUdeviceptr, dstDevice, size_t, dstPitch, unsigned int, ui, size_t, Width, size_t, Height), (cuMemsetD2D32_v2, 3020, 0), (cuMemsetD2D32_v2_ptds, 7000, 1)) \
    OLDER(X, cuMemsetD2D32, (CUdeviceptr_v1, dstDevice, unsigned int, dstPitch, unsigned int, ui, unsigned int, Width, unsigned int, Height), (cuMemsetD2D32, 2000, 0)) \
    CALL(X, cuMemsetD8Async, (CUdeviceptr, dstDevice, unsigned char, uc, size_t, N, CUstream, hStream), (cuMemsetD8Async, 3020, 0), (cuMemsetD8Async_ptsz, 7000, 1)) \
    CALL(X, cuMemsetD16Async, (CUdeviceptr, dstDevice, unsigned short, us, size_t, N, CUstream, hStream), (cuMemsetD16Async, 3020, 0), (cuMemsetD16Async_ptsz, 7000, 1)) \
    CALL(X, cuMemsetD32Async, (CUdeviceptr, dstDevice, unsigned int, ui, size_t, N, CUstream, hStream), (cuMemsetD32Async, 3020, 0), (cuMemsetD32Async_ptsz, 7000, 1)) \
    CALL(X, cuMemsetD2D8Async, (CUdeviceptr, dstDevice, size_t, dstPitch, unsigned char, uc, size_t, Width, size_t, Height, CUstream, hStream), (cuMemsetD2D8Async, 3020, 0), (cuMemsetD2D8Async_ptsz, 7000, 1)) \
    CALL(X, cuMemsetD2D16Async, (CUdeviceptr, dstDevice, size_t, dstPitch, unsigned short, us, size_t, Width, size_t, Height, CUstream, hStream), (cuMemsetD2D16Async, 3020, 0), (cuMemsetD2D16Async_ptsz, 7000, 1)) \
    CALL(X, cuMemsetD2D32Async, (CUdeviceptr, dstDevice, size_t, dstPitch, unsigned int, ui, size_t, Width, size_t, Height, CUstream, hStream), (cuMemsetD2D32Async, 3020, 0), (cuMemsetD2D32Async_ptsz, 7000, 1)) \
    CALL(X, cuArrayCreate, (CUarray *, pHandle, const CUDA_ARRAY_DESCRIPTOR *, pAllocateArray), (cuArrayCreate_v2, 3020, 0)) \
    OLDER(X, cuArrayCreate, (CUarray *, pHandle, const CUDA_ARRAY_DESCRIPTOR_v1 *, pAllocateArray), (cuArrayCreate, 2000, 0)) \
    CALL(X, cuArrayGetDescriptor, (CUDA_ARRAY_DESCRIPTOR *, pArrayDescriptor, CUarray, hArray), (cuArrayGetDescriptor_v2, 3020, 0)) \
    OLDER(X, cuArrayGetDescriptor, (CUDA_ARRAY_DESCRIPTOR_v1 *, pArrayDescriptor, CUarray, hArray), (cuArrayGetDescriptor, 2000, 0)) \
    CALL(X, cuArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES *, sparseProperties, CUarray, array), (cuArrayGetSparseProperties, 11010, 0)) \
    CALL(X, cuMipmappedArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES *, sparseProperties, CUmipmappedArray, mipmap), (cuMipmappedArrayGetSparseProperties, 11010, 0)) \
    CALL(X, cuArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *, memoryRequirements, CUarray, array, CUdevice, device), (cuArrayGetMemoryRequirements, 11060, 0)) \
    CALL(X, cuMipmappedArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *, memoryRequirements, CUmipmappedArray, mipmap, CUdevice, device), (cuMipmappedArrayGetMemoryRequirements, 11060, 0)) \
    CALL(X, cuArrayGetPlane, (CUarray *, pPlaneArray, CUarray, hArray, unsigned int, planeIdx), (cuArrayGetPlane, 11020, 0)) \
    CALL(X, cuArrayDestroy, (CUarray, hArray), (cuArrayDestroy, 2000, 0)) \
    CALL(X, cuArray3DCreate, (CUarray *, pHandle, const CUDA_ARRAY3D_DESCRIPTOR *, pAllocateArray), (cuArray3DCreate_v2, 3020, 0)) \
    OLDER(X, cuArray3DCreate, (CUarray *, pHandle, const CUDA_ARRAY3D_DESCRIPTOR_v1 *, pAllocateArray), (cuArray3DCreate, 2000, 0)) \
    CALL(X, cuArray3DGetDescriptor, (CUDA_ARRAY3D_DESCRIPTOR *, pArrayDescriptor, CUarray, hArray), (cuArray3DGetDescriptor_v2, 3020, 0)) \
    OLDER(X, cuArray3DGetDescriptor, (CUDA_ARRAY3D_DESCRIPTOR_v1 *, pArrayDescriptor, CUarray, hArray), (cuArray3DGetDescriptor, 2000, 0)) \
    CALL(X, cuMipmappedArrayCreate, (CUmipmappedArray *, pHandle, const CUDA_ARRAY3D_DESCRIPTOR *, pMipmappedArrayDesc, unsigned int, numMipmapLevels), (cuMipmappedArrayCreate, 5000, 0)) \
    CALL(X, cuMipmappedArrayGetLevel, (CUarray *, pLevelArray, CUmipmappedArray, hMipmappedArray, unsigned int, level), (cuMipmappedArrayGetLevel, 5000, 0)) \
    CALL(X, cuMipmappedArrayDestroy, (CUmipmappedArray, hMipmappedArray), (cuMipmappedArrayDestroy, 5000, 0)) \
    CALL(X, cuMemGetHandleForAddressRange, (void *, handle, CUdeviceptr, dptr, size_t, size, CUmemRangeHandleType, handleType, unsigned long long, flags), (cuMemGetHandleForAddressRange, 11070, 0)) \
    CALL(X, cuMemBatchDecompressAsync, (CUmemDecompressParams *, paramsArray, size_t, count, unsigned int, flags, size_t *, errorIndex, CUstream, stream), (cuMemBatchDecompressAsync, 12060, 0), (cuMemBatchDecompressAsync_ptsz, 12060, 1)) \
    CALL(X, cuMemAddressReserve, (CUdeviceptr *, ptr, size_t, size, size_t, alignment, CUdeviceptr, addr, unsigned long long, flags), (cuMemAddressReserve, 10020, 0)) \
    CALL(X, cuMemAddressFree, (CUdeviceptr, ptr, size_t, size), (cuMemAddressFree, 10020, 0)) \
    CALL(X, cuMemCreate, (CUmemGenericAllocationHandle *, handle, size_t, size, const CUmemAllocationProp *, prop, unsigned long long, flags), (cuMemCreate, 10020, 0)) \
    CALL(X, cuMemRelease, (CUmemGenericAllocationHandle, handle), (cuMemRelease, 10020, 0)) \
    CALL(X, cuMemMap, (CUdeviceptr, ptr, size_t, size, size_t, offset, CUmemGenericAllocationHandle, handle, unsigned long long, flags), (cuMemMap, 10020, 0)) \
    CALL(X, cuMemMapArrayAsync, (CUarrayMapInfo *, mapInfoList, unsigned int, count, CUstream, hStream), (cuMemMapArrayAsync, 11010, 0), (cuMemMapArrayAsync_ptsz, 11010, 1)) \
    CALL(X, cuMemUnmap, (CUdeviceptr, ptr, size_t, size), (cuMemUnmap, 10020, 0)) \
    CALL(X, cuMemSetAccess, (CUdeviceptr, ptr, size_t, size, const CUmemAccessDesc *, desc, size_t, count), (cuMemSetAccess, 10020, 0)) \
    CALL(X, cuMemGetAccess, (unsigned long long *, flags, const CUmemLocation *, location, CUdeviceptr, ptr), (cuMemGetAccess, 10020, 0)) \
    CALL(X, cuMemExportToShareableHandle, (void *, shareableHandle, CUmemGenericAllocationHandle, handle, CUmemAllocationHandleType, handleType, unsigned long long, flags), (cuMemExportToShareableHandle, 10020, 0)) \
    CALL(X, cuMemImportFromShareableHandle, (CUmemGenericAllocationHandle *, handle, void *, osHandle, CUmemAllocationHandleType, shHandleType), (cuMemImportFromShareableHandle, 10020, 0)) \
    CALL(X, cuMemGetAllocationGranularity, (size_t *, granularity, const CUmemAllocationProp *, prop, CUmemAllocationGranularity_flags, option), (cuMemGetAllocationGranularity, 10020, 0)) \
    CALL(X, cuMemGetAllocationPropertiesFromHandle, (CUmemAllocationProp *, prop, CUmemGenericAllocationHandle, handle), (cuMemGetAllocationPropertiesFromHandle, 10020, 0)) \
    CALL(X, cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle *, handle, void *, addr), (cuMemRetainAllocationHandle, 11000, 0)) \
    CALL(X, cuMemFreeAsync, (CUdeviceptr, dptr, CUstream, hStream), (cuMemFreeAsync, 11020, 0), (cuMemFreeAsync_ptsz, 11020, 1)) \
    CALL(X, cuMemAllocAsync, (CUdeviceptr *, dptr, size_t, bytesize, CUstream, hStream), (cuMemAllocAsync, 11020, 0), (cuMemAllocAsync_ptsz, 11020, 1)) \
    CALL(X, cuMemPoolTrimTo, (CUmemoryPool, pool, size_t, minBytesToKeep), (cuMemPoolTrimTo, 11020, 0)) \
    CALL(X, cuMemPoolSetAttribute, (CUmemoryPool, pool, CUmemPool_attribute, attr, void *, value), (cuMemPoolSetAttribute, 11020, 0)) \
    CALL(X, cuMemPoolGetAttribute, (CUmemoryPool, pool, CUmemPool_attribute, attr, void *, value), (cuMemPoolGetAttribute, 11020, 0)) \
    CALL(X, cuMemPoolSetAccess, (CUmemoryPool, pool, const CUmemAccessDesc *, map, size_t, count), (cuMemPoolSetAccess, 11020, 0)) \
    CALL(X, cuMemPoolGetAccess, (CUmemAccess_flags *, flags, CUmemoryPool, memPool, CUmemLocation *, location), (cuMemPoolGetAccess, 11020, 0)) \
    CALL(X, cuMemPoolCreate, (CUmemoryPool *, pool, const CUmemPoolProps *, poolProps), (cuMemPoolCreate, 11020, 0)) \
    CALL(X, cuMemPoolDestroy, (CUmemoryPool, pool), (cuMemPoolDestroy, 11020, 0)) \
    CALL(X, cuMemGetDefaultMemPool, (CUmemoryPool *, pool_out, CUmemLocation *, location, CUmemAllocationType, type), (cuMemGetDefaultMemPool, 13000, 0)) \
    CALL(X, cuMemGetMemPool, (CUmemoryPool *, pool, CUmemLocation *, location, CUmemAllocationType, type), (cuMemGetMemPool, 13000, 0)) \
    CALL(X, cuMemSetMemPool, (CUmemLocation *, location, CUmemAllocationType, type, CUmemoryPool, pool), (cuMemSetMemPool, 13000, 0)) \
    CALL(X, cuMemAllocFromPoolAsync, (CUdeviceptr *, dptr, size_t, bytesize, CUmemoryPool, pool, CUstream, hStream), (cuMemAllocFromPoolAsync, 11020, 0), (cuMemAllocFromPoolAsync_ptsz, 11020, 1)) \
    CALL(X, cuMemPoolExportToShareableHandle, (void *, handle_out, CUmemoryPool, pool, CUmemAllocationHandleType, handleType, unsigned long long, flags), (cuMemPoolExportToShareableHandle, 11020, 0)) \
    CALL(X, cuMemPoolImportFromShareableHandle, (CUmemoryPool *, pool_out, void *, handle, CUmemAllocationHandleType, handleType, unsigned long long, flags), (cuMemPoolImportFromShareableHandle, 11020, 0)) \
    CALL(X, cuMemPoolExportPointer, (CUmemPoolPtrExportData *, shareData_out, CUdeviceptr, ptr), (cuMemPoolExportPointer, 11020, 0)) \
    CALL(X, cuMemPoolImportPointer, (CUdeviceptr *, ptr_out, CUmemoryPool, pool, CUmemPoolPtrExportData *, shareData), (cuMemPoolImportPointer, 11020, 0)) \
    CALL(X, cuMulticastCreate, (CUmemGenericAllocationHandle *, mcHandle, const CUmulticastObjectProp *, prop), (cuMulticastCreate, 12010, 0)) \
    CALL(X, cuMulticastAddDevice, (CUmemGenericAllocationHandle, mcHandle, CUdevice, dev), (cuMulticastAddDevice, 12010, 0)) \
    CALL(X, cuMulticastBindMem, (CUmemGenericAllocationHandle, mcHandle, size_t, mcOffset, CUmemGenericAllocationHandle, memHandle, size_t, memOffset, size_t, size, unsigned long long, flags), (cuMulticastBindMem, 12010, 0)) \
    CALL(X, cuMulticastBindAddr, (CUmemGenericAllocationHandle, mcHandle, size_t, mcOffset, CUdeviceptr, memptr, size_t, size, unsigned long long, flags), (cuMulticastBindAddr, 12010, 0)) \
    CALL(X, cuMulticastUnbind, (CUmemGenericAllocationHandle, mcHandle, CUdevice, dev, size_t, mcOffset, size_t, size), (cuMulticastUnbind, 12010, 0)) \
    CALL(X, cuMulticastGetGranularity, (size_t *, granularity, const CUmulticastObjectProp *, prop, CUmulticastGranularity_flags, option), (cuMulticastGetGranularity, 12010, 0)) \
    CALL(X, cuPointerGetAttribute, (void *, data, CUpointer_attribute, attribute, CUdeviceptr, ptr), (cuPointerGetAttribute, 4000, 0)) \
    CALL(X, cuMemPrefetchAsync, (CUdeviceptr, devPtr, size_t, count, CUmemLocation, location, unsigned int, flags, CUstream, hStream), (cuMemPrefetchAsync_v2, 12020, 0), (cuMemPrefetchAsync_v2_ptsz, 12020, 1)) \
    OLDER(X, cuMemPrefetchAsync, (CUdeviceptr, devPtr, size_t, count, CUdevice, dstDevice, CUstream, hStream), (cuMemPrefetchAsync, 8000, 0), (cuMemPrefetchAsync_ptsz, 8000, 1)) \
    CALL(X, cuMemAdvise, (CUdeviceptr, devPtr, size_t, count, CUmem_advise, advice, CUmemLocation, location), (cuMemAdvise_v2, 12020, 0)) \
    OLDER(X, cuMemAdvise, (CUdeviceptr, devPtr, size_t, count, CUmem_advise, advice, CUdevice, device), (cuMemAdvise, 8000, 0)) \
    CALL(X, cuMemPrefetchBatchAsync, (CUdeviceptr *, dptrs, size_t *, sizes, size_t, count, CUmemLocation *, prefetchLocs, size_t *, prefetchLocIdxs, size_t, numPrefetchLocs, unsigned long long, flags, CUstream, hStream), (cuMemPrefetchBatchAsync, 13000, 0), (cuMemPrefetchBatchAsync_ptsz, 13000, 1)) \
    CALL(X, cuMemDiscardBatchAsync, (CUdeviceptr *, dptrs, size_t *, sizes, size_t, count, unsigned long long, flags, CUstream, hStream), (cuMemDiscardBatchAsync, 13000, 0), (cuMemDiscardBatchAsync_ptsz, 13000, 1)) \
    CALL(X, cuMemDiscardAndPrefetchBatchAsync, (CUdeviceptr *, dptrs, size_t *, sizes, size_t, count, CUmemLocation *, prefetchLocs, size_t *, prefetchLocIdxs, size_t, numPrefetchLocs, unsigned long long, flags, CUstream, hStream), (cuMemDiscardAndPrefetchBatchAsync, 13000, 0), (cuMemDiscardAndPrefetchBatchAsync_ptsz, 13000, 1)) \
    CALL(X, cuMemRangeGetAttribute, (void *, data, size_t, dataSize, CUmem_range_attribute, attribute, CUdeviceptr, devPtr, size_t, count), (cuMemRangeGetAttribute, 8000, 0)) \
    CALL(X, cuMemRangeGetAttributes, (void **, data, size_t *, dataSizes, CUmem_range_attribute *, attributes, size_t, numAttributes, CUdeviceptr, devPtr, size_t, count), (cuMemRangeGetAttributes, 8000, 0)) \
    CALL(X, cuPointerSetAttribute, (const void *, value, CUpointer_attribute, attribute, CUdeviceptr, ptr), (cuPointerSetAttribute, 6000, 0)) \
    CALL(X, cuPointerGetAttributes, (unsigned int, numAttributes, CUpointer_attribute *, attributes, void **, data, CUdeviceptr, ptr), (cuPointerGetAttributes, 7000, 0)) \
    CALL(X, cuStreamCreate, (CUstream *, phStream, unsigned int, Flags), (cuStreamCreate, 2000, 0)) \
    CALL(X, cuStreamCreateWithPriority, (CUstream *, phStream, unsigned int, flags, int, priority), (cuStreamCreateWithPriority, 5050, 0)) \
    CALL(X, cuStreamGetPriority, (CUstream, hStream, int *, priority), (cuStreamGetPriority, 5050, 0), (cuStreamGetPriority_ptsz, 7000, 1)) \
    CALL(X, cuStreamGetDevice, (CUstream, hStream, CUdevice *, device), (cuStreamGetDevice, 12080, 0), (cuStreamGetDevice_ptsz, 12080, 1)) \
    CALL(X, cuStreamGetFlags, (CUstream, hStream, unsigned int *, flags), (cuStreamGetFlags, 5050, 0), (cuStreamGetFlags_ptsz, 7000, 1)) \
    CALL(X, cuStreamGetId, (CUstream, hStream, unsigned long long *, streamId), (cuStreamGetId, 12000, 0), (cuStreamGetId_ptsz, 12000, 1)) \
    CALL(X, cuStreamGetCtx, (CUstream, hStream, CUcontext *, pctx), (cuStreamGetCtx, 9020, 0), (cuStreamGetCtx_ptsz, 9020, 1)) \
    OLDER(X, cuStreamGetCtx, (CUstream, hStream, CUcontext *, pctx, CUgreenCtx *, pGreenCtx), (cuStreamGetCtx_v2, 12050, 0), (cuStreamGetCtx_v2_ptsz, 12050, 1)) \
    CALL(X, cuStreamWaitEvent, (CUstream, hStream, CUevent, hEvent, unsigned int, Flags), (cuStreamWaitEvent, 3020, 0), (cuStreamWaitEvent_ptsz, 7000, 1)) \
    CALL(X, cuStreamAddCallback, (CUstream, hStream, CUstreamCallback, callback, void *, userData, unsigned int, flags), (cuStreamAddCallback, 5000, 0), (cuStreamAddCallback_ptsz, 7000, 1)) \
    CALL(X, cuStreamBeginCapture, (CUstream, hStream, CUstreamCaptureMode, mode), (cuStreamBeginCapture_v2, 10010, 0), (cuStreamBeginCapture_v2_ptsz, 10010, 1)) \
    OLDER(X, cuStreamBeginCapture, (CUstream, hStream), (cuStreamBeginCapture, 10000, 0), (cuStreamBeginCapture_ptsz, 10000, 1)) \
    CALL(X, cuStreamBeginCaptureToGraph, (CUstream, hStream, CUgraph, hGraph, const CUgraphNode *, dependencies, const CUgraphEdgeData *, dependencyData, size_t, numDependencies, CUstreamCaptureMode, mode), (cuStreamBeginCaptureToGraph, 12030, 0), (cuStreamBeginCaptureToGraph_ptsz, 12030, 1)) \
    CALL(X, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *, mode), (cuThreadExchangeStreamCaptureMode, 10010, 0)) \
    CALL(X, cuStreamEndCapture, (CUstream, hStream, CUgraph *, phGraph), (cuStreamEndCapture, 10000, 0), (cuStreamEndCapture_ptsz, 10000, 1)) \
    CALL(X, cuStreamIsCapturing, (CUstream, hStream, CUstreamCaptureStatus *, captureStatus), (cuStreamIsCapturing, 10000, 0), (cuStreamIsCapturing_ptsz, 10000, 1)) \
    CALL(X, cuStreamGetCaptureInfo, (CUstream, hStream, CUstreamCaptureStatus *, captureStatus_out, cuuint64_t *, id_out, CUgraph *, graph_out, const CUgraphNode **, dependencies_out, const CUgraphEdgeData **, edgeData_out, size_t *, numDependencies_out), (cuStreamGetCaptureInfo_v3, 12030, 0), (cuStreamGetCaptureInfo_v3_ptsz, 12030, 1)) \
    OLDER(X, cuStreamGetCaptureInfo, (CUstream, hStream, CUstreamCaptureStatus *, captureStatus_out, cuuint64_t *, id_out, CUgraph *, graph_out, const CUgraphNode **, dependencies_out, size_t *, numDependencies_out), (cuStreamGetCaptureInfo_v2, 11030, 0), (cuStreamGetCaptureInfo_v2_ptsz, 11030, 1)) \
    OLDER(X, cuStreamGetCaptureInfo, (CUstream, hStream, CUstreamCaptureStatus *, captureStatus_out, cuuint64_t *, id_out), (cuStreamGetCaptureInfo, 10010, 0), (cuStreamGetCaptureInfo_ptsz, 10010, 1)) \
    CALL(X, cuStreamUpdateCaptureDependencies, (CUstream, hStream, CUgraphNode *, dependencies, const CUgraphEdgeData *, dependencyData, size_t, numDependencies, unsigned int, flags), (cuStreamUpdateCaptureDependencies_v2, 12030, 0), (cuStreamUpdateCaptureDependencies_v2_ptsz, 12030, 1)) \
    OLDER(X, cuStreamUpdateCaptureDependencies, (CUstream, hStream, CUgraphNode *, dependencies, size_t, numDependencies, unsigned int, flags), (cuStreamUpdateCaptureDependencies, 11030, 0), (cuStreamUpdateCaptureDependencies_ptsz, 11030, 1)) \
    CALL(X, cuStreamAttachMemAsync, (CUstream, hStream, CUdeviceptr, dptr, size_t, length, unsigned int, flags), (cuStreamAttachMemAsync, 6000, 0), (cuStreamAttachMemAsync_ptsz, 7000, 1)) \
    CALL(X, cuStreamQuery, (CUstream, hStream), (cuStreamQuery, 2000, 0), (cuStreamQuery_ptsz, 7000, 1)) \
    CALL(X, cuStreamSynchronize, (CUstream, hStream), (cuStreamSynchronize, 2000, 0), (cuStreamSynchronize_ptsz, 7000, 1)) \
    CALL(X, cuStreamDestroy, (CUstream, hStream), (cuStreamDestroy_v2, 4000, 0), (cuStreamDestroy, 2000, 0)) \
    CALL(X, cuStreamCopyAttributes, (CUstream, dstStream, CUstream, srcStream), (cuStreamCopyAttributes, 11000, 0), (cuStreamCopyAttributes_ptsz, 11000, 1)) \
    CALL(X, cuStreamGetAttribute, (CUstream, hStream, CUstreamAttrID, attr, CUstreamAttrValue *, value), (cuStreamGetAttribute, 11000, 0), (cuStreamGetAttribute_ptsz, 11000, 1)) \
    CALL(X, cuStreamSetAttribute, (CUstream, hStream, CUstreamAttrID, attr, const CUstreamAttrValue *, param), (cuStreamSetAttribute, 11000, 0), (cuStreamSetAttribute_ptsz, 11000, 1)) \
    CALL(X, cuEventCreate, (CUevent *, phEvent, unsigned int, Flags), (cuEventCreate, 2000, 0)) \
    CALL(X, cuEventRecord, (CUevent, hEvent, CUstream, hStream), (cuEventRecord, 2000, 0), (cuEventRecord_ptsz, 7000, 1)) \
    CALL(X, cuEventRecordWithFlags, (CUevent, hEvent, CUstream, hStream, unsigned int, flags), (cuEventRecordWithFlags, 11010, 0), (cuEventRecordWithFlags_ptsz, 11010, 1)) \
    CALL(X, cuEventQuery, (CUevent, hEvent), (cuEventQuery, 2000, 0)) \
    CALL(X, cuEventSynchronize, (CUevent, hEvent), (cuEventSynchronize, 2000, 0)) \
    CALL(X, cuEventDestroy, (CUevent, hEvent), (cuEventDestroy_v2, 4000, 0), (cuEventDestroy, 2000, 0)) \
    CALL(X, cuEventElapsedTime, (float *, pMilliseconds, CUevent, hStart, CUevent, hEnd), (cuEventElapsedTime_v2, 12080, 0), (cuEventElapsedTime, 2000, 0)) \
    CALL(X, cuImportExternalMemory, (CUexternalMemory *, extMem_out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *, memHandleDesc), (cuImportExternalMemory, 10000, 0)) \
    CALL(X, cuExternalMemoryGetMappedBuffer, (CUdeviceptr *, devPtr, CUexternalMemory, extMem, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *, bufferDesc), (cuExternalMemoryGetMappedBuffer, 10000, 0)) \
    CALL(X, cuExternalMemoryGetMappedMipmappedArray, (CUmipmappedArray *, mipmap, CUexternalMemory, extMem, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *, mipmapDesc), (cuExternalMemoryGetMappedMipmappedArray, 10000, 0)) \
    CALL(X, cuDestroyExternalMemory, (CUexternalMemory, extMem), (cuDestroyExternalMemory, 10000, 0)) \
    CALL(X, cuImportExternalSemaphore, (CUexternalSemaphore *, extSem_out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *, semHandleDesc), (cuImportExternalSemaphore, 10000, 0)) \
    CALL(X, cuSignalExternalSemaphoresAsync, (const CUexternalSemaphore *, extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, paramsArray, unsigned int, numExtSems, CUstream, stream), (cuSignalExternalSemaphoresAsync, 10000, 0), (cuSignalExternalSemaphoresAsync_ptsz, 10000, 1)) \
    CALL(X, cuWaitExternalSemaphoresAsync, (const CUexternalSemaphore *, extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, paramsArray, unsigned int, numExtSems, CUstream, stream), (cuWaitExternalSemaphoresAsync, 10000, 0), (cuWaitExternalSemaphoresAsync_ptsz, 10000, 1)) \
    CALL(X, cuDestroyExternalSemaphore, (CUexternalSemaphore, extSem), (cuDestroyExternalSemaphore, 10000, 0)) \
    CALL(X, cuStreamWaitValue32, (CUstream, stream, CUdeviceptr, addr, cuuint32_t, value, unsigned int, flags), (cuStreamWaitValue32_v2, 11070, 0), (cuStreamWaitValue32_v2_ptsz, 11070, 1), (cuStreamWaitValue32, 8000, 0), (cuStreamWaitValue32_ptsz, 8000, 1)) \
    CALL(X, cuStreamWaitValue64, (CUstream, stream, CUdeviceptr, addr, cuuint64_t, value, unsigned int, flags), (cuStreamWaitValue64_v2, 11070, 0), (cuStreamWaitValue64_v2_ptsz, 11070, 1), (cuStreamWaitValue64, 9000, 0), (cuStreamWaitValue64_ptsz, 9000, 1)) \
    CALL(X, cuStreamWriteValue32, (CUstream, stream, CUdeviceptr, addr, cuuint32_t, value, unsigned int, flags), (cuStreamWriteValue32_v2, 11070, 0), (cuStreamWriteValue32_v2_ptsz, 11070, 1), (cuStreamWriteValue32, 8000, 0), (cuStreamWriteValue32_ptsz, 8000, 1)) \
    CALL(X, cuStreamWriteValue64, (CUstream, stream, CUdeviceptr, addr, cuuint64_t, value, unsigned int, flags), (cuStreamWriteValue64_v2, 11070, 0), (cuStreamWriteValue64_v2_ptsz, 11070, 1), (cuStreamWriteValue64, 9000, 0), (cuStreamWriteValue64_ptsz, 9000, 1)) \
    CALL(X, cuStreamBatchMemOp, (CUstream, stream, unsigned int, count, CUstreamBatchMemOpParams *, paramArray, unsigned int, flags), (cuStreamBatchMemOp_v2, 11070, 0), (cuStreamBatchMemOp_v2_ptsz, 11070, 1), (cuStreamBatchMemOp, 8000, 0), (cuStreamBatchMemOp_ptsz, 8000, 1)) \
    CALL(X, cuFuncGetAttribute, (int *, pi, CUfunction_attribute, attrib, CUfunction, hfunc), (cuFuncGetAttribute, 2020, 0)) \
    CALL(X, cuFuncSetAttribute, (CUfunction, hfunc, CUfunction_attribute, attrib, int, value), (cuFuncSetAttribute, 9000, 0)) \
    CALL(X, cuFuncSetCacheConfig, (CUfunction, hfunc, CUfunc_cache, config), (cuFuncSetCacheConfig, 3000, 0)) \
    CALL(X, cuFuncGetModule, (CUmodule *, hmod, CUfunction, hfunc), (cuFuncGetModule, 11000, 0)) \
    CALL(X, cuFuncGetName, (const char **, name, CUfunction, hfunc), (cuFuncGetName, 12030, 0)) \
    CALL(X, cuFuncGetParamInfo, (CUfunction, func, size_t, paramIndex, size_t *, paramOffset, size_t *, paramSize), (cuFuncGetParamInfo, 12040, 0)) \
    CALL(X, cuFuncIsLoaded, (CUfunctionLoadingState *, state, CUfunction, function), (cuFuncIsLoaded, 12040, 0)) \
    CALL(X, cuFuncLoad, (CUfunction, function), (cuFuncLoad, 12040, 0)) \
    CALL(X, cuLaunchKernel, (CUfunction, f, unsigned int, gridDimX, unsigned int, gridDimY, unsigned int, gridDimZ, unsigned int, blockDimX, unsigned int, blockDimY, unsigned int, blockDimZ, unsigned int, sharedMemBytes, CUstream, hStream, void **, kernelParams, void **, extra), (cuLaunchKernel, 4000, 0), (cuLaunchKernel_ptsz, 7000, 1)) \
    CALL(X, cuLaunchKernelEx, (const CUlaunchConfig *, config, CUfunction, f, void **, kernelParams, void **, extra), (cuLaunchKernelEx, 11060, 0), (cuLaunchKernelEx_ptsz, 11060, 1)) \
    CALL(X, cuLaunchCooperativeKernel, (CUfunction, f, unsigned int, gridDimX, unsigned int, gridDimY, unsigned int, gridDimZ, unsigned int, blockDimX, unsigned int, blockDimY, unsigned int, blockDimZ, unsigned int, sharedMemBytes, CUstream, hStream, void **, kernelParams), (cuLaunchCooperativeKernel, 9000, 0), (cuLaunchCooperativeKernel_ptsz, 9000, 1)) \
    CALL(X, cuLaunchHostFunc, (CUstream, hStream, CUhostFn, fn, void *, userData), (cuLaunchHostFunc, 10000, 0), (cuLaunchHostFunc_ptsz, 10000, 1)) \
    CALL(X, cuGraphCreate, (CUgraph *, phGraph, unsigned int, flags), (cuGraphCreate, 10000, 0)) \
    CALL(X, cuGraphAddKernelNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_KERNEL_NODE_PARAMS *, nodeParams), (cuGraphAddKernelNode_v2, 12000, 0)) \
    OLDER(X, cuGraphAddKernelNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams), (cuGraphAddKernelNode, 10000, 0)) \
    CALL(X, cuGraphKernelNodeGetParams, (CUgraphNode, hNode, CUDA_KERNEL_NODE_PARAMS *, nodeParams), (cuGraphKernelNodeGetParams_v2, 12000, 0)) \
    OLDER(X, cuGraphKernelNodeGetParams, (CUgraphNode, hNode, CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams), (cuGraphKernelNodeGetParams, 10000, 0)) \
    CALL(X, cuGraphKernelNodeSetParams, (CUgraphNode, hNode, const CUDA_KERNEL_NODE_PARAMS *, nodeParams), (cuGraphKernelNodeSetParams_v2, 12000, 0)) \
    OLDER(X, cuGraphKernelNodeSetParams, (CUgraphNode, hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams), (cuGraphKernelNodeSetParams, 10000, 0)) \
    CALL(X, cuGraphAddMemcpyNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_MEMCPY3D *, copyParams, CUcontext, ctx), (cuGraphAddMemcpyNode, 10000, 0)) \
    CALL(X, cuGraphMemcpyNodeGetParams, (CUgraphNode, hNode, CUDA_MEMCPY3D *, nodeParams), (cuGraphMemcpyNodeGetParams, 10000, 0)) \
    CALL(X, cuGraphMemcpyNodeSetParams, (CUgraphNode, hNode, const CUDA_MEMCPY3D *, nodeParams), (cuGraphMemcpyNodeSetParams, 10000, 0)) \
    CALL(X, cuGraphAddMemsetNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_MEMSET_NODE_PARAMS *, memsetParams, CUcontext, ctx), (cuGraphAddMemsetNode, 10000, 0)) \
    CALL(X, cuGraphMemsetNodeGetParams, (CUgraphNode, hNode, CUDA_MEMSET_NODE_PARAMS *, nodeParams), (cuGraphMemsetNodeGetParams, 10000, 0)) \
    CALL(X, cuGraphMemsetNodeSetParams, (CUgraphNode, hNode, const CUDA_MEMSET_NODE_PARAMS *, nodeParams), (cuGraphMemsetNodeSetParams, 10000, 0)) \
    CALL(X, cuGraphAddHostNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_HOST_NODE_PARAMS *, nodeParams), (cuGraphAddHostNode, 10000, 0)) \
    CALL(X, cuGraphHostNodeGetParams, (CUgraphNode, hNode, CUDA_HOST_NODE_PARAMS *, nodeParams), (cuGraphHostNodeGetParams, 10000, 0)) \
    CALL(X, cuGraphHostNodeSetParams, (CUgraphNode, hNode, const CUDA_HOST_NODE_PARAMS *, nodeParams), (cuGraphHostNodeSetParams, 10000, 0)) \
    CALL(X, cuGraphAddChildGraphNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, CUgraph, childGraph), (cuGraphAddChildGraphNode, 10000, 0)) \
    CALL(X, cuGraphChildGraphNodeGetGraph, (CUgraphNode, hNode, CUgraph *, phGraph), (cuGraphChildGraphNodeGetGraph, 10000, 0)) \
    CALL(X, cuGraphAddEmptyNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies), (cuGraphAddEmptyNode, 10000, 0)) \
    CALL(X, cuGraphAddEventRecordNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, CUevent, event), (cuGraphAddEventRecordNode, 11010, 0)) \
    CALL(X, cuGraphEventRecordNodeGetEvent, (CUgraphNode, hNode, CUevent *, event_out), (cuGraphEventRecordNodeGetEvent, 11010, 0)) \
    CALL(X, cuGraphEventRecordNodeSetEvent, (CUgraphNode, hNode, CUevent, event), (cuGraphEventRecordNodeSetEvent, 11010, 0)) \
    CALL(X, cuGraphAddEventWaitNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, CUevent, event), (cuGraphAddEventWaitNode, 11010, 0)) \
    CALL(X, cuGraphEventWaitNodeGetEvent, (CUgraphNode, hNode, CUevent *, event_out), (cuGraphEventWaitNodeGetEvent, 11010, 0)) \
    CALL(X, cuGraphEventWaitNodeSetEvent, (CUgraphNode, hNode, CUevent, event), (cuGraphEventWaitNodeSetEvent, 11010, 0)) \
    CALL(X, cuGraphAddExternalSemaphoresSignalNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *, nodeParams), (cuGraphAddExternalSemaphoresSignalNode, 11020, 0)) \
    CALL(X, cuGraphExternalSemaphoresSignalNodeGetParams, (CUgraphNode, hNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *, params_out), (cuGraphExternalSemaphoresSignalNodeGetParams, 11020, 0)) \
    CALL(X, cuGraphExternalSemaphoresSignalNodeSetParams, (CUgraphNode, hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *, nodeParams), (cuGraphExternalSemaphoresSignalNodeSetParams, 11020, 0)) \
    CALL(X, cuGraphAddExternalSemaphoresWaitNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *, nodeParams), (cuGraphAddExternalSemaphoresWaitNode, 11020, 0)) \
    CALL(X, cuGraphExternalSemaphoresWaitNodeGetParams, (CUgraphNode, hNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS *, params_out), (cuGraphExternalSemaphoresWaitNodeGetParams, 11020, 0)) \
    CALL(X, cuGraphExternalSemaphoresWaitNodeSetParams, (CUgraphNode, hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *, nodeParams), (cuGraphExternalSemaphoresWaitNodeSetParams, 11020, 0)) \
    CALL(X, cuGraphAddBatchMemOpNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams), (cuGraphAddBatchMemOpNode, 11070, 0)) \
    CALL(X, cuGraphBatchMemOpNodeGetParams, (CUgraphNode, hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams_out), (cuGraphBatchMemOpNodeGetParams, 11070, 0)) \
    CALL(X, cuGraphBatchMemOpNodeSetParams, (CUgraphNode, hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams), (cuGraphBatchMemOpNodeSetParams, 11070, 0)) \
    CALL(X, cuGraphExecBatchMemOpNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams), (cuGraphExecBatchMemOpNodeSetParams, 11070, 0)) \
    CALL(X, cuGraphAddMemAllocNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *, nodeParams), (cuGraphAddMemAllocNode, 11040, 0)) \
    CALL(X, cuGraphMemAllocNodeGetParams, (CUgraphNode, hNode, CUDA_MEM_ALLOC_NODE_PARAMS *, params_out), (cuGraphMemAllocNodeGetParams, 11040, 0)) \
    CALL(X, cuGraphAddMemFreeNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, CUdeviceptr, dptr), (cuGraphAddMemFreeNode, 11040, 0)) \
    CALL(X, cuGraphMemFreeNodeGetParams, (CUgraphNode, hNode, CUdeviceptr *, dptr_out), (cuGraphMemFreeNodeGetParams, 11040, 0)) \
    CALL(X, cuDeviceGraphMemTrim, (CUdevice, device), (cuDeviceGraphMemTrim, 11040, 0)) \
    CALL(X, cuDeviceGetGraphMemAttribute, (CUdevice, device, CUgraphMem_attribute, attr, void *, value), (cuDeviceGetGraphMemAttribute, 11040, 0)) \
    CALL(X, cuDeviceSetGraphMemAttribute, (CUdevice, device, CUgraphMem_attribute, attr, void *, value), (cuDeviceSetGraphMemAttribute, 11040, 0)) \
    CALL(X, cuGraphClone, (CUgraph *, phGraphClone, CUgraph, originalGraph), (cuGraphClone, 10000, 0)) \
    CALL(X, cuGraphNodeFindInClone, (CUgraphNode *, phNode, CUgraphNode, hOriginalNode, CUgraph, hClonedGraph), (cuGraphNodeFindInClone, 10000, 0)) \
    CALL(X, cuGraphNodeGetType, (CUgraphNode, hNode, CUgraphNodeType *, type), (cuGraphNodeGetType, 10000, 0)) \
    CALL(X, cuGraphGetNodes, (CUgraph, hGraph, CUgraphNode *, nodes, size_t *, numNodes), (cuGraphGetNodes, 10000, 0)) \
    CALL(X, cuGraphGetRootNodes, (CUgraph, hGraph, CUgraphNode *, rootNodes, size_t *, numRootNodes), (cuGraphGetRootNodes, 10000, 0)) \
    CALL(X, cuGraphGetEdges, (CUgraph, hGraph, CUgraphNode *, from, CUgraphNode *, to, CUgraphEdgeData *, edgeData, size_t *, numEdges), (cuGraphGetEdges_v2, 12030, 0)) \
    OLDER(X, cuGraphGetEdges, (CUgraph, hGraph, CUgraphNode *, from, CUgraphNode *, to, size_t *, numEdges), (cuGraphGetEdges, 10000, 0)) \
    CALL(X, cuGraphNodeGetDependencies, (CUgraphNode, hNode, CUgraphNode *, dependencies, CUgraphEdgeData *, edgeData, size_t *, numDependencies), (cuGraphNodeGetDependencies_v2, 12030, 0)) \
    OLDER(X, cuGraphNodeGetDependencies, (CUgraphNode, hNode, CUgraphNode *, dependencies, size_t *, numDependencies), (cuGraphNodeGetDependencies, 10000, 0)) \
    CALL(X, cuGraphNodeGetDependentNodes, (CUgraphNode, hNode, CUgraphNode *, dependentNodes, CUgraphEdgeData *, edgeData, size_t *, numDependentNodes), (cuGraphNodeGetDependentNodes_v2, 12030, 0)) \
    OLDER(X, cuGraphNodeGetDependentNodes, (CUgraphNode, hNode, CUgraphNode *, dependentNodes, size_t *, numDependentNodes), (cuGraphNodeGetDependentNodes, 10000, 0)) \
    CALL(X, cuGraphAddDependencies, (CUgraph, hGraph, const CUgraphNode *, from, const CUgraphNode *, to, const CUgraphEdgeData *, edgeData, size_t, numDependencies), (cuGraphAddDependencies_v2, 12030, 0)) \
    OLDER(X, cuGraphAddDependencies, (CUgraph, hGraph, const CUgraphNode *, from, const CUgraphNode *, to, size_t, numDependencies), (cuGraphAddDependencies, 10000, 0)) \
    CALL(X, cuGraphRemoveDependencies, (CUgraph, hGraph, const CUgraphNode *, from, const CUgraphNode *, to, const CUgraphEdgeData *, edgeData, size_t, numDependencies), (cuGraphRemoveDependencies_v2, 12030, 0)) \
    OLDER(X, cuGraphRemoveDependencies, (CUgraph, hGraph, const CUgraphNode *, from, const CUgraphNode *, to, size_t, numDependencies), (cuGraphRemoveDependencies, 10000, 0)) \
    CALL(X, cuGraphDestroyNode, (CUgraphNode, hNode), (cuGraphDestroyNode, 10000, 0)) \
    CALL(X, cuGraphInstantiateWithFlags, (CUgraphExec *, phGraphExec, CUgraph, hGraph, unsigned long long, flags), (cuGraphInstantiateWithFlags, 11040, 0)) \
    OLDER(X, cuGraphInstantiate, (CUgraphExec *, phGraphExec, CUgraph, hGraph, CUgraphNode *, phErrorNode, char *, logBuffer, size_t, bufferSize), (cuGraphInstantiate_v2, 11000, 0), (cuGraphInstantiate, 10000, 0)) \
    CALL(X, cuGraphInstantiateWithParams, (CUgraphExec *, phGraphExec, CUgraph, hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *, instantiateParams), (cuGraphInstantiateWithParams, 12000, 0), (cuGraphInstantiateWithParams_ptsz, 12000, 1)) \
    CALL(X, cuGraphExecGetFlags, (CUgraphExec, hGraphExec, cuuint64_t *, flags), (cuGraphExecGetFlags, 12000, 0)) \
    CALL(X, cuGraphExecKernelNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_KERNEL_NODE_PARAMS *, nodeParams), (cuGraphExecKernelNodeSetParams_v2, 12000, 0)) \
    OLDER(X, cuGraphExecKernelNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams), (cuGraphExecKernelNodeSetParams, 10010, 0)) \
    CALL(X, cuGraphExecMemcpyNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_MEMCPY3D *, copyParams, CUcontext, ctx), (cuGraphExecMemcpyNodeSetParams, 10020, 0)) \
    CALL(X, cuGraphExecMemsetNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_MEMSET_NODE_PARAMS *, memsetParams, CUcontext, ctx), (cuGraphExecMemsetNodeSetParams, 10020, 0)) \
    CALL(X, cuGraphExecHostNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_HOST_NODE_PARAMS *, nodeParams), (cuGraphExecHostNodeSetParams, 10020, 0)) \
    CALL(X, cuGraphExecChildGraphNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, CUgraph, childGraph), (cuGraphExecChildGraphNodeSetParams, 11010, 0)) \
    CALL(X, cuGraphExecEventRecordNodeSetEvent, (CUgraphExec, hGraphExec, CUgraphNode, hNode, CUevent, event), (cuGraphExecEventRecordNodeSetEvent, 11010, 0)) \
    CALL(X, cuGraphExecEventWaitNodeSetEvent, (CUgraphExec, hGraphExec, CUgraphNode, hNode, CUevent, event), (cuGraphExecEventWaitNodeSetEvent, 11010, 0)) \
    CALL(X, cuGraphExecExternalSemaphoresSignalNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *, nodeParams), (cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, 0)) \
    CALL(X, cuGraphExecExternalSemaphoresWaitNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *, nodeParams), (cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, 0)) \
    CALL(X, cuGraphNodeSetEnabled, (CUgraphExec, hGraphExec, CUgraphNode, hNode, unsigned int, isEnabled), (cuGraphNodeSetEnabled, 11060, 0)) \
    CALL(X, cuGraphNodeGetEnabled, (CUgraphExec, hGraphExec, CUgraphNode, hNode, unsigned int *, isEnabled), (cuGraphNodeGetEnabled, 11060, 0)) \
    CALL(X, cuGraphUpload, (CUgraphExec, hGraph, CUstream, hStream), (cuGraphUpload, 11010, 0), (cuGraphUpload_ptsz, 11010, 1)) \
    CALL(X, cuGraphLaunch, (CUgraphExec, hGraph, CUstream, hStream), (cuGraphLaunch, 10000, 0), (cuGraphLaunch_ptsz, 10000, 1)) \
    CALL(X, cuGraphExecDestroy, (CUgraphExec, hGraphExec), (cuGraphExecDestroy, 10000, 0)) \
    CALL(X, cuGraphDestroy, (CUgraph, hGraph), (cuGraphDestroy, 10000, 0)) \
    CALL(X, cuGraphExecUpdate, (CUgraphExec, hGraphExec, CUgraph, hGraph, CUgraphExecUpdateResultInfo *, resultInfo), (cuGraphExecUpdate_v2, 12000, 0)) \
    OLDER(X, cuGraphExecUpdate, (CUgraphExec, hGraphExec, CUgraph, hGraph, CUgraphNode *, hErrorNode_out, CUgraphExecUpdateResult *, updateResult_out), (cuGraphExecUpdate, 10020, 0)) \
    CALL(X, cuGraphKernelNodeCopyAttributes, (CUgraphNode, dst, CUgraphNode, src), (cuGraphKernelNodeCopyAttributes, 11000, 0)) \
    CALL(X, cuGraphKernelNodeGetAttribute, (CUgraphNode, hNode, CUkernelNodeAttrID, attr, CUkernelNodeAttrValue *, value_out), (cuGraphKernelNodeGetAttribute, 11000, 0)) \
    CALL(X, cuGraphKernelNodeSetAttribute, (CUgraphNode, hNode, CUkernelNodeAttrID, attr, const CUkernelNodeAttrValue *, value), (cuGraphKernelNodeSetAttribute, 11000, 0)) \
    CALL(X, cuGraphDebugDotPrint, (CUgraph, hGraph, const char *, path, unsigned int, flags), (cuGraphDebugDotPrint, 11030, 0)) \
    CALL(X, cuUserObjectCreate, (CUuserObject *, object_out, void *, ptr, CUhostFn, destroy, unsigned int, initialRefcount, unsigned int, flags), (cuUserObjectCreate, 11030, 0)) \
    CALL(X, cuUserObjectRetain, (CUuserObject, object, unsigned int, count), (cuUserObjectRetain, 11030, 0)) \
    CALL(X, cuUserObjectRelease, (CUuserObject, object, unsigned int, count), (cuUserObjectRelease, 11030, 0)) \
    CALL(X, cuGraphRetainUserObject, (CUgraph, graph, CUuserObject, object, unsigned int, count, unsigned int, flags), (cuGraphRetainUserObject, 11030, 0)) \
    CALL(X, cuGraphReleaseUserObject, (CUgraph, graph, CUuserObject, object, unsigned int, count), (cuGraphReleaseUserObject, 11030, 0)) \
    CALL(X, cuGraphAddNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, const CUgraphEdgeData *, dependencyData, size_t, numDependencies, CUgraphNodeParams *, nodeParams), (cuGraphAddNode_v2, 12030, 0)) \
    OLDER(X, cuGraphAddNode, (CUgraphNode *, phGraphNode, CUgraph, hGraph, const CUgraphNode *, dependencies, size_t, numDependencies, CUgraphNodeParams *, nodeParams), (cuGraphAddNode, 12020, 0)) \
    CALL(X, cuGraphNodeSetParams, (CUgraphNode, hNode, CUgraphNodeParams *, nodeParams), (cuGraphNodeSetParams, 12020, 0)) \
    CALL(X, cuGraphExecNodeSetParams, (CUgraphExec, hGraphExec, CUgraphNode, hNode, CUgraphNodeParams *, nodeParams), (cuGraphExecNodeSetParams, 12020, 0)) \
    CALL(X, cuGraphConditionalHandleCreate, (CUgraphConditionalHandle *, pHandle_out, CUgraph, hGraph, CUcontext, ctx, unsigned int, defaultLaunchValue, unsigned int, flags), (cuGraphConditionalHandleCreate, 12030, 0)) \
    CALL(X, cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, numBlocks, CUfunction, func, int, blockSize, size_t, dynamicSMemSize), (cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, 0)) \
    CALL(X, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *, numBlocks, CUfunction, func, int, blockSize, size_t, dynamicSMemSize, unsigned int, flags), (cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, 0)) \
    CALL(X, cuOccupancyMaxPotentialBlockSize, (int *, minGridSize, int *, blockSize, CUfunction, func, CUoccupancyB2DSize, blockSizeToDynamicSMemSize, size_t, dynamicSMemSize, int, blockSizeLimit), (cuOccupancyMaxPotentialBlockSize, 6050, 0)) \
    CALL(X, cuOccupancyMaxPotentialBlockSizeWithFlags, (int *, minGridSize, int *, blockSize, CUfunction, func, CUoccupancyB2DSize, blockSizeToDynamicSMemSize, size_t, dynamicSMemSize, int, blockSizeLimit, unsigned int, flags), (cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, 0)) \
    CALL(X, cuOccupancyAvailableDynamicSMemPerBlock, (size_t *, dynamicSmemSize, CUfunction, func, int, numBlocks, int, blockSize), (cuOccupancyAvailableDynamicSMemPerBlock, 10020, 0)) \
    CALL(X, cuOccupancyMaxPotentialClusterSize, (int *, clusterSize, CUfunction, func, const CUlaunchConfig *, config), (cuOccupancyMaxPotentialClusterSize, 11070, 0)) \
    CALL(X, cuOccupancyMaxActiveClusters, (int *, numClusters, CUfunction, func, const CUlaunchConfig *, config), (cuOccupancyMaxActiveClusters, 11070, 0)) \
    CALL(X, cuTexObjectCreate, (CUtexObject *, pTexObject, const CUDA_RESOURCE_DESC *, pResDesc, const CUDA_TEXTURE_DESC *, pTexDesc, const CUDA_RESOURCE_VIEW_DESC *, pResViewDesc), (cuTexObjectCreate, 5000, 0)) \
    CALL(X, cuTexObjectDestroy, (CUtexObject, texObject), (cuTexObjectDestroy, 5000, 0)) \
    CALL(X, cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC *, pResDesc, CUtexObject, texObject), (cuTexObjectGetResourceDesc, 5000, 0)) \
    CALL(X, cuTexObjectGetTextureDesc, (CUDA_TEXTURE_DESC *, pTexDesc, CUtexObject, texObject), (cuTexObjectGetTextureDesc, 5000, 0)) \
    CALL(X, cuTexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC *, pResViewDesc, CUtexObject, texObject), (cuTexObjectGetResourceViewDesc, 5000, 0)) \
    CALL(X, cuSurfObjectCreate, (CUsurfObject *, pSurfObject, const CUDA_RESOURCE_DESC *, pResDesc), (cuSurfObjectCreate, 5000, 0)) \
    CALL(X, cuSurfObjectDestroy, (CUsurfObject, surfObject), (cuSurfObjectDestroy, 5000, 0)) \
    CALL(X, cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC *, pResDesc, CUsurfObject, surfObject), (cuSurfObjectGetResourceDesc, 5000, 0)) \
    CALL(X, cuTensorMapEncodeTiled, (CUtensorMap *, tensorMap, CUtensorMapDataType, tensorDataType, cuuint32_t, tensorRank, void *, globalAddress, const cuuint64_t *, globalDim, const cuuint64_t *, globalStrides, const cuuint32_t *, boxDim, const cuuint32_t *, elementStrides, CUtensorMapInterleave, interleave, CUtensorMapSwizzle, swizzle, CUtensorMapL2promotion, l2Promotion, CUtensorMapFloatOOBfill, oobFill), (cuTensorMapEncodeTiled, 12000, 0)) \
    CALL(X, cuTensorMapEncodeIm2col, (CUtensorMap *, tensorMap, CUtensorMapDataType, tensorDataType, cuuint32_t, tensorRank, void *, globalAddress, const cuuint64_t *, globalDim, const cuuint64_t *, globalStrides, const int *, pixelBoxLowerCorner, const int *, pixelBoxUpperCorner, cuuint32_t, channelsPerPixel, cuuint32_t, pixelsPerColumn, const cuuint32_t *, elementStrides, CUtensorMapInterleave, interleave, CUtensorMapSwizzle, swizzle, CUtensorMapL2promotion, l2Promotion, CUtensorMapFloatOOBfill, oobFill), (cuTensorMapEncodeIm2col, 12000, 0)) \
    CALL(X, cuTensorMapEncodeIm2colWide, (CUtensorMap *, tensorMap, CUtensorMapDataType, tensorDataType, cuuint32_t, tensorRank, void *, globalAddress, const cuuint64_t *, globalDim, const cuuint64_t *, globalStrides, int, pixelBoxLowerCornerWidth, int, pixelBoxUpperCornerWidth, cuuint32_t, channelsPerPixel, cuuint32_t, pixelsPerColumn, const cuuint32_t *, elementStrides, CUtensorMapInterleave, interleave, CUtensorMapIm2ColWideMode, mode, CUtensorMapSwizzle, swizzle, CUtensorMapL2promotion, l2Promotion, CUtensorMapFloatOOBfill, oobFill), (cuTensorMapEncodeIm2colWide, 12080, 0)) \
    CALL(X, cuTensorMapReplaceAddress, (CUtensorMap *, tensorMap, void *, globalAddress), (cuTensorMapReplaceAddress, 12000, 0)) \
    CALL(X, cuDeviceCanAccessPeer, (int *, canAccessPeer, CUdevice, dev, CUdevice, peerDev), (cuDeviceCanAccessPeer, 4000, 0)) \
    CALL(X, cuCtxEnablePeerAccess, (CUcontext, peerContext, unsigned int, Flags), (cuCtxEnablePeerAccess, 4000, 0)) \
    CALL(X, cuCtxDisablePeerAccess, (CUcontext, peerContext), (cuCtxDisablePeerAccess, 4000, 0)) \
    CALL(X, cuDeviceGetP2PAttribute, (int *, value, CUdevice_P2PAttribute, attrib, CUdevice, srcDevice, CUdevice, dstDevice), (cuDeviceGetP2PAttribute, 8000, 0)) \
    CALL(X, cuDeviceGetP2PAtomicCapabilities, (unsigned int *, capabilities, const CUatomicOperation *, operations, unsigned int, count, CUdevice, srcDevice, CUdevice, dstDevice), (cuDeviceGetP2PAtomicCapabilities, 13000, 0)) \
    CALL(X, cuGraphicsUnregisterResource, (CUgraphicsResource, resource), (cuGraphicsUnregisterResource, 3000, 0)) \
    CALL(X, cuGraphicsSubResourceGetMappedArray, (CUarray *, pArray, CUgraphicsResource, resource, unsigned int, arrayIndex, unsigned int, mipLevel), (cuGraphicsSubResourceGetMappedArray, 3000, 0)) \
    CALL(X, cuGraphicsResourceGetMappedMipmappedArray, (CUmipmappedArray *, pMipmappedArray, CUgraphicsResource, resource), (cuGraphicsResourceGetMappedMipmappedArray, 5000, 0)) \
    CALL(X, cuGraphicsResourceGetMappedPointer, (CUdeviceptr *, pDevPtr, size_t *, pSize, CUgraphicsResource, resource), (cuGraphicsResourceGetMappedPointer_v2, 3020, 0)) \
    OLDER(X, cuGraphicsResourceGetMappedPointer, (CUdeviceptr_v1 *, pDevPtr, unsigned int *, pSize, CUgraphicsResource, resource), (cuGraphicsResourceGetMappedPointer, 3000, 0)) \
    CALL(X, cuGraphicsResourceSetMapFlags, (CUgraphicsResource, resource, unsigned int, flags), (cuGraphicsResourceSetMapFlags_v2, 6050, 0), (cuGraphicsResourceSetMapFlags, 3000, 0)) \
    CALL(X, cuGraphicsMapResources, (unsigned int, count, CUgraphicsResource *, resources, CUstream, hStream), (cuGraphicsMapResources, 3000, 0), (cuGraphicsMapResources_ptsz, 7000, 1)) \
    CALL(X, cuGraphicsUnmapResources, (unsigned int, count, CUgraphicsResource *, resources, CUstream, hStream), (cuGraphicsUnmapResources, 3000, 0), (cuGraphicsUnmapResources_ptsz, 7000, 1)) \
    CALL(X, cuGetProcAddress, (const char *, symbol, void **, pfn, int, cudaVersion, cuuint64_t, flags, CUdriverProcAddressQueryResult *, symbolStatus), (cuGetProcAddress_v2, 12000, 0)) \
    OLDER(X, cuGetProcAddress, (const char *, symbol, void **, pfn, int, cudaVersion, cuuint64_t, flags), (cuGetProcAddress, 11030, 0)) \
    CALL(X, cuCoredumpGetAttribute, (CUcoredumpSettings, attrib, void *, value, size_t *, size), (cuCoredumpGetAttribute, 12010, 0)) \
    CALL(X, cuCoredumpGetAttributeGlobal, (CUcoredumpSettings, attrib, void *, value, size_t *, size), (cuCoredumpGetAttributeGlobal, 12010, 0)) \
    CALL(X, cuCoredumpSetAttribute, (CUcoredumpSettings, attrib, void *, value, size_t *, size), (cuCoredumpSetAttribute, 12010, 0)) \
    CALL(X, cuCoredumpSetAttributeGlobal, (CUcoredumpSettings, attrib, void *, value, size_t *, size), (cuCoredumpSetAttributeGlobal, 12010, 0)) \
    CALL(X, cuGetExportTable, (const void **, ppExportTable, const CUuuid *, pExportTableId), (cuGetExportTable, 3000, 0)) \
    CALL(X, cuGreenCtxCreate, (CUgreenCtx *, phCtx, CUdevResourceDesc, desc, CUdevice, dev, unsigned int, flags), (cuGreenCtxCreate, 12040, 0)) \
    CALL(X, cuGreenCtxDestroy, (CUgreenCtx, hCtx), (cuGreenCtxDestroy, 12040, 0)) \
    CALL(X, cuCtxFromGreenCtx, (CUcontext *, pContext, CUgreenCtx, hCtx), (cuCtxFromGreenCtx, 12040, 0)) \
    CALL(X, cuDeviceGetDevResource, (CUdevice, device, CUdevResource *, resource, CUdevResourceType, type), (cuDeviceGetDevResource, 12040, 0)) \
    CALL(X, cuCtxGetDevResource, (CUcontext, hCtx, CUdevResource *, resource, CUdevResourceType, type), (cuCtxGetDevResource, 12040, 0)) \
    CALL(X, cuGreenCtxGetDevResource, (CUgreenCtx, hCtx, CUdevResource *, resource, CUdevResourceType, type), (cuGreenCtxGetDevResource, 12040, 0)) \
    CALL(X, cuDevSmResourceSplitByCount, (CUdevResource *, result, unsigned int *, nbGroups, const CUdevResource *, input, CUdevResource *, remaining, unsigned int, useFlags, unsigned int, minCount), (cuDevSmResourceSplitByCount, 12040, 0)) \
    CALL(X, cuDevResourceGenerateDesc, (CUdevResourceDesc *, phDesc, CUdevResource *, resources, unsigned int, nbResources), (cuDevResourceGenerateDesc, 12040, 0)) \
    CALL(X, cuGreenCtxRecordEvent, (CUgreenCtx, hCtx, CUevent, hEvent), (cuGreenCtxRecordEvent, 12040, 0)) \
    CALL(X, cuGreenCtxWaitEvent, (CUgreenCtx, hCtx, CUevent, hEvent), (cuGreenCtxWaitEvent, 12040, 0)) \
    CALL(X, cuStreamGetGreenCtx, (CUstream, hStream, CUgreenCtx *, phCtx), (cuStreamGetGreenCtx, 12040, 0)) \
    CALL(X, cuGreenCtxStreamCreate, (CUstream *, phStream, CUgreenCtx, greenCtx, unsigned int, flags, int, priority), (cuGreenCtxStreamCreate, 12050, 0)) \
    CALL(X, cuGreenCtxGetId, (CUgreenCtx, greenCtx, unsigned long long *, greenCtxId), (cuGreenCtxGetId, 12090, 0)) \
    CALL(X, cuLogsRegisterCallback, (CUlogsCallback, callbackFunc, void *, userData, CUlogsCallbackHandle *, callback_out), (cuLogsRegisterCallback, 12090, 0)) \
    CALL(X, cuLogsUnregisterCallback, (CUlogsCallbackHandle, callback), (cuLogsUnregisterCallback, 12090, 0)) \
    CALL(X, cuLogsCurrent, (CUlogIterator *, iterator_out, unsigned int, flags), (cuLogsCurrent, 12090, 0)) \
    CALL(X, cuLogsDumpToFile, (CUlogIterator *, iterator, const char *, pathToFile, unsigned int, flags), (cuLogsDumpToFile, 12090, 0)) \
    CALL(X, cuLogsDumpToMemory, (CUlogIterator *, iterator, char *, buffer, size_t *, size, unsigned int, flags), (cuLogsDumpToMemory, 12090, 0)) \
    CALL(X, cuCheckpointProcessGetRestoreThreadId, (int, pid, int *, tid), (cuCheckpointProcessGetRestoreThreadId, 12080, 0)) \
    CALL(X, cuCheckpointProcessGetState, (int, pid, CUprocessState *, state), (cuCheckpointProcessGetState, 12080, 0)) \
    CALL(X, cuCheckpointProcessLock, (int, pid, CUcheckpointLockArgs *, args), (cuCheckpointProcessLock, 12080, 0)) \
    CALL(X, cuCheckpointProcessCheckpoint, (int, pid, CUcheckpointCheckpointArgs *, args), (cuCheckpointProcessCheckpoint, 12080, 0)) \
    CALL(X, cuCheckpointProcessRestore, (int, pid, CUcheckpointRestoreArgs *, args), (cuCheckpointProcessRestore, 12080, 0)) \
    CALL(X, cuCheckpointProcessUnlock, (int, pid, CUcheckpointUnlockArgs *, args), (cuCheckpointProcessUnlock, 12080, 0)) \
    CALL(X, cuProfilerStart, (void), (cuProfilerStart, 4000, 0)) \
    CALL(X, cuProfilerStop, (void), (cuProfilerStop, 4000, 0)) \
    GONE(X, cuCtxAttach, (CUcontext *, pctx, unsigned int, flags), (cuCtxAttach, 2000, 0)) \
    GONE(X, cuCtxDetach, (CUcontext, ctx), (cuCtxDetach, 2000, 0)) \
    GONE(X, cuCtxGetSharedMemConfig, (CUsharedconfig *, pConfig), (cuCtxGetSharedMemConfig, 4020, 0)) \
    GONE(X, cuCtxSetSharedMemConfig, (CUsharedconfig, config), (cuCtxSetSharedMemConfig, 4020, 0)) \
    GONE(X, cuDeviceComputeCapability, (int *, major, int *, minor, CUdevice, dev), (cuDeviceComputeCapability, 2000, 0)) \
    GONE(X, cuDeviceGetProperties, (CUdevprop *, prop, CUdevice, dev), (cuDeviceGetProperties, 2000, 0)) \
    GONE(X, cuFuncSetBlockShape, (CUfunction, hfunc, int, x, int, y, int, z), (cuFuncSetBlockShape, 2000, 0)) \
    GONE(X, cuFuncSetSharedMemConfig, (CUfunction, hfunc, CUsharedconfig, config), (cuFuncSetSharedMemConfig, 4020, 0)) \
    GONE(X, cuFuncSetSharedSize, (CUfunction, hfunc, unsigned int, bytes), (cuFuncSetSharedSize, 2000, 0)) \
    GONE(X, cuLaunch, (CUfunction, f), (cuLaunch, 2000, 0)) \
    GONE(X, cuLaunchCooperativeKernelMultiDevice, (CUDA_LAUNCH_PARAMS *, launchParamsList, unsigned int, numDevices, unsigned int, flags), (cuLaunchCooperativeKernelMultiDevice, 9000, 0)) \
    GONE(X, cuLaunchGrid, (CUfunction, f, int, grid_width, int, grid_height), (cuLaunchGrid, 2000, 0)) \
    GONE(X, cuLaunchGridAsync, (CUfunction, f, int, grid_width, int, grid_height, CUstream, hStream), (cuLaunchGridAsync, 2000, 0)) \
    GONE(X, cuModuleGetSurfRef, (CUsurfref *, pSurfRef, CUmodule, hmod, const char *, name), (cuModuleGetSurfRef, 3000, 0)) \
    GONE(X, cuModuleGetTexRef, (CUtexref *, pTexRef, CUmodule, hmod, const char *, name), (cuModuleGetTexRef, 2000, 0)) \
    GONE(X, cuParamSetSize, (CUfunction, hfunc, unsigned int, numbytes), (cuParamSetSize, 2000, 0)) \
    GONE(X, cuParamSetTexRef, (CUfunction, hfunc, int, texunit, CUtexref, hTexRef), (cuParamSetTexRef, 2000, 0)) \
    GONE(X, cuParamSetf, (CUfunction, hfunc, int, offset, float, value), (cuParamSetf, 2000, 0)) \
    GONE(X, cuParamSeti, (CUfunction, hfunc, int, offset, unsigned int, value), (cuParamSeti, 2000, 0)) \
    GONE(X, cuParamSetv, (CUfunction, hfunc, int, offset, void *, ptr, unsigned int, numbytes), (cuParamSetv, 2000, 0)) \
    GONE(X, cuProfilerInitialize, (const char *, configFile, const char *, outputFile, CUoutput_mode, outputMode), (cuProfilerInitialize, 4000, 0)) \
    GONE(X, cuSurfRefGetArray, (CUarray *, phArray, CUsurfref, hSurfRef), (cuSurfRefGetArray, 3000, 0)) \
    GONE(X, cuSurfRefSetArray, (CUsurfref, hSurfRef, CUarray, hArray, unsigned int, Flags), (cuSurfRefSetArray, 3000, 0)) \
    GONE(X, cuTexRefCreate, (CUtexref *, pTexRef), (cuTexRefCreate, 2000, 0)) \
    GONE(X, cuTexRefDestroy, (CUtexref, hTexRef), (cuTexRefDestroy, 2000, 0)) \
    GONE(X, cuTexRefGetAddress, (CUdeviceptr_v1 *, pdptr, CUtexref, hTexRef), (cuTexRefGetAddress, 2000, 0)) \
    GONE(X, cuTexRefGetAddressMode, (CUaddress_mode *, pam, CUtexref, hTexRef, int, dim), (cuTexRefGetAddressMode, 2000, 0)) \
    GONE(X, cuTexRefGetAddress, (CUdeviceptr *, pdptr, CUtexref, hTexRef), (cuTexRefGetAddress_v2, 3020, 0)) \
    GONE(X, cuTexRefGetArray, (CUarray *, phArray, CUtexref, hTexRef), (cuTexRefGetArray, 2000, 0)) \
    GONE(X, cuTexRefGetBorderColor, (float *, pBorderColor, CUtexref, hTexRef), (cuTexRefGetBorderColor, 8000, 0)) \
    GONE(X, cuTexRefGetFilterMode, (CUfilter_mode *, pfm, CUtexref, hTexRef), (cuTexRefGetFilterMode, 2000, 0)) \
    GONE(X, cuTexRefGetFlags, (unsigned int *, pFlags, CUtexref, hTexRef), (cuTexRefGetFlags, 2000, 0)) \
    GONE(X, cuTexRefGetFormat, (CUarray_format *, pFormat, int *, pNumChannels, CUtexref, hTexRef), (cuTexRefGetFormat, 2000, 0)) \
    GONE(X, cuTexRefGetMaxAnisotropy, (int *, pmaxAniso, CUtexref, hTexRef), (cuTexRefGetMaxAnisotropy, 5000, 0)) \
    GONE(X, cuTexRefGetMipmapFilterMode, (CUfilter_mode *, pfm, CUtexref, hTexRef), (cuTexRefGetMipmapFilterMode, 5000, 0)) \
    GONE(X, cuTexRefGetMipmapLevelBias, (float *, pbias, CUtexref, hTexRef), (cuTexRefGetMipmapLevelBias, 5000, 0)) \
    GONE(X, cuTexRefGetMipmapLevelClamp, (float *, pminMipmapLevelClamp, float *, pmaxMipmapLevelClamp, CUtexref, hTexRef), (cuTexRefGetMipmapLevelClamp, 5000, 0)) \
    GONE(X, cuTexRefGetMipmappedArray, (CUmipmappedArray *, phMipmappedArray, CUtexref, hTexRef), (cuTexRefGetMipmappedArray, 5000, 0)) \
    GONE(X, cuTexRefSetAddress, (unsigned int *, ByteOffset, CUtexref, hTexRef, CUdeviceptr_v1, dptr, unsigned int, bytes), (cuTexRefSetAddress, 2000, 0)) \
    GONE(X, cuTexRefSetAddress2D, (CUtexref, hTexRef, const CUDA_ARRAY_DESCRIPTOR_v1 *, desc, CUdeviceptr_v1, dptr, unsigned int, Pitch), (cuTexRefSetAddress2D, 2020, 0)) \
    GONE(X, cuTexRefSetAddress2D, (CUtexref, hTexRef, const CUDA_ARRAY_DESCRIPTOR *, desc, CUdeviceptr, dptr, size_t, Pitch), (cuTexRefSetAddress2D_v3, 4010, 0), (cuTexRefSetAddress2D_v2, 3020, 0)) \
    GONE(X, cuTexRefSetAddressMode, (CUtexref, hTexRef, int, dim, CUaddress_mode, am), (cuTexRefSetAddressMode, 2000, 0)) \
    GONE(X, cuTexRefSetAddress, (size_t *, ByteOffset, CUtexref, hTexRef, CUdeviceptr, dptr, size_t, bytes), (cuTexRefSetAddress_v2, 3020, 0)) \
    GONE(X, cuTexRefSetArray, (CUtexref, hTexRef, CUarray, hArray, unsigned int, Flags), (cuTexRefSetArray, 2000, 0)) \
    GONE(X, cuTexRefSetBorderColor, (CUtexref, hTexRef, float *, pBorderColor), (cuTexRefSetBorderColor, 8000, 0)) \
    GONE(X, cuTexRefSetFilterMode, (CUtexref, hTexRef, CUfilter_mode, fm), (cuTexRefSetFilterMode, 2000, 0)) \
    GONE(X, cuTexRefSetFlags, (CUtexref, hTexRef, unsigned int, Flags), (cuTexRefSetFlags, 2000, 0)) \
    GONE(X, cuTexRefSetFormat, (CUtexref, hTexRef, CUarray_format, fmt, int, NumPackedComponents), (cuTexRefSetFormat, 2000, 0)) \
    GONE(X, cuTexRefSetMaxAnisotropy, (CUtexref, hTexRef, unsigned int, maxAniso), (cuTexRefSetMaxAnisotropy, 5000, 0)) \
    GONE(X, cuTexRefSetMipmapFilterMode, (CUtexref, hTexRef, CUfilter_mode, fm), (cuTexRefSetMipmapFilterMode, 5000, 0)) \
    GONE(X, cuTexRefSetMipmapLevelBias, (CUtexref, hTexRef, float, bias), (cuTexRefSetMipmapLevelBias, 5000, 0)) \
    GONE(X, cuTexRefSetMipmapLevelClamp, (CUtexref, hTexRef, float, minMipmapLevelClamp, float, maxMipmapLevelClamp), (cuTexRefSetMipmapLevelClamp, 5000, 0)) \
    GONE(X, cuTexRefSetMipmappedArray, (CUtexref, hTexRef, CUmipmappedArray, hMipmappedArray, unsigned int, Flags), (cuTexRefSetMipmappedArray, 5000, 0))


/* ---- a macro for each argument ---- */

/* MAP(M, CONTEXT, SEPARATOR, (type, name, ...)): M(CONTEXT, type, name) for each argument,
 * SEPARATOR() between; of a call without arguments M_VOID(CONTEXT). */
#define GPHI_MAP(M, C, S, arguments) GPHI_MAP_(M, C, S, GPHI_BARE arguments)
#define GPHI_MAP_(...) GPHI_MAP__(__VA_ARGS__)
#define GPHI_MAP__(M, C, S, ...) \
    GPHI_PICK(__VA_ARGS__, 16, , 15, , 14, , 13, , 12, , 11, , 10, , 9, , 8, , 7, , 6, , 5, , 4, , 3, , 2, , 1, 0, )(M, C, S, __VA_ARGS__)
#define GPHI_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, D, E, F, G, count, ...) GPHI_MAP_##count
#define GPHI_BARE(...) __VA_ARGS__
#define GPHI_MAP_0(M, C, S, v) M##_VOID(C)
#define GPHI_MAP_1(M, C, S, t, n) M(C, t, n)
#define GPHI_MAP_2(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_1(M, C, S, __VA_ARGS__)
#define GPHI_MAP_3(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_2(M, C, S, __VA_ARGS__)
#define GPHI_MAP_4(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_3(M, C, S, __VA_ARGS__)
#define GPHI_MAP_5(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_4(M, C, S, __VA_ARGS__)
#define GPHI_MAP_6(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_5(M, C, S, __VA_ARGS__)
#define GPHI_MAP_7(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_6(M, C, S, __VA_ARGS__)
#define GPHI_MAP_8(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_7(M, C, S, __VA_ARGS__)
#define GPHI_MAP_9(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_8(M, C, S, __VA_ARGS__)
#define GPHI_MAP_10(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_9(M, C, S, __VA_ARGS__)
#define GPHI_MAP_11(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_10(M, C, S, __VA_ARGS__)
#define GPHI_MAP_12(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_11(M, C, S, __VA_ARGS__)
#define GPHI_MAP_13(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_12(M, C, S, __VA_ARGS__)
#define GPHI_MAP_14(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_13(M, C, S, __VA_ARGS__)
#define GPHI_MAP_15(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_14(M, C, S, __VA_ARGS__)
#define GPHI_MAP_16(M, C, S, t, n, ...) M(C, t, n)S() GPHI_MAP_15(M, C, S, __VA_ARGS__)

#define GPHI_COMMA() ,

/* (type name, ...): a prototype's arguments. */
#define GPHI_DECLARED(arguments) (GPHI_MAP(GPHI_DECLARE, , GPHI_COMMA, arguments))
#define GPHI_DECLARE(C, type, name) type name
#define GPHI_DECLARE_VOID(C) void

/* ---- a macro for each call, each symbol ---- */

#define GPHI_NOTHING(...)
#define GPHI_EXPAND(M, ...) M(__VA_ARGS__)
#define GPHI_VERSION(symbol, version, per_thread) version

/* X(name, version, (type name, ...)) for each call. */
#define GPHI_CUDA_CALLS(X) GPHI_CUDA_LIST(GPHI_CALL_ROW, GPHI_NOTHING, GPHI_NOTHING, X)
#define GPHI_CALL_ROW(X, name, arguments, ...) \
    GPHI_CALL_ROW_(X, name, arguments, __VA_ARGS__, )
#define GPHI_CALL_ROW_(X, name, arguments, first, ...) \
    GPHI_EXPAND(X, name, GPHI_VERSION first, GPHI_DECLARED(arguments))

/* X(symbol, name, version, per_thread, (type name, ...)) for each symbol. */
#define GPHI_CUDA_SYMBOLS(X) \
    GPHI_CUDA_LIST(GPHI_SYMBOLS_ROW, GPHI_SYMBOLS_ROW, GPHI_SYMBOLS_ROW, X)
#define GPHI_SYMBOLS_ROW(X, name, arguments, ...) \
    GPHI_SYMBOL_ROW(X, name, GPHI_DECLARED(arguments), __VA_ARGS__)

/* X(symbol, name, version, per_thread, (type, name, ...)): the same, to be mapped. */
#define GPHI_CUDA_SIGNATURES(X) \
    GPHI_CUDA_LIST(GPHI_SYMBOL_ROW, GPHI_SYMBOL_ROW, GPHI_SYMBOL_ROW, X)

/* At most four symbols share a signature. */
#define GPHI_SYMBOL_ROW(X, name, arguments, ...) \
    GPHI_SYMBOL_COUNT(__VA_ARGS__, 4, 3, 2, 1, )(X, name, arguments, __VA_ARGS__)
#define GPHI_SYMBOL_COUNT(a, b, c, d, count, ...) GPHI_SYMBOL_##count
#define GPHI_SYMBOL_1(X, name, arguments, a) \
    GPHI_EXPAND(GPHI_SYMBOL, X, name, arguments, GPHI_BARE a)
#define GPHI_SYMBOL_2(X, name, arguments, a, ...) \
    GPHI_SYMBOL_1(X, name, arguments, a) GPHI_SYMBOL_1(X, name, arguments, __VA_ARGS__)
#define GPHI_SYMBOL_3(X, name, arguments, a, ...) \
    GPHI_SYMBOL_1(X, name, arguments, a) GPHI_SYMBOL_2(X, name, arguments, __VA_ARGS__)
#define GPHI_SYMBOL_4(X, name, arguments, a, ...) \
    GPHI_SYMBOL_1(X, name, arguments, a) GPHI_SYMBOL_3(X, name, arguments, __VA_ARGS__)
#define GPHI_SYMBOL(X, name, arguments, symbol, version, per_thread) \
    X(symbol, name, version, per_thread, arguments)

/* clang-format on */
#endif
