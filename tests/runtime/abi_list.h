// SPDX-License-Identifier: Apache-2.0
/* SIZE(structure), MEMBER(structure, member): what softcuda/runtime/types.h must have as the
 * toolkit has it. The same list is compiled over both, in two files. */
#ifndef TEST_RUNTIME_ABI_LIST_H
#define TEST_RUNTIME_ABI_LIST_H
#include <stddef.h>

typedef struct abi_row {
    const char *name;
    size_t value;
} abi_row;

#define ABI_LIST                                                                         \
    SIZE(cudaExtent)                                                                     \
    SIZE(cudaPos)                                                                        \
    SIZE(cudaPitchedPtr)                                                                 \
    SIZE(cudaChannelFormatDesc)                                                          \
    SIZE(cudaMemcpy3DParms)                                                              \
    MEMBER(cudaMemcpy3DParms, srcPtr)                                                    \
    MEMBER(cudaMemcpy3DParms, dstArray)                                                  \
    MEMBER(cudaMemcpy3DParms, dstPos)                                                    \
    MEMBER(cudaMemcpy3DParms, extent)                                                    \
    MEMBER(cudaMemcpy3DParms, kind)                                                      \
    SIZE(cudaMemcpy3DPeerParms)                                                          \
    MEMBER(cudaMemcpy3DPeerParms, dstDevice)                                             \
    SIZE(cudaResourceDesc)                                                               \
    MEMBER(cudaResourceDesc, res)                                                        \
    MEMBER(cudaResourceDesc, res.pitch2D.pitchInBytes)                                   \
    SIZE(cudaResourceViewDesc)                                                           \
    MEMBER(cudaResourceViewDesc, lastLayer)                                              \
    SIZE(cudaTextureDesc)                                                                \
    MEMBER(cudaTextureDesc, normalizedCoords)                                            \
    MEMBER(cudaTextureDesc, seamlessCubemap)                                             \
    SIZE(cudaMemcpyNodeParams)                                                           \
    MEMBER(cudaMemcpyNodeParams, copyParams)                                             \
    SIZE(cudaMemsetParams)                                                               \
    MEMBER(cudaMemsetParams, height)                                                     \
    SIZE(cudaKernelNodeParams)                                                           \
    MEMBER(cudaKernelNodeParams, kernelParams)                                           \
    SIZE(cudaConditionalNodeParams)                                                      \
    MEMBER(cudaConditionalNodeParams, phGraph_out)                                       \
    SIZE(cudaGraphNodeParams)                                                            \
    MEMBER(cudaGraphNodeParams, kernel)                                                  \
    MEMBER(cudaGraphNodeParams, reserved2)                                               \
    SIZE(cudaLaunchConfig_st)                                                            \
    MEMBER(cudaLaunchConfig_st, stream)                                                  \
    MEMBER(cudaLaunchConfig_st, numAttrs)                                                \
    SIZE(cudaFuncAttributes)                                                             \
    MEMBER(cudaFuncAttributes, maxDynamicSharedSizeBytes)                                \
    MEMBER(cudaFuncAttributes, nonPortableClusterSizeAllowed)                            \
    SIZE(cudaPointerAttributes)                                                          \
    MEMBER(cudaPointerAttributes, hostPointer)                                           \
    SIZE(cudaDeviceProp)                                                                 \
    MEMBER(cudaDeviceProp, totalGlobalMem)                                               \
    MEMBER(cudaDeviceProp, totalConstMem)                                                \
    MEMBER(cudaDeviceProp, maxTexture2DLinear)                                           \
    MEMBER(cudaDeviceProp, maxSurfaceCubemapLayered)                                     \
    MEMBER(cudaDeviceProp, surfaceAlignment)                                             \
    MEMBER(cudaDeviceProp, l2CacheSize)                                                  \
    MEMBER(cudaDeviceProp, sharedMemPerMultiprocessor)                                   \
    MEMBER(cudaDeviceProp, cooperativeLaunch)                                            \
    MEMBER(cudaDeviceProp, sharedMemPerBlockOptin)                                       \
    MEMBER(cudaDeviceProp, reservedSharedMemPerBlock)                                    \
    MEMBER(cudaDeviceProp, memoryPoolsSupported)                                         \
    MEMBER(cudaDeviceProp, clusterLaunch)                                                \
    MEMBER(cudaDeviceProp, unifiedFunctionPointers)

/* clang-format off */
#define SIZE(type) {"sizeof " #type, sizeof(struct type)},
#define MEMBER(type, member) {#type "." #member, offsetof(struct type, member)},
#define ABI_ROWS {ABI_LIST{NULL, 0}}
/* clang-format on */

extern const abi_row abi_of_toolkit[]; /* one row, without a name, where there is none */
#endif
