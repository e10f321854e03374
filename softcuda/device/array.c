// SPDX-License-Identifier: Apache-2.0
/* CUarray as pitched device memory. */
#include "softcuda/device/array.h"

#include "softcuda/device/alloc.h"
#include "softcuda/memory/memory.h"

#define ROW_UNIT 256

struct array {
    CUDA_ARRAY3D_DESCRIPTOR desc;
    struct soft_memory *memory;
    uint64_t base;
    size_t pitch, row_bytes, rows;
};

/* Of the formats that copies of softcuda know; 0 for the others. */
static unsigned format_bytes(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

size_t soft_array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    return (size_t)desc->NumChannels * format_bytes(desc->Format);
}

/* What no array can be is INVALID_VALUE, what softcuda lacks NOT_SUPPORTED. */
static CUresult check(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "an array of %u channels, not 1, 2, 4",
                         d->NumChannels);
    if (format_bytes(d->Format) == 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "arrays of format 0x%x are not built",
                         (unsigned)d->Format);
    if (d->Width == 0 || (d->Depth != 0 && d->Height == 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "an array of %zu x %zu x %zu",
                         d->Width, d->Height, d->Depth);
    if (d->Width > 131072 || d->Height > 65536 || d->Depth > 16384)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "an array of %zu x %zu x %zu exceeds 131072 x 65536 x 16384",
                         d->Width, d->Height, d->Depth);
    if ((d->Flags & ~(unsigned)CUDA_ARRAY3D_SURFACE_LDST) != 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "array flags 0x%x are not built",
                         d->Flags);
    return CUDA_SUCCESS;
}

/* Rows begin at multiples of ROW_UNIT, as a GPU lays out linear arrays. */
CUresult soft_array_create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           CUarray *out)
{
    SOFT_TRY(check(desc));
    struct array *array = soft_new(sizeof(*array));
    SOFT_TRY(soft_made(array, "no memory for an array"));
    array->desc = *desc;
    array->memory = context->device->memory;
    array->row_bytes = desc->Width * desc->NumChannels * format_bytes(desc->Format);
    array->pitch = (array->row_bytes + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT;
    array->rows = desc->Height ? desc->Height : 1;
    const uint64_t bytes = array->pitch * array->rows * (desc->Depth ? desc->Depth : 1);
    CUresult status =
        soft_pass(soft_memory_alloc(array->memory, SOFT_MEMORY_DEVICE, bytes, 0, context,
                                    &array->base, soft_error()));
    if (status == CUDA_SUCCESS) {
        status = soft_handle_add(array, SOFT_KIND_ARRAY);
        if (status != CUDA_SUCCESS &&
            soft_memory_free(array->memory, array->base, soft_error()) != GPH_OK)
            soft_log(CU_LOG_LEVEL_WARNING, "%s", soft_error_text());
    }
    if (status != CUDA_SUCCESS) {
        soft_delete(array);
        return status;
    }
    *out = (CUarray)array;
    return CUDA_SUCCESS;
}

static SOFT_FINDER(find, CUarray, struct array, SOFT_KIND_ARRAY,
                   CUDA_ERROR_INVALID_HANDLE, "array")

    CUresult soft_array_destroy(CUarray handle)
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    if (!soft_handle_remove(array, SOFT_KIND_ARRAY))
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "%p is no array", (void *)handle);
    const CUresult status =
        soft_pass(soft_memory_free(array->memory, array->base, soft_error()));
    soft_delete(array);
    return status;
}

/* As it was created, with heights and depths of 0. */
CUresult soft_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    *out = array->desc;
    return CUDA_SUCCESS;
}

/* Where it begins, the bytes from row to row and the rows of a plane. */
CUresult soft_array_place(CUarray handle, uint64_t *base, size_t *pitch, size_t *rows)
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    *base = array->base;
    *pitch = array->pitch;
    *rows = array->rows;
    return CUDA_SUCCESS;
}

/* In bytes, rows and planes. */
CUresult soft_array_check(CUarray handle, const size_t from[3], const size_t extent[3])
{
    struct array *array;
    SOFT_TRY(find(handle, &array));
    const size_t has[3] = {array->row_bytes, array->rows,
                           array->desc.Depth ? array->desc.Depth : 1};
    for (int i = 0; i < 3; i++)
        if (from[i] > has[i] || extent[i] > has[i] - from[i])
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "%zu %s from %zu on: the array has %zu", extent[i],
                             i == 0   ? "bytes"
                             : i == 1 ? "rows"
                                      : "planes",
                             from[i], has[i]);
    return CUDA_SUCCESS;
}
