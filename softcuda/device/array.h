// SPDX-License-Identifier: Apache-2.0
/* CUarray: pitched device memory with a format. Textures and surfaces do not exist, so
 * arrays serve copies only. */
#ifndef SOFT_DEVICE_ARRAY_H
#define SOFT_DEVICE_ARRAY_H
#include "softcuda/device/context.h"

CUresult soft_array_create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           CUarray *out);
CUresult soft_array_destroy(CUarray handle);
CUresult soft_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out);
size_t soft_array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc);

/* Its memory: bytes from row to row, and rows a plane. INVALID_HANDLE for what is none.
 */
CUresult soft_array_place(CUarray handle, uint64_t *base, size_t *pitch, size_t *rows);

/* Whether it holds `extent` bytes, rows and planes from `from` on. */
CUresult soft_array_check(CUarray handle, const size_t from[3], const size_t extent[3]);
#endif
