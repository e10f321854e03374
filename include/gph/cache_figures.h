/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  What a cache did and holds, key by key, and a prediction of what a cache that does not
 *  exist yet will take. Tier: experimental. */
#ifndef GPH_CACHE_FIGURES_H
#define GPH_CACHE_FIGURES_H

#include <gph/cache.h>
#include <gph/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What replays a key. */
typedef enum gph_cache_exec {
    GPH_CACHE_EXEC_NONE = 0,  /**< nothing: it is not captured */
    GPH_CACHE_EXEC_OWN = 1,   /**< an executable of its own */
    GPH_CACHE_EXEC_SHARED = 2 /**< one shared by its class: graphs of one topology */
} gph_cache_exec;

/** A key and what became of it. */
typedef struct gph_cache_key_info {
    uint32_t size;                      /**< sizeof(gph_cache_key_info) */
    int64_t values[GPH_CACHE_AXES_MAX]; /**< one per axis */
    gph_cache_exec exec;                /**< what replays it */
    gph_cache_reason reason;            /**< why it is not captured */
    uint32_t shared_with;  /**< keys of its class that share an executable, itself
                               included */
    uint32_t node_count;   /**< of its graph */
    double warmup_ms;      /**< of the eager runs before the last capture */
    double capture_ms;     /**< of the last capture and of making it replayable */
    uint64_t own_bytes;    /**< of tensors that no other graph of the pool uses */
    uint64_t shared_bytes; /**< of tensors that others use too, input buffers included */
    uint64_t exec_bytes;   /**< of its own executable */
    uint64_t exact;        /**< replays without padding */
    uint64_t padded;       /**< replays with padding */
    uint64_t misses;       /**< calls that it would have served */
    uint64_t waste;        /**< padding of all calls, in units of the axes multiplied */
    uint32_t captures;     /**< how often it was captured */
    uint32_t evictions;    /**< how often it was evicted */
    gph_status status;     /**< of its last capture */
    char message[192];     /**< if that failed */
} gph_cache_key_info;
/** Reads them. `out`: the caller's. GPH_E_INVALID: no such key. Thread: any. */
GPH_API gph_status gph_cache_key_get(const gph_cache *cache, uint32_t key,
                                     gph_cache_key_info *out, gph_error *error);

/** Figures. */
typedef struct gph_cache_stats {
    uint32_t size;           /**< sizeof(gph_cache_stats) */
    uint32_t captured_count; /**< keys */
    uint64_t verdicts[8];    /**< calls and replays, by gph_cache_verdict */
    uint64_t reasons[GPH_CACHE_REASONS_MAX]; /**< calls that were not replayed */
    uint64_t updates;      /**< how often a shared executable took another key */
    uint64_t captures;     /**< of keys */
    uint64_t evictions;    /**< of keys */
    uint64_t real_units;   /**< of replayed calls: the sizes of all axes multiplied */
    uint64_t padded_units; /**< of the same calls: the values of the keys, multiplied */
    uint32_t own_count;    /**< executables of one key */
    uint32_t shared_count; /**< executables of a class */
    uint64_t exec_bytes;   /**< executables */
    uint64_t input_bytes;  /**< input buffers */
    uint64_t tensor_bytes; /**< input buffers and graphs, which share memory */
    uint32_t
        patched_count; /**< of `shared_count`: those that a kernel of libgph's changes,
                                 see GPH_CACHE_COLD_PATCH */
    uint32_t reserved; /**< zero */
} gph_cache_stats;
/** Reads them. `out`: the caller's. Thread: any. */
GPH_API void gph_cache_stats_get(const gph_cache *cache, gph_cache_stats *out);
/** Writes keys and totals as a table. Fails with GPH_E_INVALID, GPH_E_NO_MEMORY and what
 *  `write` returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cache_write(const gph_cache *cache,
                                               gph_write_fn *write, void *user,
                                               gph_error *error);

/** What one key's recording takes: written by the caller, or read from a cache, for
 *  example on softcuda. In an array, `size` of the first applies to all. */
typedef struct gph_cache_trace {
    uint32_t size;                      /**< sizeof(gph_cache_trace) */
    int64_t values[GPH_CACHE_AXES_MAX]; /**< of the key */
    const gph_plan_buffer *buffers;     /**< temporaries and outputs, with their lifetimes
                                             in events */
    uint32_t buffer_count;              /**< of `buffers` */
    uint32_t node_count;                /**< of the graph */
    uint64_t exec_bytes;                /**< of an executable; 0: 10 KiB a node */
    double seconds;                     /**< warm-up and capture; 0: not known */
} gph_cache_trace;
/** Reads the trace of a captured key. `buffers`: the caller's, room for `capacity`;
 *  `out`: the caller's; its `buffers` points there. GPH_E_INVALID: no such key, or more
 *  buffers than `capacity`; GPH_E_STATE: not captured. Thread: as gph_cache_start(). */
GPH_API gph_status gph_cache_trace_get(const gph_cache *cache, uint32_t key,
                                       gph_plan_buffer *buffers, uint32_t capacity,
                                       gph_cache_trace *out, gph_error *error);

/** What a cache will take. */
typedef struct gph_cache_forecast {
    uint32_t size;              /**< sizeof(gph_cache_forecast) */
    uint32_t key_count;         /**< graphs */
    uint32_t guessed_count;     /**< keys without a trace: fitted to the traces */
    uint64_t input_bytes;       /**< input buffers */
    uint64_t tensor_bytes;      /**< input buffers, and all graphs in one pool */
    uint64_t separate_bytes;    /**< the same, each graph in a pool of its own */
    uint64_t exec_bytes;        /**< an executable for each key */
    uint64_t shared_exec_bytes; /**< one for each number of nodes */
    double seconds; /**< of gph_cache_start(); 0: fewer than two keys are measured */
} gph_cache_forecast;
/** Predicts, without a driver. `options` as for gph_cache_create(), `pool` and `function`
 *  may be NULL; `traces`: borrowed, at least one, preferably with the largest key and two
 *  that have seconds; `out`: the caller's. Fails with GPH_E_INVALID and GPH_E_NO_MEMORY.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_cache_forecast_make(
    const gph_cache_options *options, const gph_cache_trace *traces, uint32_t trace_count,
    const gph_allocator *allocator, gph_cache_forecast *out, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
