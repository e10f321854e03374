// SPDX-License-Identifier: Apache-2.0
/* Texture and surface objects, and mipmapped arrays that they read. */
#include "softcuda/api/exports.h"
#include "softcuda/device/array.h"
#include "softcuda/device/device.h"
#include "softcuda/device/task.h"
#include "softcuda/device/texobject.h"

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pTexObject"));
    SOFT_TRY(soft_need(resource, "pResDesc"));
    SOFT_TRY(soft_need(texture, "pTexDesc"));
    soft_texture_desc desc = {.resource = *resource, .texture = *texture};
    desc.has_view = view != NULL;
    if (view)
        desc.view = *view;
    return soft_texture_create(context, &desc, out);
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    soft_texture_destroy(object, false);
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUtexObject object)
{
    soft_texture_desc desc;
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pResDesc"));
    SOFT_TRY(soft_texture_describe(object, false, &desc));
    *out = desc.resource;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *out, CUtexObject object)
{
    soft_texture_desc desc;
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pTexDesc"));
    SOFT_TRY(soft_texture_describe(object, false, &desc));
    *out = desc.texture;
    return CUDA_SUCCESS;
}

/* Without a view the caller's struct stays as it is. */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *out, CUtexObject object)
{
    soft_texture_desc desc;
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pResViewDesc"));
    SOFT_TRY(soft_texture_describe(object, false, &desc));
    if (desc.has_view)
        *out = desc.view;
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pSurfObject"));
    SOFT_TRY(soft_need(resource, "pResDesc"));
    const soft_texture_desc desc = {.resource = *resource, .is_surface = true};
    return soft_texture_create(context, &desc, out);
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    soft_texture_destroy(object, true);
    return CUDA_SUCCESS;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *out, CUsurfObject object)
{
    soft_texture_desc desc;
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pResDesc"));
    SOFT_TRY(soft_texture_describe(object, true, &desc));
    *out = desc.resource;
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *out,
                                const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pHandle"));
    SOFT_TRY(soft_need(desc, "pMipmappedArrayDesc"));
    return soft_levels_create(context, desc, levels, out);
}

CUresult cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray array, unsigned level)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pLevelArray"));
    return soft_levels_get(array, level, out, NULL);
}

/* Work under way may still read it: see cuArrayDestroy(). */
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_streams_wait(context));
    return soft_levels_destroy(array);
}

/* The longest row of texels. */
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *out, CUarray_format format,
                                            unsigned channels, CUdevice device)
{
    soft_device *found;
    SOFT_TRY(soft_enter_with(__func__, out, "maxWidthInElements"));
    SOFT_TRY(soft_device_find(device, &found));
    const unsigned bytes = soft_format_bytes(format);
    if (bytes == 0 || (channels != 1 && channels != 2 && channels != 4))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "texels of format 0x%x with %u channels", (unsigned)format,
                         channels);
    *out = ((size_t)4 << 30) / (bytes * channels);
    return CUDA_SUCCESS;
}
