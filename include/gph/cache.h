/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  One function, recorded for many shapes: shapes are rounded up to buckets, each bucket
 *  is a graph, and all graphs share the memory of one pool. A call says whether it was
 *  replayed, and if not, why. Tier: experimental. */
#ifndef GPH_CACHE_H
#define GPH_CACHE_H

#include <gph/callable.h>
#include <gph/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A family of graphs. Replays and look-ups from any thread, even while another thread
 *  captures; the GPU work of one cache must run in one order (one stream, or streams that
 *  wait for each other), since its graphs share memory. */
typedef struct gph_cache gph_cache;

#define GPH_CACHE_AXES_MAX 8           /**< axes of a cache, at most */
#define GPH_CACHE_KEYS_MAX 65536       /**< keys of a cache, at most */
#define GPH_CACHE_NONE ((uint32_t)-1)  /**< no key */
#define GPH_CACHE_SIZE_MAX 0x7fffffffL /**< sizes on an axis, at most */

/** How the values of an axis are chosen. */
typedef enum gph_ladder {
    GPH_LADDER_LIST = 1,   /**< the values as given */
    GPH_LADDER_POWERS = 2, /**< first, twice that, ... and last */
    GPH_LADDER_LINEAR = 3, /**< first, first + step, ... and last */
    GPH_LADDER_PLANNED = 4 /**< those that serve the histogram at the lowest cost */
} gph_ladder;

/** One axis of the shapes: tokens, requests, a mode. Set unused members to zero.
 *  Stride: gph_cache_options.axis_bytes. */
typedef struct gph_cache_axis {
    const char *name;       /**< copied */
    uint32_t ladder;        /**< a gph_ladder */
    uint32_t discrete;      /**< nonzero: only these values exactly; nothing is padded */
    const int64_t *values;  /**< copied. A list: any order, each value once; planned: the
                               sizes that occur. From 1, or from 0 if discrete */
    const uint64_t *counts; /**< copied; planned: how often each occurs */
    uint32_t value_count;   /**< of `values` and `counts` */
    uint32_t rungs_max;     /**< planned: values at most; 0: 64 */
    int64_t first;          /**< powers, linear: the smallest; 0: 1 */
    int64_t last;           /**< powers, linear: the largest */
    int64_t step;           /**< linear */
    double fixed_cost; /**< planned: of a replay, added to `unit_cost` x size; any unit */
    double unit_cost;  /**< planned: per unit of size; 0 with `fixed_cost` 0: 1 */
    double bucket_cost; /**< planned: of having one more bucket, over all calls */
} gph_cache_axis;

/** What an input contains beyond the real sizes. */
typedef enum gph_fill_rule {
    GPH_FILL_KEEP = 0,  /**< whatever was there: the function does not read it */
    GPH_FILL_ZERO = 1,  /**< zero */
    GPH_FILL_VALUE = 2, /**< `value`, an element's bytes, the lowest first */
    GPH_FILL_LAST = 3   /**< the last real slice along the padded dimension */
} gph_fill_rule;

/** A tensor whose shape depends on the key: row-major, dimension d has
 *  size(axis[d] - 1) * shape[d] + extra[d] elements, or shape[d] where axis[d] is 0.
 *  Stride: gph_cache_options.tensor_bytes. */
typedef struct gph_cache_tensor {
    uint32_t dtype;                     /**< a gph_dtype */
    uint32_t rank;                      /**< 0 to GPH_TENSOR_RANK_MAX */
    int64_t shape[GPH_TENSOR_RANK_MAX]; /**< elements, or elements per unit of the axis */
    int32_t extra[GPH_TENSOR_RANK_MAX]; /**< additional elements; >= 0 */
    uint8_t axis[GPH_TENSOR_RANK_MAX];  /**< 0: none; else number of the axis + 1 */
    uint32_t fill;                      /**< for inputs: a gph_fill_rule */
    uint32_t reserved;                  /**< zero */
    uint64_t value;                     /**< for GPH_FILL_VALUE */
} gph_cache_tensor;

/** Padding to be written. Lent: grows at the end. */
typedef struct gph_cache_fill {
    CUstream stream;          /**< put the work here */
    const int64_t *sizes;     /**< the real ones; in warm-ups 0, except on discrete
                                   axes */
    const int64_t *values;    /**< of the key */
    const gph_tensor *inputs; /**< as the function will see them */
    uint32_t input_count;     /**< without the one that holds the sizes */
    uint32_t axis_count;      /**< of `sizes` and `values` */
} gph_cache_fill;
/** Writes the padded part of the inputs, after the fill rules: with requests that do no
 *  harm, for example. Called on the caller's thread, never during a capture. */
typedef gph_status gph_cache_fill_fn(void *user, const gph_cache_fill *fill,
                                     gph_error *error);

/** Agrees with the other ranks on what all of them do.
 *
 *  local  the key that this rank would replay, or GPH_CACHE_NONE for an eager call.
 *  joint  out: the key that all replay (it may be larger than `local`), or GPH_CACHE_NONE
 *         if they could not agree: then all call eagerly.
 *
 *  Called once in each gph_cache_call(). A failure ends the call. */
typedef gph_status gph_cache_agree_fn(void *user, uint32_t local, uint32_t *joint,
                                      gph_error *error);

/** When a key that was missed is captured. */
typedef enum gph_cache_lazy {
    GPH_CACHE_LAZY_WORK = 0, /**< in gph_cache_work(), the most often missed key first */
    GPH_CACHE_LAZY_CALL = 1, /**< also in the call that misses it for the `lazy_misses`-th
                                  time */
    GPH_CACHE_LAZY_OFF = 2   /**< never later: only in gph_cache_start() */
} gph_cache_lazy;

/** How an executable that keys of one topology share changes from one to the other. */
typedef enum gph_cache_cold {
    /** Where the graphs differ in arguments and grids of kernels alone, and have 16 nodes
     *  or more, their first node is a kernel of libgph's that changes the others: the
     *  host writes one word. Where they differ in more, or with `rng`, as
     *  GPH_CACHE_COLD_UPDATE. */
    GPH_CACHE_COLD_PATCH = 0,
    /** By a whole update (cuGraphExecUpdate) before the launch. */
    GPH_CACHE_COLD_UPDATE = 1
} gph_cache_cold;

/** Start from GPH_CACHE_OPTIONS_INIT. */
typedef struct gph_cache_options {
    uint32_t size;                   /**< sizeof(gph_cache_options) */
    uint32_t lazy;                   /**< a gph_cache_lazy */
    const char *name;                /**< copied; NULL: "cache" */
    gph_pool *pool;                  /**< retained; preferably not used by other graphs */
    const gph_cache_axis *axes;      /**< copied */
    const gph_cache_tensor *inputs;  /**< copied; may be NULL with 0 */
    const gph_cache_tensor *outputs; /**< copied; may be NULL with 0 */
    uint32_t axis_count;             /**< 1 to GPH_CACHE_AXES_MAX */
    uint32_t input_count;            /**< of `inputs` */
    uint32_t output_count;           /**< of `outputs` */
    uint32_t axis_bytes;             /**< sizeof(gph_cache_axis); 0: as 0.1 has it */
    uint32_t tensor_bytes;           /**< sizeof(gph_cache_tensor); 0: as 0.1 has it */
    uint32_t cold;                   /**< a gph_cache_cold */
    uint32_t warmup; /**< eager runs of a key before it is captured; 0: 1. Or these: */
#define GPH_CACHE_WARM_LARGEST UINT32_MAX       /**< see gph_cache_start() */
#define GPH_CACHE_WARM_KERNELS (UINT32_MAX - 1) /**< see gph_cache_start() */
    /** The function. It gets `inputs` and a last input, the real sizes: i64, one per
     *  axis, to mask with; its key is the values of the axes: those of the bucket, or,
     *  when it is called eagerly, the real ones. */
    gph_function_fn *function;
    void *user;                /**< passed to the callbacks, which must not call the
                                    cache */
    gph_cache_fill_fn *fill;   /**< or NULL */
    gph_cache_agree_fn *agree; /**< or NULL */
    /** A nonzero result means that the key exists. NULL: all combinations. Called in
     *  create. */
    int (*wanted)(void *user, const int64_t *values);
    double overshoot_max;  /**< padded / real size, over all axes; 0: no limit */
    uint64_t budget_bytes; /**< executables and tensors of the cache; 0: no limit */
    uint32_t lazy_misses;  /**< misses before a lazy capture; 0: 1 */
    uint32_t own_max;      /**< keys with executables of their own; 0: a tenth */
    double hot_share;      /**< a key with this share of the replays gets its own, if it
                                pays; 0: 0.01; 1: no key; negative: every key */
    gph_rng *rng; /**< or NULL; outlives the cache. Replays then take a lock, and none may
                       run during a call */
} gph_cache_options;
/** All defaults. */
#define GPH_CACHE_OPTIONS_INIT GPH_SIZED(gph_cache_options)

/** Makes a cache with no graph yet; allocates its input buffers, one set for all keys.
 *
 *  runtime  borrowed until gph_cache_destroy(). A context must be current.
 *  options  borrowed for the call; `pool`, `axes` and `function` are needed.
 *  out      owned by the caller on success: gph_cache_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (the message names axis, tensor and value), GPH_E_NO_MEMORY
 *  and what the driver returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cache_create(gph_runtime *runtime,
                                                const gph_cache_options *options,
                                                gph_cache **out, gph_error *error);
/** Destroys it, its graphs and executables. NULL is allowed. Thread: one at a time. */
GPH_API void gph_cache_destroy(gph_cache *cache);

/** Every reason: name, value, meaning. */
#define GPH_CACHE_REASONS(X)                                                             \
    X(GPH_CACHE_FITS, 0, "a recorded key serves it")                                     \
    X(GPH_CACHE_BEYOND, 1, "a size is beyond the largest value of its axis")             \
    X(GPH_CACHE_NO_VALUE, 2, "the value is not one of a discrete axis")                  \
    X(GPH_CACHE_BAD_SIZE, 3, "a size is below 1")                                        \
    X(GPH_CACHE_OVERSHOOT, 4, "padding would exceed the overshoot limit")                \
    X(GPH_CACHE_NOT_WANTED, 5, "there is no such key")                                   \
    X(GPH_CACHE_DISAGREED, 6, "the ranks did not agree on a key")                        \
    X(GPH_CACHE_IN_CAPTURE, 7, "the stream is being captured")                           \
    X(GPH_CACHE_NOT_CAPTURED, 8, "the key has not been captured")                        \
    X(GPH_CACHE_EVICTED, 9, "the key was evicted")                                       \
    X(GPH_CACHE_FAILED, 10, "the capture of the key failed")
#define GPH_CACHE_REASON_COUNT 11 /**< how many there are */
#define GPH_CACHE_REASONS_MAX 32  /**< the last reason; no more are added */

/** The reasons. */
typedef enum gph_cache_reason {
#define X(name, value, text) name = value, /**< see GPH_CACHE_REASONS */
    GPH_CACHE_REASONS(X)
#undef X
} gph_cache_reason;

/** What to do with a shape. */
typedef enum gph_cache_verdict {
    GPH_CACHE_EXACT = 1,  /**< replay `key`, whose values are the sizes */
    GPH_CACHE_PADDED = 2, /**< replay `key`, with padding */
    GPH_CACHE_EAGER = 3,  /**< no key will ever serve it */
    GPH_CACHE_MISS = 4    /**< `wanted` would serve it if it were captured */
} gph_cache_verdict;

/** An answer. Layout frozen: each call makes one, with a few comparisons. */
typedef struct gph_cache_match {
    gph_cache_verdict verdict; /**< what to do */
    gph_cache_reason reason;   /**< why it is neither exact nor padded */
    uint32_t key;      /**< to replay, or GPH_CACHE_NONE; it may be larger than `wanted`
                            while `wanted` is not captured */
    uint32_t wanted;   /**< the smallest key that holds the sizes, or GPH_CACHE_NONE */
    uint32_t axis;     /**< the axis at fault, for the reasons that have one */
    uint32_t reserved; /**< zero */
} gph_cache_match;

/** Says what to do with these sizes, one per axis: a few comparisons; nothing is locked,
 *  allocated or counted. `sizes`: borrowed for the call. `out`: the caller's. Fails with
 *  GPH_E_INVALID (a pointer is NULL). Thread: any. */
GPH_API gph_status gph_cache_find(const gph_cache *cache, const int64_t *sizes,
                                  gph_cache_match *out, gph_error *error);
/** A phrase for a reason. Static storage; never NULL. Thread: any. */
GPH_API const char *gph_cache_reason_text(gph_cache_reason reason);
/** Writes an answer as a sentence with the values, without a line break: "tokens 3208 is
 *  beyond the largest value, 2048". Fails with GPH_E_INVALID and what `write` returns.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cache_match_write(const gph_cache *cache,
                                                     const gph_cache_match *match,
                                                     const int64_t *sizes,
                                                     gph_write_fn *write, void *user,
                                                     gph_error *error);
/** How many keys there are, wanted or not; they are numbered from 0. Thread: any. */
GPH_API uint32_t gph_cache_key_count(const gph_cache *cache);
/** The values of an axis, rising; lent until gph_cache_destroy(). NULL if there is no
 *  such axis. Thread: any. */
GPH_API const int64_t *gph_cache_ladder(const gph_cache *cache, uint32_t axis,
                                        uint32_t *count);
/** The key with exactly these values, or GPH_CACHE_NONE. Thread: any. */
GPH_API uint32_t gph_cache_key(const gph_cache *cache, const int64_t *values);

/** How far gph_cache_start() is. Lent: grows at the end. */
typedef struct gph_cache_progress {
    uint32_t phase;   /**< a gph_phase: GPH_PHASE_WARMUP, then GPH_PHASE_CAPTURE */
    uint32_t done;    /**< keys of this phase that are done */
    uint32_t total;   /**< keys of this phase */
    uint32_t key;     /**< the last one done */
    uint64_t ns;      /**< since the start */
    uint64_t left_ns; /**< estimated from the keys done; 0: unknown */
} gph_cache_progress;
/** Called after each key. A nonzero result ends it with GPH_E_STATE; what is captured
 *  stays. */
typedef int gph_cache_progress_fn(void *user, const gph_cache_progress *now);

/** Captures keys: first runs all of them eagerly, so that workspaces reach their largest
 *  size before any address is recorded, then captures all, the largest first. With
 *  GPH_CACHE_WARM_LARGEST it runs only the largest. If a capture then fails or keeps
 *  memory, a sign that more runs were needed, it throws all captures away and starts again
 *  without that option. GPH_CACHE_WARM_KERNELS is as that, but a key whose graph has a
 *  kernel that no key has run, or other graphs inside, is run as well, and then all are
 *  captured again: every kernel has run, though not with every shape.
 *
 *  stream    not captured, not the legacy stream. It is waited for.
 *  keys      borrowed for the call; NULL with 0: all. `progress` may be NULL.
 *
 *  A key that fails does not stop the others: the first failure is returned at the end,
 *  gph_cache_key_get() has each one. Fails also with GPH_E_INVALID, GPH_E_NO_MEMORY and
 *  GPH_E_STATE (`progress` ended it). Thread: one at a time, while others may replay. */
GPH_API GPH_CHECKED gph_status gph_cache_start(gph_cache *cache, CUstream stream,
                                               const uint32_t *keys, uint32_t key_count,
                                               gph_cache_progress_fn *progress,
                                               void *progress_user, gph_error *error);

/** What gph_cache_work() did. */
typedef enum gph_cache_work_kind {
    GPH_CACHE_WORK_NONE = 0,    /**< there was nothing to do */
    GPH_CACHE_WORK_CAPTURE = 1, /**< captured the most missed key */
    GPH_CACHE_WORK_OWN = 2,     /**< made an executable for a key that became hot */
    GPH_CACHE_WORK_SHARE = 3,   /**< took the executable of a key that became cold */
    GPH_CACHE_WORK_EVICT = 4    /**< evicted the key unused for longest: over budget */
} gph_cache_work_kind;

/** Does at most one thing that is due; meant for the time between two steps. `done`,
 *  `key`: the caller's, may be NULL. Fails as gph_cache_start(). Thread: one at a
 *  time. */
GPH_API GPH_CHECKED gph_status gph_cache_work(gph_cache *cache, CUstream stream,
                                              gph_cache_work_kind *done, uint32_t *key,
                                              gph_error *error);
/** Throws a key's graph away; its work must have ended. The key may be captured again.
 *  Fails with GPH_E_INVALID (no such key) and GPH_E_STATE (not captured). Thread: one at
 *  a time. */
GPH_API gph_status gph_cache_evict(gph_cache *cache, uint32_t key, gph_error *error);

/** An input of a key, to be written before gph_cache_replay(): the same buffer for all
 *  keys. Lent until gph_cache_destroy(). `out`: the caller's. GPH_E_INVALID: no such key
 *  or input. The input after the last one holds the sizes. Thread: any. */
GPH_API gph_status gph_cache_input(const gph_cache *cache, uint32_t key, uint32_t index,
                                   gph_tensor *out, gph_error *error);
/** An output of a captured key, lent until the next replay, call or capture of the cache.
 *  GPH_E_STATE: not captured. Thread: any. */
GPH_API gph_status gph_cache_output(const gph_cache *cache, uint32_t key, uint32_t index,
                                    gph_tensor *out, gph_error *error);

/** Replays a key on the present contents of its inputs: no copy, no padding. For a key
 *  with an executable of its own this takes a few comparisons and the launch, without a
 *  lock; for others it takes a lock, and a word or one whole update (gph_cache_cold) if
 *  the shared executable was last used by another key. 64 replays of one shared
 *  executable may be queued; the next one waits up to 10 s for the oldest to begin.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE and driver failures. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cache_replay(gph_cache *cache, uint32_t key,
                                                CUstream stream, gph_error *error);

/** A call. Start from GPH_CACHE_CALL_INIT. */
typedef struct gph_cache_call_args {
    uint32_t size;            /**< sizeof(gph_cache_call_args) */
    uint32_t reserved;        /**< zero */
    CUstream stream;          /**< where the work goes */
    const int64_t *sizes;     /**< one per axis */
    const gph_tensor *inputs; /**< of the real sizes, dense; data 0: its contents are in
                                   gph_cache_input() already. NULL: all are */
    gph_tensor *outputs;      /**< in: where data is not 0, results are copied there,
                                   dense; out: tensors of the real sizes; where data was
                                   0, views that are lent until the next call */
    gph_cache_match match;    /**< out: what was done, and why; also when it fails */
} gph_cache_call_args;
/** Zero. */
#define GPH_CACHE_CALL_INIT GPH_SIZED(gph_cache_call_args)

/** Calls the function as gph_cache_find() decides: replays it, with inputs copied and
 *  padding written, or calls it eagerly, or captures the key now.
 *
 *  Fails with GPH_E_INVALID (an input of another type or shape: the message names both),
 *  GPH_E_STATE (the ranks chose a key that this one cannot replay), and what the
 *  function, the callbacks and the driver return. Thread: any; calls of one cache run one
 *  after the other. */
GPH_API GPH_CHECKED gph_status gph_cache_call(gph_cache *cache, gph_cache_call_args *args,
                                              gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
