// SPDX-License-Identifier: Apache-2.0
/* Tensor maps: CUDA's arguments checked and kept in a CUtensorMap, as kernels read it
 * (softcuda/kernel/run/tensormap.h). */
#ifndef SOFT_DEVICE_TENSORENCODE_H
#define SOFT_DEVICE_TENSORENCODE_H
#include "softcuda/device/context.h"

/* The arguments that all encodings share, as the calls have them. */
typedef struct soft_tensor_desc {
    CUtensorMapDataType type;
    cuuint32_t rank;
    void *address;
    const cuuint64_t *sizes, *strides;
    const cuuint32_t *steps;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
} soft_tensor_desc;

/* What im2col has instead of a box; corners by W, H, D. */
typedef struct soft_tensor_pixels {
    const int *lower, *upper;
    cuuint32_t channels, pixels;
} soft_tensor_pixels;

/* Each refuses with INVALID_VALUE and leaves `out` as it is; NOT_SUPPORTED below compute
 * capability 9.0. Thread: any. */
CUresult soft_tensor_encode_tiled(const soft_tensor_desc *desc, const cuuint32_t *box,
                                  CUtensorMap *out);
CUresult soft_tensor_encode_im2col(const soft_tensor_desc *desc,
                                   const soft_tensor_pixels *pixels, CUtensorMap *out);
/* Corners of W alone; the first of each is read. */
CUresult soft_tensor_encode_wide(const soft_tensor_desc *desc,
                                 const soft_tensor_pixels *pixels,
                                 CUtensorMapIm2ColWideMode mode, CUtensorMap *out);
CUresult soft_tensor_replace(CUtensorMap *map, void *address);
#endif
