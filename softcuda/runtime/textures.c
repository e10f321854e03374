// SPDX-License-Identifier: Apache-2.0
/* Texture and surface objects: what they read, and how.
 *
 *   runtime                                  driver
 *   cudaResourceDesc: channels               a format and how many
 *   cudaTextureDesc: readMode, sRGB, ...     bits of one word
 *   cudaResourceViewDesc                     the same words
 *
 * Which of them a device takes is the driver's to say. */
#include "softcuda/runtime/arrays.h"

#include <string.h>

/* ---- resources ------------------------------------------------------------------------------ */

enum { READ_ELEMENTS = 0, READ_NORMALIZED = 1 }; /* cudaTextureReadMode */

static cudaError_t resource_to_driver(const struct cudaResourceDesc *from,
                                      CUDA_RESOURCE_DESC *out)
{
    const struct cudaChannelFormatDesc *channels = NULL;
    CUarray_format format = CU_AD_FORMAT_UNSIGNED_INT8;
    if (!from)
        return cudaErrorInvalidValue;
    *out = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)from->resType};
    if (from->resType == CU_RESOURCE_TYPE_LINEAR)
        channels = &from->res.linear.desc;
    else if (from->resType == CU_RESOURCE_TYPE_PITCH2D)
        channels = &from->res.pitch2D.desc;
    const unsigned count =
        channels ? (unsigned)rt_channels_to_driver(channels, &format) : 1;
    if (count == 0)
        return cudaErrorInvalidChannelDescriptor;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        out->res.array.hArray = from->res.array.array;
        return from->res.array.array ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out->res.mipmap.hMipmappedArray = from->res.mipmap.mipmap;
        return from->res.mipmap.mipmap ? cudaSuccess : cudaErrorInvalidResourceHandle;
    case CU_RESOURCE_TYPE_LINEAR:
        out->res.linear.devPtr = from->res.linear.devPtr;
        out->res.linear.format = format;
        out->res.linear.numChannels = count;
        out->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        out->res.pitch2D.devPtr = from->res.pitch2D.devPtr;
        out->res.pitch2D.format = format;
        out->res.pitch2D.numChannels = count;
        out->res.pitch2D.width = from->res.pitch2D.width;
        out->res.pitch2D.height = from->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static void resource_to_runtime(const CUDA_RESOURCE_DESC *from,
                                struct cudaResourceDesc *out)
{
    memset(out, 0, sizeof(*out));
    out->resType = (int)from->resType;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY: out->res.array.array = from->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        out->res.mipmap.mipmap = from->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        out->res.linear.devPtr = from->res.linear.devPtr;
        out->res.linear.desc =
            rt_channels_to_runtime(from->res.linear.format, from->res.linear.numChannels);
        out->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        break;
    default:
        out->res.pitch2D.devPtr = from->res.pitch2D.devPtr;
        out->res.pitch2D.desc = rt_channels_to_runtime(from->res.pitch2D.format,
                                                       from->res.pitch2D.numChannels);
        out->res.pitch2D.width = from->res.pitch2D.width;
        out->res.pitch2D.height = from->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
    }
}

/* ---- how textures read ---------------------------------------------------------------------- */

/* A word of the runtime's and the bit of the driver's flags that it sets. */
static CUDA_TEXTURE_DESC texture_to_driver(const struct cudaTextureDesc *from)
{
    CUDA_TEXTURE_DESC out = {
        .filterMode = (CUfilter_mode)from->filterMode,
        .flags =
            (from->readMode == READ_ELEMENTS ? CU_TRSF_READ_AS_INTEGER : 0u) |
            (from->sRGB ? CU_TRSF_SRGB : 0u) |
            (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
            (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
                                                : 0u) |
            (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u),
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp};
    memcpy(out.addressMode, from->addressMode, sizeof(out.addressMode));
    memcpy(out.borderColor, from->borderColor, sizeof(out.borderColor));
    return out;
}

static void texture_to_runtime(const CUDA_TEXTURE_DESC *from, struct cudaTextureDesc *out)
{
    const unsigned flags = from->flags;
    *out = (struct cudaTextureDesc){
        .filterMode = (int)from->filterMode,
        .readMode = flags & CU_TRSF_READ_AS_INTEGER ? READ_ELEMENTS : READ_NORMALIZED,
        .sRGB = (flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (int)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
        .disableTrilinearOptimization =
            (flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamlessCubemap = (flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0};
    memcpy(out->addressMode, from->addressMode, sizeof(out->addressMode));
    memcpy(out->borderColor, from->borderColor, sizeof(out->borderColor));
}

/* ---- objects -------------------------------------------------------------------------------- */

static cudaError_t texture_create(const rt_driver *cu, CUtexObject *out,
                                  const struct cudaResourceDesc *resource,
                                  const struct cudaTextureDesc *texture,
                                  const struct cudaResourceViewDesc *view)
{
    CUDA_RESOURCE_DESC what;
    CUDA_RESOURCE_VIEW_DESC part = {0};
    const cudaError_t result = resource_to_driver(resource, &what);
    if (result != cudaSuccess || !texture)
        return result != cudaSuccess ? result : cudaErrorInvalidValue;
    const CUDA_TEXTURE_DESC how = texture_to_driver(texture);
    if (view)
        memcpy(&part, view, offsetof(CUDA_RESOURCE_VIEW_DESC, reserved));
    return (cudaError_t)cu->cuTexObjectCreate(out, &what, &how, view ? &part : NULL);
}

static cudaError_t surface_create(const rt_driver *cu, CUsurfObject *out,
                                  const struct cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC what;
    const cudaError_t result = resource_to_driver(resource, &what);
    return result != cudaSuccess ? result
                                 : (cudaError_t)cu->cuSurfObjectCreate(out, &what);
}

static cudaError_t resource_answer(CUresult result, const CUDA_RESOURCE_DESC *from,
                                   struct cudaResourceDesc *out)
{
    if (result == CUDA_SUCCESS && out)
        resource_to_runtime(from, out);
    return result == CUDA_SUCCESS && !out ? cudaErrorInvalidValue : (cudaError_t)result;
}

static cudaError_t texture_resource(const rt_driver *cu, struct cudaResourceDesc *out,
                                    CUtexObject texture)
{
    CUDA_RESOURCE_DESC from;
    return resource_answer(cu->cuTexObjectGetResourceDesc(&from, texture), &from, out);
}

static cudaError_t surface_resource(const rt_driver *cu, struct cudaResourceDesc *out,
                                    CUsurfObject surface)
{
    CUDA_RESOURCE_DESC from;
    return resource_answer(cu->cuSurfObjectGetResourceDesc(&from, surface), &from, out);
}

static cudaError_t texture_texture(const rt_driver *cu, struct cudaTextureDesc *out,
                                   CUtexObject texture)
{
    CUDA_TEXTURE_DESC from;
    const CUresult result = cu->cuTexObjectGetTextureDesc(&from, texture);
    if (result == CUDA_SUCCESS && out)
        texture_to_runtime(&from, out);
    return result == CUDA_SUCCESS && !out ? cudaErrorInvalidValue : (cudaError_t)result;
}

static cudaError_t texture_view(const rt_driver *cu, struct cudaResourceViewDesc *out,
                                CUtexObject texture)
{
    CUDA_RESOURCE_VIEW_DESC from;
    const CUresult result = cu->cuTexObjectGetResourceViewDesc(&from, texture);
    if (result == CUDA_SUCCESS && out) {
        memset(out, 0, sizeof(*out));
        memcpy(out, &from, offsetof(CUDA_RESOURCE_VIEW_DESC, reserved));
    }
    return result == CUDA_SUCCESS && !out ? cudaErrorInvalidValue : (cudaError_t)result;
}

RT_ENTRY(cudaCreateTextureObject,
         (CUtexObject *, out, const struct cudaResourceDesc *, resource,
          const struct cudaTextureDesc *, texture, const struct cudaResourceViewDesc *,
          view),
         texture_create(cu, out, resource, texture, view))
RT_ENTRY(cudaDestroyTextureObject, (CUtexObject, texture),
         cu->cuTexObjectDestroy(texture))
RT_ENTRY(cudaGetTextureObjectResourceDesc,
         (struct cudaResourceDesc *, out, CUtexObject, texture),
         texture_resource(cu, out, texture))
RT_ENTRY(cudaGetTextureObjectTextureDesc,
         (struct cudaTextureDesc *, out, CUtexObject, texture),
         texture_texture(cu, out, texture))
RT_ENTRY(cudaGetTextureObjectResourceViewDesc,
         (struct cudaResourceViewDesc *, out, CUtexObject, texture),
         texture_view(cu, out, texture))
RT_ENTRY(cudaCreateSurfaceObject,
         (CUsurfObject *, out, const struct cudaResourceDesc *, resource),
         surface_create(cu, out, resource))
RT_ENTRY(cudaDestroySurfaceObject, (CUsurfObject, surface),
         cu->cuSurfObjectDestroy(surface))
RT_ENTRY(cudaGetSurfaceObjectResourceDesc,
         (struct cudaResourceDesc *, out, CUsurfObject, surface),
         surface_resource(cu, out, surface))
