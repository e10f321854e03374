// SPDX-License-Identifier: Apache-2.0
/* What the files of copies share. */
#ifndef SOFT_API_CU_COPY_H
#define SOFT_API_CU_COPY_H
#include "softcuda/device/stream.h"

struct how {
    const char *call; /* the entry point */
    CUstream stream;
    bool per_thread; /* which default stream 0 means */
    bool sync;       /* the call returns when the copy is done */
};

/* Of a call made by SOFT_TWINS. */
#define SOFT_SYNC ((struct how){__func__, NULL, per_thread, true})
#define SOFT_ASYNC ((struct how){__func__, stream, per_thread, false})

CUresult soft_api_copy_submit(soft_context *context, const CUDA_MEMCPY3D *copy,
                              struct how how);
/* Many copies: `item` makes each of them, of `user`. */
struct soft_copy_batch {
    size_t count;
    CUresult (*item)(const void *user, size_t i, CUDA_MEMCPY3D *out);
    const void *user;
};

/* In the current context. Every copy is checked before the first is submitted; *failed,
 * which may be NULL, becomes the number of the last one looked at. */
CUresult soft_api_copy_batch(const struct soft_copy_batch *batch, struct how how,
                             size_t *failed);
#endif
