// SPDX-License-Identifier: Apache-2.0
/* Tensor maps. */
#include "softcuda/api/exports.h"
#include "softcuda/device/device.h"
#include "softcuda/device/tensorencode.h"

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type,
                                cuuint32_t rank, void *address, const cuuint64_t *sizes,
                                const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill)
{
    const soft_tensor_desc desc = {type,  rank,       address, sizes,     strides,
                                   steps, interleave, swizzle, promotion, fill};
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return soft_tensor_encode_tiled(&desc, box, out);
}

CUresult
cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                        void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                        const int *lower, const int *upper, cuuint32_t channels,
                        cuuint32_t pixels, const cuuint32_t *steps,
                        CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                        CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    const soft_tensor_desc desc = {type,  rank,       address, sizes,     strides,
                                   steps, interleave, swizzle, promotion, fill};
    const soft_tensor_pixels box = {lower, upper, channels, pixels};
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return soft_tensor_encode_im2col(&desc, &box, out);
}

CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
    const cuuint64_t *sizes, const cuuint64_t *strides, int lower, int upper,
    cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
    CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    const soft_tensor_desc desc = {type,  rank,       address, sizes,     strides,
                                   steps, interleave, swizzle, promotion, fill};
    const soft_tensor_pixels box = {&lower, &upper, channels, pixels};
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return soft_tensor_encode_wide(&desc, &box, mode, out);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    return soft_tensor_replace(map, address);
}
