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
/* What a batch of copies may be sent to: not the legacy stream (INVALID_VALUE), and no
 * stream that captures (STREAM_CAPTURE_UNSUPPORTED, and the capture stays valid, C12). */
CUresult soft_api_copy_batch_stream(soft_context *context, struct how how);
#endif
