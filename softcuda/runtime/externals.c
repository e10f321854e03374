// SPDX-License-Identifier: Apache-2.0
/* External memory and semaphores, and their nodes. The structures begin with the driver's
 * fields (13.0's are the driver's, 12's lack what is reserved at their ends), but for those
 * of arrays, which are described as the runtime describes them. */
#include "softcuda/runtime/arrays.h"
#include "softcuda/runtime/entry.h"

#include <string.h>

struct cudaExternalMemoryMipmappedArrayDesc {
    unsigned long long offset;
    struct cudaChannelFormatDesc formatDesc;
    struct cudaExtent extent;
    unsigned int flags, numLevels;
};

/* The driver's structure, of what comes before its reserved words. */
#define TAKE(type, out, from)                                                            \
    type out = {0};                                                                      \
    if (!(from))                                                                         \
        return cudaErrorInvalidValue;                                                    \
    memcpy(&out, from, offsetof(type, reserved))

static cudaError_t import_memory(const rt_driver *cu, CUexternalMemory *out,
                                 const void *desc)
{
    TAKE(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, driver, desc);
    return (cudaError_t)cu->cuImportExternalMemory(out, &driver);
}

static cudaError_t map_buffer(const rt_driver *cu, CUdeviceptr *out,
                              CUexternalMemory memory, const void *desc)
{
    TAKE(CUDA_EXTERNAL_MEMORY_BUFFER_DESC, driver, desc);
    return (cudaError_t)cu->cuExternalMemoryGetMappedBuffer(out, memory, &driver);
}

static cudaError_t map_levels(const rt_driver *cu, CUmipmappedArray *out,
                              CUexternalMemory memory,
                              const struct cudaExternalMemoryMipmappedArrayDesc *desc)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC driver = {0};
    if (!desc)
        return cudaErrorInvalidValue;
    driver.offset = desc->offset;
    driver.numLevels = desc->numLevels;
    const cudaError_t result =
        rt_array_shape(&desc->formatDesc, desc->extent, desc->flags, &driver.arrayDesc);
    return result != cudaSuccess
               ? result
               : (cudaError_t)cu->cuExternalMemoryGetMappedMipmappedArray(out, memory,
                                                                          &driver);
}

static cudaError_t import_semaphore(const rt_driver *cu, CUexternalSemaphore *out,
                                    const void *desc)
{
    TAKE(CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC, driver, desc);
    return (cudaError_t)cu->cuImportExternalSemaphore(out, &driver);
}

RT_ENTRY(cudaImportExternalMemory, (CUexternalMemory *, out, const void *, desc),
         import_memory(cu, out, desc))
RT_ENTRY(cudaExternalMemoryGetMappedBuffer,
         (CUdeviceptr *, out, CUexternalMemory, memory, const void *, desc),
         map_buffer(cu, out, memory, desc))
RT_ENTRY(cudaExternalMemoryGetMappedMipmappedArray,
         (CUmipmappedArray *, out, CUexternalMemory, memory,
          const struct cudaExternalMemoryMipmappedArrayDesc *, desc),
         map_levels(cu, out, memory, desc))
RT_ENTRY(cudaDestroyExternalMemory, (CUexternalMemory, memory),
         cu->cuDestroyExternalMemory(memory))
RT_ENTRY(cudaImportExternalSemaphore, (CUexternalSemaphore *, out, const void *, desc),
         import_semaphore(cu, out, desc))
RT_ENTRY(cudaDestroyExternalSemaphore, (CUexternalSemaphore, semaphore),
         cu->cuDestroyExternalSemaphore(semaphore))
RT_TWINS(cudaSignalExternalSemaphoresAsync, _ptsz,
         (const CUexternalSemaphore *, semaphores,
          const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, params, unsigned, count,
          CUstream, stream),
         cu->cuSignalExternalSemaphoresAsync(semaphores, params, count, stream))
RT_TWINS(cudaWaitExternalSemaphoresAsync, _ptsz,
         (const CUexternalSemaphore *, semaphores,
          const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, params, unsigned, count, CUstream,
          stream),
         cu->cuWaitExternalSemaphoresAsync(semaphores, params, count, stream))

/* ---- nodes -------------------------------------------------------------------------------- */

#define NODES(kind, type)                                                                \
    RT_ENTRY(                                                                            \
        cudaGraphAddExternalSemaphores##kind##Node,                                      \
        (CUgraphNode *, out, CUgraph, graph, const CUgraphNode *, after, size_t, count,  \
         const type *, params),                                                          \
        cu->cuGraphAddExternalSemaphores##kind##Node(out, graph, after, count, params))  \
    RT_ENTRY(cudaGraphExternalSemaphores##kind##NodeGetParams,                           \
             (CUgraphNode, node, type *, params),                                        \
             cu->cuGraphExternalSemaphores##kind##NodeGetParams(node, params))           \
    RT_ENTRY(cudaGraphExternalSemaphores##kind##NodeSetParams,                           \
             (CUgraphNode, node, const type *, params),                                  \
             cu->cuGraphExternalSemaphores##kind##NodeSetParams(node, params))           \
    RT_ENTRY(cudaGraphExecExternalSemaphores##kind##NodeSetParams,                       \
             (CUgraphExec, exec, CUgraphNode, node, const type *, params),               \
             cu->cuGraphExecExternalSemaphores##kind##NodeSetParams(exec, node, params))

NODES(Signal, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS)
NODES(Wait, CUDA_EXT_SEM_WAIT_NODE_PARAMS)
