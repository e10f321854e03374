/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  A function over tensors, recorded once for one signature and called again for the
 *  price of a launch. */
#ifndef GPH_CALLABLE_H
#define GPH_CALLABLE_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/memory.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tensors have at most so many dimensions. */
#define GPH_TENSOR_RANK_MAX 8

/** Every element type: name, value, bytes, word. */
#define GPH_DTYPE_MAP(X)                                                                 \
    X(GPH_DTYPE_U8, 1, 1, "u8")                                                          \
    X(GPH_DTYPE_I8, 2, 1, "i8")                                                          \
    X(GPH_DTYPE_BOOL, 3, 1, "bool")                                                      \
    X(GPH_DTYPE_F8E4M3, 4, 1, "f8e4m3")                                                  \
    X(GPH_DTYPE_F8E5M2, 5, 1, "f8e5m2")                                                  \
    X(GPH_DTYPE_I16, 6, 2, "i16")                                                        \
    X(GPH_DTYPE_U16, 7, 2, "u16")                                                        \
    X(GPH_DTYPE_F16, 8, 2, "f16")                                                        \
    X(GPH_DTYPE_BF16, 9, 2, "bf16")                                                      \
    X(GPH_DTYPE_I32, 10, 4, "i32")                                                       \
    X(GPH_DTYPE_U32, 11, 4, "u32")                                                       \
    X(GPH_DTYPE_F32, 12, 4, "f32")                                                       \
    X(GPH_DTYPE_I64, 13, 8, "i64")                                                       \
    X(GPH_DTYPE_U64, 14, 8, "u64")                                                       \
    X(GPH_DTYPE_F64, 15, 8, "f64")                                                       \
    X(GPH_DTYPE_C64, 16, 8, "c64")                                                       \
    X(GPH_DTYPE_C128, 17, 16, "c128")

/** The element types. */
typedef enum gph_dtype {
#define X(name, value, bytes, text) name = value, /**< see GPH_DTYPE_MAP */
    GPH_DTYPE_MAP(X)
#undef X
} gph_dtype;

/** A tensor: a view of device memory. Owns nothing. */
typedef struct gph_tensor {
    CUdeviceptr data;                    /**< of element 0 */
    uint32_t dtype;                      /**< a gph_dtype */
    uint32_t rank;                       /**< 0 (a scalar) to GPH_TENSOR_RANK_MAX */
    int64_t shape[GPH_TENSOR_RANK_MAX];  /**< elements; `rank` of them hold */
    int64_t stride[GPH_TENSOR_RANK_MAX]; /**< elements; 0 where it is expanded */
} gph_tensor;

/** A dense tensor in row-major order. A rank beyond the most gives rank 0 and no data. */
GPH_API gph_tensor gph_tensor_dense(CUdeviceptr data, gph_dtype dtype, uint32_t rank,
                                    const int64_t *shape);
/** Bytes from its first to past its last element; 0 if it has none, or if they are beyond
 *  2^62. Thread: any. */
GPH_API uint64_t gph_tensor_bytes(const gph_tensor *tensor);

/** Why a function is called. */
typedef enum gph_phase {
    GPH_PHASE_EAGER = 1,  /**< its work runs now, and its outputs are the result */
    GPH_PHASE_WARMUP = 2, /**< its work runs now, before a capture; outputs are dropped */
    GPH_PHASE_CAPTURE = 3 /**< its work is recorded */
} gph_phase;

/** A call of a function: what it is given, and what it gives back. */
typedef struct gph_call {
    uint32_t size;            /**< sizeof(gph_call) of the library */
    uint32_t phase;           /**< a gph_phase */
    gph_runtime *runtime;     /**< the driver */
    CUstream stream;          /**< all work goes here, or forks from here and joins */
    gph_pool *pool;           /**< outputs and temporaries are allocated here */
    gph_capture *capture;     /**< for regions and breaks; NULL unless it captures */
    const gph_tensor *inputs; /**< `input_count` of them */
    gph_tensor *outputs;      /**< `output_count` of them, zeroed; the function fills
                                 them: allocated from `pool`, or views of inputs */
    uint32_t input_count;     /**< of `inputs` */
    uint32_t output_count;    /**< of `outputs` */
    const int64_t *key; /**< the caller's key: a mode, a bucket; `key_count` words */
    uint32_t key_count; /**< of `key` */
    uint32_t reserved;  /**< zero */
    CUdeviceptr rng;    /**< two 64-bit words in device memory: Philox seed and
                           offset; 0 if the owner has no generator */
    uint64_t rng_count; /**< out: how far the offset goes on, per call */
} gph_call;

/** Puts work into `call->stream`. It may be called many times, and must do the same work
 *  for the same signature and key. Temporaries that it allocates it frees. A status other
 *  than GPH_OK ends the call and is passed on; it fills `error` then. Called on the
 *  thread of the caller. */
typedef gph_status gph_function_fn(void *user, gph_call *call, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
