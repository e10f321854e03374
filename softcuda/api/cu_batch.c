// SPDX-License-Identifier: Apache-2.0
/* cuMemcpy3DBatchAsync: copies between pitched memory and arrays, many in one call.
 *
 * Extents and offsets of this call are in elements, whose size only an array knows:
 * between pointers an element is a byte. The order in which sources are read is a
 * promise of the caller to the driver, which is kept in each of its three forms by
 * reading in stream order. */
#include <string.h>

#include "softcuda/api/cu_copy.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/array.h"

/* Bytes an element: 1, except where an array is an operand. */
static CUresult element_bytes(const CUDA_MEMCPY3D_BATCH_OP *op, size_t *out)
{
    const CUmemcpy3DOperand *operands[] = {&op->src, &op->dst};
    *out = 1;
    for (int i = 0; i < 2; i++) {
        if (operands[i]->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            continue;
        CUDA_ARRAY3D_DESCRIPTOR desc;
        SOFT_TRY(soft_array_describe(operands[i]->op.array.array, &desc));
        *out = soft_array_element_bytes(&desc);
    }
    return CUDA_SUCCESS;
}

/* One operand in the words of CUDA_MEMCPY3D. */
struct place {
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array;
    size_t x, y, z, pitch, height;
};

/* A row length or layer height of 0 stands for the extent. A pitch that is too small is
 * refused here, with the words of this call, not later by the copy. */
static CUresult place_of(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
                         size_t element, struct place *out)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        *out = (struct place){.type = CU_MEMORYTYPE_ARRAY,
                              .array = operand->op.array.array,
                              .x = operand->op.array.offset.x * element,
                              .y = operand->op.array.offset.y,
                              .z = operand->op.array.offset.z};
        return CUDA_SUCCESS;
    }
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a type of operand",
                         (int)operand->type);
    const size_t row = operand->op.ptr.rowLength, rows = operand->op.ptr.layerHeight;
    if ((row != 0 && row < extent->width) || (rows != 0 && rows < extent->height))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "rows of %zu and layers of %zu do not hold %zu x %zu", row, rows,
                         extent->width, extent->height);
    *out = (struct place){.type = CU_MEMORYTYPE_UNIFIED,
                          .address = operand->op.ptr.ptr,
                          .pitch = (row ? row : extent->width) * element,
                          .height = rows ? rows : extent->height};
    return CUDA_SUCCESS;
}

static CUresult copy_of(const void *ops, size_t i, CUDA_MEMCPY3D *out)
{
    const CUDA_MEMCPY3D_BATCH_OP *op = (const CUDA_MEMCPY3D_BATCH_OP *)ops + i;
    const CUextent3D *extent = &op->extent;
    if (extent->width == 0 || extent->height == 0 || extent->depth == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the extent is %zu x %zu x %zu",
                         extent->width, extent->height, extent->depth);
    if (op->srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
        op->srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the access order is %d",
                         (int)op->srcAccessOrder);
    size_t element;
    struct place src, dst;
    SOFT_TRY(element_bytes(op, &element));
    if (extent->width > SIZE_MAX / element)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu elements are too many",
                         extent->width);
    SOFT_TRY(place_of(&op->src, extent, element, &src));
    SOFT_TRY(place_of(&op->dst, extent, element, &dst));
    *out = (CUDA_MEMCPY3D){.srcMemoryType = src.type,
                           .srcDevice = src.address,
                           .srcArray = src.array,
                           .srcXInBytes = src.x,
                           .srcY = src.y,
                           .srcZ = src.z,
                           .srcPitch = src.pitch,
                           .srcHeight = src.height,
                           .dstMemoryType = dst.type,
                           .dstDevice = dst.address,
                           .dstArray = dst.array,
                           .dstXInBytes = dst.x,
                           .dstY = dst.y,
                           .dstZ = dst.z,
                           .dstPitch = dst.pitch,
                           .dstHeight = dst.height,
                           .WidthInBytes = extent->width * element,
                           .Height = extent->height,
                           .Depth = extent->depth};
    return CUDA_SUCCESS;
}

/* An entry point of batches: the arrays themselves first, then the stream, then each
 * copy, as an H100 judges. */
static CUresult copy_all(size_t count, const CUDA_MEMCPY3D_BATCH_OP *ops,
                         unsigned long long flags, struct how how, size_t *failed)
{
    SOFT_TRY(soft_enter_context(how.call, NULL));
    if (count == 0 || !ops || flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%zu copies at %p with flags 0x%llx",
                         count, (const void *)ops, flags);
    const struct soft_copy_batch batch = {count, copy_of, ops};
    return soft_api_copy_batch(&batch, how, failed);
}

SOFT_TWINS(cuMemcpy3DBatchAsync_v2, _ptsz,
           (size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
            CUstream stream),
           copy_all(count, ops, flags, SOFT_ASYNC, NULL))

SOFT_TWINS(cuMemcpy3DBatchAsync, _ptsz,
           (size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
            unsigned long long flags, CUstream stream),
           copy_all(count, ops, flags, SOFT_ASYNC, failed))
