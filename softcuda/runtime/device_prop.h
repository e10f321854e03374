// SPDX-License-Identifier: Apache-2.0
/* cudaDeviceProp, which 13.0 laid out again: seven members went, ten came. Members that the
 * driver has no attribute for stay 0. */
#ifndef SOFT_RUNTIME_DEVICE_PROP_H
#define SOFT_RUNTIME_DEVICE_PROP_H
#include "cuda/abi.h"

/* ONLY_12(int, name, ...) and ONLY_13: members of one of them. */
#if RT_MAJOR == 12
#define ONLY_12(...) __VA_ARGS__;
#define ONLY_13(...)
#else
#define ONLY_12(...)
#define ONLY_13(...) __VA_ARGS__;
#endif

/* clang-format off */
struct cudaDeviceProp {
    char name[256];
    CUuuid uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    ONLY_12(int clockRate)
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    ONLY_12(int deviceOverlap)
    int multiProcessorCount;
    ONLY_12(int kernelExecTimeoutEnabled)
    int integrated, canMapHostMemory;
    ONLY_12(int computeMode)
    int maxTexture1D, maxTexture1DMipmap;
    ONLY_12(int maxTexture1DLinear)
    int maxTexture2D[2], maxTexture2DMipmap[2];
    int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3];
    int maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
    int maxTexture2DLayered[3], maxTextureCubemapLayered[2];
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2];
    int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing;
    ONLY_12(int memoryClockRate)
    int memoryBusWidth, l2CacheSize;
    int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    ONLY_12(int singleToDoublePrecisionPerfRatio)
    int pageableMemoryAccess, concurrentManagedAccess;
    int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
    ONLY_12(int cooperativeMultiDeviceLaunch)
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
    int unifiedFunctionPointers;
    ONLY_12(int reserved[63])
    ONLY_13(int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId)
    ONLY_13(unsigned int gpuPciDeviceID, gpuPciSubsystemID)
    ONLY_13(int hostNumaMultinodeIpcSupported)
    ONLY_13(int reserved[56])
};
/* clang-format on */
#undef ONLY_12
#undef ONLY_13
#endif
