// SPDX-License-Identifier: Apache-2.0
/* Tensors of real sizes in tensors of a key's sizes: what is copied, what is padding.
 *
 *        real 2 x 3 in 4 x 5            padding of dimension 1, then of dimension 0
 *        # # # . .                      # # # 1 1
 *        # # # . .                      # # # 1 1
 *        . . . . .                      0 0 0 0 0
 *        . . . . .                      0 0 0 0 0
 */
#ifndef GPHI_CACHE_PAD_H
#define GPHI_CACHE_PAD_H
#include "cuda/runtime.h"
#include <gph/cache.h>

/* Rows of bytes in two tensors at once; one row if `height` is 1. */
struct gphi_rows {
    uint64_t offset_a, offset_b; /* of the first row, bytes from element 0 */
    uint64_t width;              /* of a row */
    uint64_t height;             /* rows */
    uint64_t pitch_a, pitch_b;   /* from row to row */
};
typedef gph_status gphi_rows_fn(void *user, const struct gphi_rows *rows,
                                gph_error *error);

/* Calls `each` for few, large pieces that make up the box of `counts` elements at
 * element 0 of two tensors. The last dimension of both is dense. Passes a failure on. */
gph_status gphi_pad_walk(const gph_tensor *a, const gph_tensor *b, const int64_t *counts,
                         gphi_rows_fn *each, void *user, gph_error *error);

/* Copies a box of `counts` elements at element 0. `from` may be host memory. */
gph_status gphi_pad_copy(const gph_runtime *runtime, const gph_tensor *to,
                         const gph_tensor *from, const int64_t *counts, CUstream stream,
                         gph_error *error);

/* Fills what of `tensor` is beyond `real` as the rule says. */
gph_status gphi_pad_fill(const gph_runtime *runtime, const gph_cache_tensor *rule,
                         const gph_tensor *tensor, const int64_t *real, CUstream stream,
                         gph_error *error);
#endif
