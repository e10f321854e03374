// SPDX-License-Identifier: Apache-2.0
/* Arrays: pitched ranges of the device, which copies reach by rows and planes and kernels
 * through textures and surfaces (cu_texture.c). */
#include "softcuda/device/array.h"

#include "softcuda/api/exports.h"
#include "softcuda/device/task.h"

CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pHandle"));
    SOFT_TRY(soft_need(desc, "pAllocateArray"));
    return soft_array_create(context, desc, out);
}

CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "pHandle"));
    SOFT_TRY(soft_need(desc, "pAllocateArray"));
    const CUDA_ARRAY3D_DESCRIPTOR full = {.Width = desc->Width,
                                          .Height = desc->Height,
                                          .Format = desc->Format,
                                          .NumChannels = desc->NumChannels};
    return soft_array_create(context, &full, out);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray handle)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pArrayDescriptor"));
    return soft_array_describe(handle, out);
}

/* Height stays 0 for an array of one row, as it was given. */
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray handle)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "pArrayDescriptor"));
    CUDA_ARRAY3D_DESCRIPTOR full;
    SOFT_TRY(soft_array_describe(handle, &full));
    *out = (CUDA_ARRAY_DESCRIPTOR){.Width = full.Width,
                                   .Height = full.Height,
                                   .Format = full.Format,
                                   .NumChannels = full.NumChannels};
    return CUDA_SUCCESS;
}

/* Copies under way may still read it: all streams of the context are waited for, which a
 * GPU does as well. */
CUresult cuArrayDestroy(CUarray handle)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_streams_wait(context));
    return soft_array_destroy(handle);
}
