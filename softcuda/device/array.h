// SPDX-License-Identifier: Apache-2.0
/* CUarray: pitched device memory with a format, layers, faces; and mipmapped arrays, whose
 * levels are arrays of their own. */
#ifndef SOFT_DEVICE_ARRAY_H
#define SOFT_DEVICE_ARRAY_H
#include "softcuda/device/context.h"

CUresult soft_array_create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                           CUarray *out);
/* A level of a mipmapped array stays: that one owns it. */
CUresult soft_array_destroy(CUarray handle);
CUresult soft_array_describe(CUarray handle, CUDA_ARRAY3D_DESCRIPTOR *out);
size_t soft_array_element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc);
/* Bytes of a channel, of the formats that softcuda knows; 0 for the others. */
unsigned soft_format_bytes(CUarray_format format);

/* Its memory: bytes from row to row, and rows a plane. INVALID_HANDLE for what is none.
 */
CUresult soft_array_place(CUarray handle, uint64_t *base, size_t *pitch, size_t *rows);

/* The array that has the byte at an address, and where there: bytes, rows and planes. NULL: none. */
CUarray soft_array_holding(uint64_t address, size_t at[3]);

/* Whether it holds `extent` bytes, rows and planes from `from` on. */
CUresult soft_array_check(CUarray handle, const size_t from[3], const size_t extent[3]);

/* More levels than halving gives are as many as it gives; 0 is one. */
CUresult soft_levels_create(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            unsigned levels, CUmipmappedArray *out);
/* The bytes that such levels take, one after the other, rows at multiples of 256 bytes; and levels
 * in memory at an address, which soft_levels_destroy() gives back. */
CUresult soft_levels_bytes(const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned levels,
                           uint64_t *out);
CUresult soft_levels_view(soft_context *context, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                          unsigned levels, uint64_t address, CUmipmappedArray *out);
CUresult soft_levels_destroy(CUmipmappedArray handle);
/* A level, lent; *count (may be NULL) how many there are. */
CUresult soft_levels_get(CUmipmappedArray handle, unsigned level, CUarray *out,
                         unsigned *count);
#endif
