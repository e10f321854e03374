// SPDX-License-Identifier: Apache-2.0
/* What libcudart.so.12 has and libcudart.so.13 has not: functions whose names 13.0 gave to
 * newer forms (names_12.h), and those that it dropped.
 *
 * Edges of the older forms carry no data, which is what the newer ones say with NULL: a
 * graph whose edges have some is refused by the driver, as on a GPU. */
#include "softcuda/runtime/entry.h"

#include <string.h>

#undef cudaGetDeviceProperties
#undef cudaGraphAddDependencies
#undef cudaGraphAddNode
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaMemPrefetchAsync_ptsz
#undef cudaStreamGetCaptureInfo
#undef cudaStreamGetCaptureInfo_ptsz
#undef cudaStreamUpdateCaptureDependencies
#undef cudaStreamUpdateCaptureDependencies_ptsz

/* ---- graphs ---------------------------------------------------------------------------------- */

RT_ENTRY(cudaGraphGetEdges,
         (CUgraph, graph, CUgraphNode *, from, CUgraphNode *, to, size_t *, count),
         cu->cuGraphGetEdges(graph, from, to, NULL, count))
RT_ENTRY(cudaGraphNodeGetDependencies,
         (CUgraphNode, node, CUgraphNode *, nodes, size_t *, count),
         cu->cuGraphNodeGetDependencies(node, nodes, NULL, count))
RT_ENTRY(cudaGraphNodeGetDependentNodes,
         (CUgraphNode, node, CUgraphNode *, nodes, size_t *, count),
         cu->cuGraphNodeGetDependentNodes(node, nodes, NULL, count))
RT_ENTRY(cudaGraphAddDependencies,
         (CUgraph, graph, const CUgraphNode *, from, const CUgraphNode *, to, size_t,
          count),
         cu->cuGraphAddDependencies(graph, from, to, NULL, count))
RT_ENTRY(cudaGraphRemoveDependencies,
         (CUgraph, graph, const CUgraphNode *, from, const CUgraphNode *, to, size_t,
          count),
         cu->cuGraphRemoveDependencies(graph, from, to, NULL, count))

cudaError_t cudaGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                                const CUgraphEdgeData *edges, size_t count,
                                struct cudaGraphNodeParams *params);
GPH_API cudaError_t cudaGraphAddNode(CUgraphNode *out, CUgraph graph,
                                     const CUgraphNode *after, size_t count,
                                     struct cudaGraphNodeParams *params);
cudaError_t cudaGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                             size_t count, struct cudaGraphNodeParams *params)
{
    return cudaGraphAddNode_v2(out, graph, after, NULL, count, params);
}

/* ---- captures -------------------------------------------------------------------------------- */

RT_TWINS(cudaStreamGetCaptureInfo, _ptsz,
         (CUstream, stream, CUstreamCaptureStatus *, status, cuuint64_t *, id),
         cu->cuStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL))
RT_TWINS(cudaStreamGetCaptureInfo_v2, _ptsz,
         (CUstream, stream, CUstreamCaptureStatus *, status, cuuint64_t *, id, CUgraph *,
          graph, const CUgraphNode **, nodes, size_t *, count),
         cu->cuStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, count))
RT_TWINS(cudaStreamUpdateCaptureDependencies, _ptsz,
         (CUstream, stream, CUgraphNode *, nodes, size_t, count, unsigned, flags),
         cu->cuStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags))

/* ---- events, managed memory ------------------------------------------------------------------ */

RT_ENTRY(cudaEventElapsedTime_v2, (float *, ms, CUevent, begin, CUevent, end),
         cu->cuEventElapsedTime(ms, begin, end))

/* A device's number, or cudaCpuDeviceId. */
static CUmemLocation place(int device)
{
    return device < 0 ? (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_HOST}
                      : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

RT_ENTRY(cudaMemAdvise,
         (CUdeviceptr, pointer, size_t, bytes, CUmem_advise, advice, int, device),
         cu->cuMemAdvise(pointer, bytes, advice, place(device)))
RT_TWINS(cudaMemPrefetchAsync, _ptsz,
         (CUdeviceptr, pointer, size_t, bytes, int, device, CUstream, stream),
         cu->cuMemPrefetchAsync(pointer, bytes, place(device), 0, stream))

/* ---- devices --------------------------------------------------------------------------------- */

/* Programs of CUDA 11 have the shorter structure, whose members are the first ones of 12's.
 */
GPH_API cudaError_t cudaGetDeviceProperties(void *out, int device);
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *out, int device);
cudaError_t cudaGetDeviceProperties(void *out, int device)
{
    struct cudaDeviceProp all;
    const cudaError_t result = cudaGetDeviceProperties_v2(out ? &all : NULL, device);
    if (result == cudaSuccess)
        memcpy(out, &all, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    return result;
}

/* Doubles have been doubles on every device since compute capability 1.3. */
RT_EARLY(cudaSetDoubleForDevice, (double *, value), ((void)value, cudaSuccess))
RT_EARLY(cudaSetDoubleForHost, (double *, value), ((void)value, cudaSuccess))

/* ---- threads: what devices' functions were called before CUDA 4.0 ------------------------------ */

cudaError_t cudaDeviceReset(void);
GPH_API cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

RT_ENTRY(cudaThreadSynchronize, (void), cu->cuCtxSynchronize())
RT_ENTRY(cudaThreadGetLimit, (size_t *, value, CUlimit, which),
         cu->cuCtxGetLimit(value, which))
RT_ENTRY(cudaThreadSetLimit, (CUlimit, which, size_t, value),
         cu->cuCtxSetLimit(which, value))
RT_ENTRY(cudaThreadGetCacheConfig, (CUfunc_cache *, config),
         cu->cuCtxGetCacheConfig(config))
RT_ENTRY(cudaThreadSetCacheConfig, (CUfunc_cache, config),
         cu->cuCtxSetCacheConfig(config))
