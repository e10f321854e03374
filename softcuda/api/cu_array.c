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

/* ---- what no array here has --------------------------------------------------------- */

/* Planes, deferred and sparse memory belong to arrays that softcuda does not make: of those
 * that it makes, an H200 refuses these questions, too. */
static CUresult refuse(const char *call, const void *out, CUarray handle,
                       const char *what)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;
    SOFT_TRY(soft_enter_context(call, NULL));
    SOFT_TRY(soft_need(out, "the output"));
    SOFT_TRY(soft_array_describe(handle, &desc));
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "the array has no %s", what);
}

CUresult cuArrayGetPlane(CUarray *out, CUarray array, unsigned int plane)
{
    (void)plane;
    return refuse(__func__, out, array, "planes");
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray array,
                                      CUdevice device)
{
    (void)device;
    return refuse(__func__, out, array, "deferred mapping");
}

CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out, CUarray array)
{
    return refuse(__func__, out, array, "sparse memory");
}
