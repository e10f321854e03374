// SPDX-License-Identifier: Apache-2.0
/* Resources of graphics interfaces: none can be registered without one, so that no handle is
 * a resource. The codes are those of an H200 in a process without such an interface. */
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"

static CUresult no_resource(CUgraphicsResource resource)
{
    return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is not a graphics resource",
                     (void *)resource);
}

static CUresult map_all(const char *call, unsigned count,
                        const CUgraphicsResource *resources)
{
    SOFT_TRY(soft_enter_context(call, NULL));
    SOFT_TRY(soft_need(resources, "resources"));
    if (count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "count is 0");
    return no_resource(resources[0]);
}

#define MAP_CALL(symbol, name)                                                           \
    CUresult symbol(unsigned int count, CUgraphicsResource *resources, CUstream stream)  \
    {                                                                                    \
        (void)stream;                                                                    \
        return map_all(name, count, resources);                                          \
    }
MAP_CALL(cuGraphicsMapResources, "cuGraphicsMapResources")
MAP_CALL(cuGraphicsMapResources_ptsz, "cuGraphicsMapResources")
MAP_CALL(cuGraphicsUnmapResources, "cuGraphicsUnmapResources")
MAP_CALL(cuGraphicsUnmapResources_ptsz, "cuGraphicsUnmapResources")

CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return no_resource(resource);
}

CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags)
{
    (void)flags;
    SOFT_TRY(soft_enter_context("cuGraphicsResourceSetMapFlags", NULL));
    return no_resource(resource);
}

SOFT_OLDER(cuGraphicsResourceSetMapFlags,
           (CUgraphicsResource resource, unsigned int flags),
           cuGraphicsResourceSetMapFlags_v2(resource, flags))

/* What is asked of a mapped one. */
static CUresult ask(const char *call, const void *out, const char *name,
                    CUgraphicsResource resource)
{
    SOFT_TRY(soft_enter_context(call, NULL));
    SOFT_TRY(soft_need(out, name));
    return no_resource(resource);
}

CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *out, size_t *bytes,
                                               CUgraphicsResource resource)
{
    (void)bytes;
    return ask("cuGraphicsResourceGetMappedPointer", out, "pDevPtr", resource);
}

CUresult cuGraphicsResourceGetMappedPointer(CUdeviceptr_v1 *out, unsigned int *bytes,
                                            CUgraphicsResource resource)
{
    (void)bytes;
    return ask(__func__, out, "pDevPtr", resource);
}

CUresult cuGraphicsSubResourceGetMappedArray(CUarray *out, CUgraphicsResource resource,
                                             unsigned int index, unsigned int level)
{
    (void)index;
    (void)level;
    return ask(__func__, out, "pArray", resource);
}

CUresult cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray *out,
                                                   CUgraphicsResource resource)
{
    return ask(__func__, out, "pMipmappedArray", resource);
}

/* NvSciSync is there on Tegra alone. */
CUresult cuDeviceGetNvSciSyncAttributes(void *list, CUdevice device, int flags)
{
    (void)device;
    (void)flags;
    SOFT_TRY(soft_enter(__func__));
    if (!list)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "nvSciSyncAttrList is NULL");
    return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "NvSciSync is there on Tegra alone");
}
