// SPDX-License-Identifier: Apache-2.0
/* Copies as the runtime describes them, as the driver does. */
#ifndef SOFT_RUNTIME_COPY_H
#define SOFT_RUNTIME_COPY_H
#include "softcuda/runtime/entry.h"

/* cudaErrorInvalidMemcpyDirection: `kind` is not a cudaMemcpyKind. */
cudaError_t rt_copy_to_driver(const rt_driver *cu, const struct cudaMemcpy3DParms *from,
                              CUDA_MEMCPY3D *out);
void rt_copy_to_runtime(const rt_driver *cu, const CUDA_MEMCPY3D *from,
                        struct cudaMemcpy3DParms *out);
/* How long a row of an array is. */
cudaError_t rt_row_bytes(const rt_driver *cu, CUarray array, size_t *out);
/* `bytes` in a row, as a 3-D copy of one row. */
struct cudaMemcpy3DParms rt_copy_row(void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind);
/* `count` bytes from `offset` on of a variable: its address.
 * cudaErrorInvalidSymbol, cudaErrorInvalidValue: beyond its end. */
cudaError_t rt_symbol_range(const rt_driver *cu, const void *shadow, size_t count,
                            size_t offset, CUdeviceptr *out);
#endif
