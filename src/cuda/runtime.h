// SPDX-License-Identifier: Apache-2.0
/* An open driver: its calls, twice, and what it can do. */
#ifndef GPHI_CUDA_RUNTIME_H
#define GPHI_CUDA_RUNTIME_H
#include "cuda/defer.h"
#include "cuda/loader.h"

/* cuMemcpyBatchAsync as CUDA 12.8 had it. */
typedef CUresult gphi_batch_12080_fn(CUdeviceptr *, CUdeviceptr *, size_t *, size_t,
                                     CUmemcpyAttributes *, size_t *, size_t, size_t *,
                                     CUstream);

/* Constant after gph_open(), so any thread may read it. */
struct gph_runtime {
    gph_allocator heap;
    gphi_driver *driver; /* one count; NULL if a test gave the source */
    gphi_cuda_source source;
    gphi_cuda_table cu;   /* with CUDA's types, for the library */
    gph_cuda_calls calls; /* the same, for programs */
    /* NULL where the table's batched copy is there, or neither. */
    gphi_batch_12080_fn *batch_12080;
    gph_driver_info info;
    unsigned copy_way;     /* gphi_copy_way of replay/copy.h; tests and benches set it */
    bool is_told;          /* gphi_refusal_open() */
    gphi_deferred closing; /* of gph_close() */
};

/* Makes this thread's unsafe calls allowed during captures of the process, which they
 * then do not invalidate (R95, R96), until gphi_unrelax() of what it returns. A driver that
 * cannot refuses such calls by itself. */
CUstreamCaptureMode gphi_relax(const gphi_cuda_table *cu);
void gphi_unrelax(const gphi_cuda_table *cu, CUstreamCaptureMode before);

/* An event without times, of `context`, or, NULL, of the current one. */
CUresult gphi_event_create(const gphi_cuda_table *cu, CUcontext context, CUevent *out);

/* gph_open() on a given driver: how tests put theirs underneath. The source is copied;
 * what it points to must outlive the runtime. */
gph_status gphi_runtime_create(const gph_allocator *allocator,
                               const gphi_cuda_source *source, gph_runtime **out,
                               gph_error *error);
#endif
