/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  A function over tensors, recorded once for one signature and called again for the
 *  price of a launch. Tier: stable. */
#ifndef GPH_CALLABLE_H
#define GPH_CALLABLE_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/memory.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A tensor has at most this many dimensions. */
#define GPH_TENSOR_RANK_MAX 8

/** Every element type: name, value, bytes, its name as text. */
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

/** A tensor: a view of device memory. Owns nothing. Layout frozen: each call passes
 *  arrays of it, and bindings to other languages pass them on as they are. */
typedef struct gph_tensor {
    CUdeviceptr data;                    /**< of element 0 */
    uint32_t dtype;                      /**< a gph_dtype */
    uint32_t rank;                       /**< 0 (a scalar) to GPH_TENSOR_RANK_MAX */
    int64_t shape[GPH_TENSOR_RANK_MAX];  /**< elements; the first `rank` of them count */
    int64_t stride[GPH_TENSOR_RANK_MAX]; /**< elements; 0 where it is expanded */
} gph_tensor;

/** A dense tensor in row-major order; rank 0 and no data beyond GPH_TENSOR_RANK_MAX. */
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

/** A call of a function: its arguments and its results. */
typedef struct gph_call {
    uint32_t size;            /**< sizeof(gph_call) of the library */
    uint32_t phase;           /**< a gph_phase */
    gph_runtime *runtime;     /**< the driver */
    CUstream stream;          /**< all work goes here, or forks from here and joins */
    gph_pool *pool;           /**< outputs and temporaries are allocated here */
    gph_capture *capture;     /**< for regions and breaks; NULL unless it captures */
    const gph_tensor *inputs; /**< `input_count` of them */
    gph_tensor *outputs;      /**< `output_count` of them; the function fills them:
                                 allocated from `pool`, or views of inputs. Zeroed, except
                                 those that go into a buffer of the owner's
                                 (GPH_OUTPUT_INTO): the function writes there, or it
                                 replaces the tensor, and a copy is recorded */
    uint32_t input_count;     /**< of `inputs` */
    uint32_t output_count;    /**< of `outputs` */
    const int64_t *key; /**< the caller's key: a mode, a bucket; `key_count` words */
    uint32_t key_count; /**< of `key` */
    uint32_t reserved;  /**< zero */
    CUdeviceptr rng;    /**< two 64-bit words in device memory: Philox seed and
                           offset; 0 if the owner has no generator */
    uint64_t rng_count; /**< out: how far a call advances the offset */
} gph_call;

/** Puts work into `call->stream`. It may be called many times, and must do the same work
 *  for the same signature and key. It must free the temporaries that it allocates. A
 *  status other than GPH_OK ends the call and is passed on; the function then fills in
 *  `error`. Called on the caller's thread. */
typedef gph_status gph_function_fn(void *user, gph_call *call, gph_error *error);

/** @name Random numbers
 *  The state of a Philox4x32-10 generator: a seed and an offset. A replay reads from
 *  device memory the same state that an eager call would have used, so replays and eager
 *  calls may be mixed in any order. */
/** @{ */

/** A generator. Taking numbers: any thread; the rest one at a time. */
typedef struct gph_rng gph_rng;

/** Its current state. Layout frozen: the two words of Philox, passed by value. */
typedef struct gph_rng_state {
    uint64_t seed;   /**< Philox' key */
    uint64_t offset; /**< numbers taken so far by each thread of a kernel */
} gph_rng_state;

/** Makes one. A context must be current, and no capture in global mode may be open.
 *
 *  runtime  borrowed until gph_rng_destroy().
 *  out      owned by the caller on success: gph_rng_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_NO_MEMORY and what loading a module returns. */
GPH_API GPH_CHECKED gph_status gph_rng_create(gph_runtime *runtime, uint64_t seed,
                                              gph_rng **out, gph_error *error);
/** Destroys it, after everything that was recorded with it. NULL is allowed. */
GPH_API void gph_rng_destroy(gph_rng *rng);
/** Its current state; the next replay begins here. NULL gives zeros. Thread: any. */
GPH_API gph_rng_state gph_rng_state_get(const gph_rng *rng);
/** Sets seed and offset: replays and eager calls continue from there; queued work is not
 *  changed. A new seed is gph_rng_state_set(rng, (gph_rng_state){seed, 0}). */
GPH_API void gph_rng_state_set(gph_rng *rng, gph_rng_state state);
/** Reserves `count` offsets for eager work and returns the state it begins with. Thread:
 *  any. */
GPH_API gph_rng_state gph_rng_take(gph_rng *rng, uint64_t count);
/** @} */

/** How a call passes a recorded input. */
typedef enum gph_input_mode {
    GPH_INPUT_COPY = 1,   /**< copied into a buffer of the recording before each replay */
    GPH_INPUT_STATIC = 2, /**< stays where it was when it was recorded */
    GPH_INPUT_MANAGED = 3 /**< an output of an earlier recording of the same pool */
} gph_input_mode;

/** Where an output goes. */
typedef enum gph_output_policy {
    GPH_OUTPUT_LENT = 1,   /**< stays in the pool: valid until the next call */
    GPH_OUTPUT_COPIED = 2, /**< copied to an address that each call passes */
    GPH_OUTPUT_INTO = 3    /**< recorded into a buffer named in the options */
} gph_output_policy;

/** Where an output is to go. Layout frozen: an array of the options; later members take
 *  the place of `reserved`. */
typedef struct gph_output {
    uint32_t policy;   /**< a gph_output_policy; 0: GPH_OUTPUT_LENT */
    uint32_t reserved; /**< zero */
    gph_tensor into;   /**< of GPH_OUTPUT_INTO: the caller's buffer */
} gph_output;

/** An output of another callable in a list. Layout frozen: two indices. */
typedef struct gph_source {
    uint32_t callable; /**< its index: forward i is i, backward i is `count` + i */
    uint32_t output;   /**< its output */
} gph_source;

/** What a function is called with. Layout frozen: read at every call; everything else is
 *  bound beforehand. */
typedef struct gph_arguments {
    const gph_tensor *inputs; /**< borrowed for the call. One that is all zeros means that
                                   the recorded place already has the right contents */
    uint32_t input_count;     /**< of `inputs` */
    uint32_t key_count;       /**< of `key` */
    const int64_t *key;       /**< the caller's, such as training or evaluation; may be
                                   NULL */
} gph_arguments;

/** Bits of gph_callable_options.flags. */
enum {
    GPH_CALLABLE_KEEP_GRAPH = 1 << 0,  /**< gph_callable_graph() is wanted */
    GPH_CALLABLE_ANY_ORDER = 1 << 1,   /**< calls are not checked against the replays of
                                          other recordings of the pool */
    GPH_CALLABLE_SHARE_INPUTS = 1 << 2 /**< buffers of copied inputs may overlap memory of
                                            other recordings of the pool: their contents
                                            are valid only during a call */
};

/** A function and how it is recorded. Start from GPH_CALLABLE_OPTIONS_INIT. All pointers
 *  are borrowed for the call, except `user`, `pool` and `rng`: until the callable is
 *  destroyed. */
typedef struct gph_callable_options {
    uint32_t size;             /**< sizeof(gph_callable_options) */
    uint32_t flags;            /**< GPH_CALLABLE_ bits */
    gph_function_fn *function; /**< what is recorded */
    void *user;                /**< passed to it */
    gph_arguments sample;      /**< the signature; the data is used by warm-ups */
    const uint8_t *modes;      /**< a gph_input_mode each; NULL: all are copied */
    const gph_output *outputs; /**< `output_count`; NULL: all are lent */
    const gph_source *sources; /**< in a list: where managed inputs come from, whose
                                    sample is then zeros; else NULL */
    const gph_tensor *clear;   /**< dense tensors that are zeroed at the head of the
                                  graph, such as buffers that accumulate gradients */
    const char *name;          /**< copied; NULL: none */
    gph_pool *pool;            /**< retained. Required */
    CUstream stream;           /**< warm-ups and capture go here. Required */
    gph_rng *rng;              /**< or NULL */
    uint32_t output_count;     /**< of the function */
    uint32_t clear_count;      /**< of `clear` */
    uint32_t warmup_count;     /**< calls before the capture; their effects stay */
    uint32_t reserved;         /**< zero */
} gph_callable_options;
/** Nothing. */
#define GPH_CALLABLE_OPTIONS_INIT GPH_SIZED(gph_callable_options)

/** A function recorded for one signature. Calls of one: one at a time. Different ones:
 *  any thread. */
typedef struct gph_callable gph_callable;

/** Records a function: warm-ups, capture, executable. Apart from the effects of warm-ups,
 *  recording leaves everything as it was, including the state of the generator.
 *
 *  runtime  borrowed until gph_callable_destroy().
 *  out      owned by the caller on success: gph_callable_destroy(). Untouched on failure.
 *
 *  After a failure, the stream, the pool and the generator are as before, and the error
 *  names the first cause. Fails with GPH_E_INVALID (the message names the option),
 *  GPH_E_STATE (the stream is captured, something else is being recorded in the pool),
 *  GPH_E_NO_MEMORY, what the function returns and what the driver returns. Thread:
 *  any. */
GPH_API GPH_CHECKED gph_status gph_callable_create(gph_runtime *runtime,
                                                   const gph_callable_options *options,
                                                   gph_callable **out, gph_error *error);

/** Records forward and backward functions in the order in which they will run, forward 0
 *  to `count` - 1, then backward `count` - 1 to 0, so that they may share one pool:
 *  activations that backward functions read are managed inputs (`sources`).
 *
 *  forward   borrowed for the call, `count` of them.
 *  backward  borrowed for the call, `count` of them, or NULL: there are none.
 *  out       the caller's, room for all: forwards first. Each is owned by the caller on
 *            success: gph_callable_destroy(). Untouched on failure.
 *
 *  Fails as gph_callable_create() does, and with GPH_E_INVALID where a source is not an
 *  output recorded earlier. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_callables_create(gph_runtime *runtime,
                                                    const gph_callable_options *forward,
                                                    const gph_callable_options *backward,
                                                    uint32_t count, gph_callable **out,
                                                    gph_error *error);

/** Destroys it. Its work must have ended; its outputs are freed with it. NULL is allowed.
 *  Thread: one at a time. */
GPH_API void gph_callable_destroy(gph_callable *callable);

/** How arguments differ from what was recorded. */
typedef enum gph_mismatch_kind {
    GPH_MISMATCH_INPUT_COUNT = 1, /**< inputs */
    GPH_MISMATCH_KEY_COUNT = 2,   /**< words of the key */
    GPH_MISMATCH_KEY = 3,         /**< word `index` of the key */
    GPH_MISMATCH_DTYPE = 4,       /**< of input `index` */
    GPH_MISMATCH_RANK = 5,        /**< of input `index` */
    GPH_MISMATCH_SHAPE = 6,       /**< of input `index`, at `axis` */
    GPH_MISMATCH_STRIDE = 7,      /**< of input `index`, at `axis` */
    GPH_MISMATCH_DATA = 8,        /**< input `index` has no data */
    GPH_MISMATCH_ADDRESS = 9,     /**< input `index` is static or managed, and moved */
    GPH_MISMATCH_DEVICE = 10      /**< the current context is another device's */
} gph_mismatch_kind;

/** One difference. Layout frozen: the caller's array; `text` says the rest. */
typedef struct gph_mismatch {
    gph_mismatch_kind kind; /**< what */
    uint32_t index;         /**< of the input, or of the word */
    uint32_t axis;          /**< of shape and stride */
    uint32_t reserved;      /**< zero */
    int64_t got;            /**< value of the call */
    int64_t recorded;       /**< value recorded */
    char text[96];          /**< "input 2: shape[1] is 65, recorded 64" */
} gph_mismatch;

/** Checks whether arguments match the recording, and lists all differences.
 *
 *  arguments  borrowed for the call.
 *  all        the caller's, room for `capacity`, may be NULL with 0.
 *  count      the caller's, may be NULL: how many differences there are.
 *
 *  Returns GPH_OK, or GPH_E_INVALID, and the message is the first difference. */
GPH_API gph_status gph_callable_check(const gph_callable *callable,
                                      const gph_arguments *arguments, gph_mismatch *all,
                                      uint32_t capacity, uint32_t *count,
                                      gph_error *error);

/** Calls it: a few comparisons, one combined copy of everything that must be copied, a
 *  launch. It allocates nothing, takes no lock and waits for nothing.
 *
 *  arguments  borrowed for the call; NULL: everything is in its recorded place.
 *  stream     borrowed for the call; copies and launch are ordered in it.
 *  outputs    the caller's, as many as the function has, or NULL. Lent ones are filled
 *             in; `data` of a copied one says where it goes (dense, as recorded; 0:
 *             nowhere), and its other fields are filled in.
 *
 *  Fails with GPH_E_INVALID (a difference, as gph_callable_check() finds), GPH_E_STATE
 *  (an input was overwritten by a replay since) and what the driver returns. Thread: one
 *  at a time. */
GPH_API GPH_CHECKED gph_status gph_callable_call(gph_callable *callable,
                                                 const gph_arguments *arguments,
                                                 CUstream stream, gph_tensor *outputs,
                                                 gph_error *error);

/** Number of the last call; 0 before the first. The outputs that it lent are valid as
 *  long as gph_callable_epoch_check() says so. */
GPH_API uint64_t gph_callable_epoch(const gph_callable *callable);
/** Checks that the outputs of call `epoch` are still what they were: GPH_OK, or
 *  GPH_E_STATE, and the message says which call of which callable of the list overwrote
 *  them. GPH_E_INVALID: there was no such call. */
GPH_API GPH_CHECKED gph_status gph_callable_epoch_check(const gph_callable *callable,
                                                        uint64_t epoch, gph_error *error);

/** The recorded input, in its place: it may be written before a call instead of being
 *  copied during it. All zeros if there is no such input. Lent until
 *  gph_callable_destroy(). */
GPH_API gph_tensor gph_callable_input(const gph_callable *callable, uint32_t index);
/** The recorded output, in its place. All zeros if there is no such output. */
GPH_API gph_tensor gph_callable_output(const gph_callable *callable, uint32_t index);
/** The executable; with breaks (gph_capture_break()), the first one. Lent until
 *  gph_callable_destroy(). */
GPH_API gph_exec *gph_callable_exec(const gph_callable *callable);
/** The recorded graph, or the first one; NULL without GPH_CALLABLE_KEEP_GRAPH. Lent until
 *  gph_callable_destroy(). */
GPH_API CUgraph gph_callable_graph(const gph_callable *callable);
/** Its recording in the pool. */
GPH_API gph_recording_id gph_callable_recording(const gph_callable *callable);

/** Calls a function once, eagerly: to compare a recording with, or where nothing was
 *  recorded. Inputs are where the caller has them; outputs that it allocated are the
 *  caller's: gph_pool_free(). `outputs`: the caller's, filled in. The generator advances.
 *  Fails as the function does. */
GPH_API GPH_CHECKED gph_status gph_function_call(gph_runtime *runtime,
                                                 const gph_callable_options *options,
                                                 const gph_arguments *arguments,
                                                 CUstream stream, gph_tensor *outputs,
                                                 gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
