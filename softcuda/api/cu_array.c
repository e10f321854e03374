// SPDX-License-Identifier: Apache-2.0
/* Arrays, as far as copies need them. */
#include "softcuda/device/array.h"

#include "softcuda/api/exports.h"
#include "softcuda/device/task.h"

static CUresult is_null(const char *name)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", name);
}

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    SOFT_ENTER_CONTEXT(context);
    if (out == NULL || desc == NULL)
        return is_null(out == NULL ? "pHandle" : "pAllocateArray");
    return soft_array_create(context, desc, out);
}

CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    SOFT_ENTER_CONTEXT(context);
    if (out == NULL || desc == NULL)
        return is_null(out == NULL ? "pHandle" : "pAllocateArray");
    const CUDA_ARRAY3D_DESCRIPTOR full = {.Width = desc->Width,
                                          .Height = desc->Height,
                                          .Format = desc->Format,
                                          .NumChannels = desc->NumChannels};
    return soft_array_create(context, &full, out);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    if (out == NULL)
        return is_null("pArrayDescriptor");
    return soft_array_describe(handle, out);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle)
{
    SOFT_ENTER_CONTEXT(context);
    (void)context;
    if (out == NULL)
        return is_null("pArrayDescriptor");
    CUDA_ARRAY3D_DESCRIPTOR full;
    SOFT_TRY(soft_array_describe(handle, &full));
    *out = (CUDA_ARRAY_DESCRIPTOR){.Width = full.Width,
                                   .Height = full.Height,
                                   .Format = full.Format,
                                   .NumChannels = full.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray handle)
{
    SOFT_ENTER_CONTEXT(context);
    SOFT_TRY(soft_streams_wait(context));
    return soft_array_destroy(handle);
}
