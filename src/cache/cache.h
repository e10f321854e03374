// SPDX-License-Identifier: Apache-2.0
/* A cache: buckets, classes of executables, one set of buffers.
 *
 *   bucket 0   own exec ------------------> launch                     hot, no lock
 *   bucket 1   -.
 *   bucket 2   --+-> class 0: patch -------> a store, launch           (patch.h)
 *   bucket 3   -'
 *   bucket 4   ----> class 1: exec, holder -> update if held by another, launch
 *
 * Two locks, taken in this order: `call` for calls and for the capture of one key, which
 * share buffers and may share a stream, `mutex` for classes and entries, never held over
 * a capture or a call of the user's. `busy` says that a thread captures; a second one is
 * refused.
 *
 * An own executable is taken away while others may launch it: it leaves its bucket first,
 * and is destroyed by the next work() that finds no reader in the bucket. */
#ifndef GPHI_CACHE_CACHE_H
#define GPHI_CACHE_CACHE_H
#include "base/map.h"
#include "base/thread.h"
#include "base/vec.h"
#include "cache/layout.h"
#include "cache/patch.h"
#include "callable/record.h"
#include <stdalign.h>

#define GPHI_CLASS_NONE ((uint32_t)-1)

/* What a captured key has. */
typedef struct gphi_entry {
    gphi_record *record;
    gph_tensor *outputs; /* output_count of the layout */
    uint32_t class_index;
    uint32_t node_count, edge_count;
    bool keeps;        /* memory that it allocated, and that is not an output */
    CUdeviceptr block; /* of the class' patch, or 0 */
    uint64_t own_exec_bytes;
    uint64_t own_bytes, shared_bytes; /* as gphi_cache_count() found last */
} gphi_entry;

/* One key. What a hot replay touches is one cache line. */
typedef struct gphi_bucket {
    alignas(64) _Atomic(gph_exec *) own;
    _Atomic uint32_t readers; /* threads between load and launch */
    _Atomic uint32_t used;    /* the cache's tick of the last replay */
    _Atomic uint64_t exact;
    gphi_entry *entry; /* NULL: not captured; of the mutex */
    _Atomic uint64_t padded, misses, waste;
    uint64_t seen;  /* replays at the last decision about sharing */
    uint64_t asked; /* misses since the last capture or failure */
    uint32_t captures, evictions;
    double warmup_ms, capture_ms;
    gph_status status;
    char *message; /* NULL unless the last capture failed */
} gphi_bucket;

/* Graphs of one topology: each was accepted by a whole update of one executable. */
typedef struct gphi_class {
    gph_exec *exec;    /* NULL: no key needs it now, or there is a patch */
    gphi_patch *patch; /* or NULL: each key has its block, and exec is NULL */
    bool is_plain;     /* its graphs differ in more than a patch changes */
    uint32_t holder;   /* the key whose graph it holds */
    uint32_t users;    /* captured keys of the class */
    uint32_t node_count, edge_count;
    uint64_t bytes;
} gphi_class;

/* An executable that left its bucket. */
typedef struct gphi_retired {
    gph_exec *exec;
    uint32_t key;
} gphi_retired;

/* What a node of an executable takes where the driver's memory is not to be measured: about
 * 10 KiB a kernel on an H100. */
enum { GPHI_CACHE_NODE_BYTES = 10240 };

struct gph_cache {
    gph_runtime *runtime;
    gphi_layout layout;
    gph_cache_options options; /* pointers to the caller's arrays are NULL */
    char *name;
    gph_pool *pool;

    CUdeviceptr *buffers;   /* of the inputs, and of the sizes, last */
    uint64_t *buffer_bytes; /* each large enough for every key */
    uint64_t input_bytes;   /* all of them */
    gphi_bucket *buckets;
    void *bucket_block; /* in which they lie, aligned */

    bool warms_largest; /* GPH_CACHE_WARM_LARGEST, or: */
    bool warms_kernels; /* GPH_CACHE_WARM_KERNELS */
    atomic_bool busy;   /* a thread captures */
    gphi_mutex call;
    gphi_mutex mutex;
    gphi_vec classes; /* gphi_class; an index stays what it is */
    gphi_vec retired; /* gphi_retired */
    gphi_vec parked;  /* gphi_record *: of keys that went, but keep memory */

    /* of calls */
    gphi_vec lent; /* CUdeviceptr: outputs of the last eager call */
    CUstream lent_stream;
    gph_tensor *tensors;    /* input_count + 1, then output_count */
    CUdeviceptr *to, *from; /* one batched copy, input_count each */
    size_t *bytes;
    gphi_copier *copier;               /* or NULL */
    int64_t sizes[GPH_CACHE_AXES_MAX]; /* that lie in the buffer, if known */
    bool sizes_known;
    atomic_bool sizes_shown; /* somebody else may write there */

    _Atomic uint32_t tick;
    _Atomic uint64_t eager, missed, updates, captures, evictions, real_units,
        padded_units;
    _Atomic uint64_t reasons[GPH_CACHE_REASON_COUNT];
    uint64_t covered; /* as gphi_cache_count() found, if `is_counted` */
    bool is_counted;  /* no entry came or went since */
    double update_ns; /* of a whole update, as measured last */
};

/* Bytes of each input buffer, and of the sizes, last. In cache.c. */
gph_status gphi_cache_buffer_sizes(const gphi_layout *layout, uint64_t *out,
                                   gph_error *error);

/* Puts the input buffers, and that of the sizes, where graphs of another process want
 * them. No key may be captured. After a failure buffers may be missing: destroy it. */
gph_status gphi_cache_place(gph_cache *cache, const CUdeviceptr *addresses,
                            gph_error *error);

/* ---- run.c: calls of the function ---- */

/* What the function is given beyond the cache, and what it gave. */
typedef struct gphi_run {
    gph_cache *cache;
    gph_tensor *outputs;   /* output_count of the layout */
    gphi_vec *allocations; /* outputs that the pool holds; NULL: freed at the end */
} gphi_run;

/* A gph_function_fn around the user's; `user` is a gphi_run. */
gph_status gphi_cache_function(void *user, gph_call *call, gph_error *error);

/* Tensors of a key: inputs and, after them, the sizes. Room for input_count + 1. */
gph_status gphi_cache_inputs(const gph_cache *cache, const int64_t *values,
                             gph_tensor *out, gph_error *error);
/* Writes the real sizes where the function finds them. */
gph_status gphi_cache_sizes_write(gph_cache *cache, const int64_t *sizes, CUstream stream,
                                  gph_error *error);
/* The rules, then the callback. `sizes` 0 on all padded axes: everything is padding. */
gph_status gphi_cache_fill(gph_cache *cache, uint32_t key, const int64_t *sizes,
                           CUstream stream, gph_error *error);
/* Frees what the last eager call lent. */
void gphi_cache_unlend(gph_cache *cache);

/* ---- start.c: recording ---- */

/* GPH_E_STATE if a thread is at it already; end with gphi_cache_idle(). */
gph_status gphi_cache_busy(gph_cache *cache, gph_error *error);
void gphi_cache_idle(gph_cache *cache);
gph_status gphi_cache_warm(gph_cache *cache, uint32_t key, CUstream stream,
                           gph_error *error) GPHI_REQUIRES(&cache->call);
gph_status gphi_cache_capture(gph_cache *cache, uint32_t key, CUstream stream,
                              gph_error *error) GPHI_REQUIRES(&cache->call);
/* Makes a key replayable by a graph that was recorded elsewhere, with `id` in the cache's
 * pool. Both are taken on success; `outputs` are copied. Not of a key that is captured.
 */
gph_status gphi_cache_adopt(gph_cache *cache, uint32_t key, CUgraph graph,
                            gph_recording_id id, const gph_tensor *outputs,
                            CUstream stream, gph_error *error)
    GPHI_REQUIRES(&cache->call);
/* Both, with the failure noted in the bucket. */
gph_status gphi_cache_capture_lazy(gph_cache *cache, uint32_t key, CUstream stream,
                                   gph_error *error) GPHI_REQUIRES(&cache->call);
/* Throws an entry away; `why` is the key's state from then on. */
void gphi_cache_drop(gph_cache *cache, uint32_t key, gph_cache_reason why);

/* The same, for look-ups at once, and counted. */
void gphi_cache_evict(gph_cache *cache, uint32_t key);

/* ---- seen.c: kernels ---- */

/* Adds the kernels of a graph to those that were seen. `is_new`: one of them was not among
 * them, or the graph has nodes that hide graphs of their own. */
gph_status gphi_cache_see(const gph_cache *cache, CUgraph graph, gphi_map *seen,
                          bool *is_new, gph_error *error);

/* ---- execs.c: executables ---- */

/* Makes a new entry replayable: by its class, or by an executable of its own. */
gph_status gphi_cache_attach(gph_cache *cache, uint32_t key, gphi_entry *entry,
                             CUstream stream, gph_error *error)
    GPHI_REQUIRES(&cache->mutex);
/* The class' executable, holding the graph of `key`, or, with a patch, about to. */
gph_status gphi_cache_hold(gph_cache *cache, uint32_t key, CUstream stream,
                           gph_exec **out, gph_error *error) GPHI_REQUIRES(&cache->mutex);
/* Launches it by its class. */
gph_status gphi_cache_launch(gph_cache *cache, uint32_t key, CUstream stream,
                             gph_error *error) GPHI_REQUIRES(&cache->mutex);
void gphi_cache_detach(gph_cache *cache, uint32_t key, gphi_entry *entry)
    GPHI_REQUIRES(&cache->mutex);
/* Gives a key its own executable, or takes it. */
gph_status gphi_cache_own(gph_cache *cache, uint32_t key, CUstream stream,
                          gph_error *error) GPHI_REQUIRES(&cache->mutex);
gph_status gphi_cache_unown(gph_cache *cache, uint32_t key, gph_error *error)
    GPHI_REQUIRES(&cache->mutex);
/* Destroys what left its bucket and has no reader; `all`: nobody is there any more. */
void gphi_cache_reap(gph_cache *cache, bool all) GPHI_REQUIRES(&cache->mutex);
/* The one change of owners that is due; `kind` NONE if there is none. */
gph_status gphi_cache_decide(gph_cache *cache, gph_cache_work_kind *kind, uint32_t *key,
                             gph_error *error) GPHI_REQUIRES(&cache->mutex);
uint64_t gphi_cache_exec_bytes(const gph_cache *cache) GPHI_REQUIRES(&cache->mutex);

/* ---- count.c: bytes ---- */

/* Bytes that input buffers and graphs cover together; own and shared ones of each entry.
 */
gph_status gphi_cache_count(gph_cache *cache, uint64_t *out, gph_error *error)
    GPHI_REQUIRES(&cache->mutex);
/* Whether the budget is exceeded, and which key is to go. */
gph_status gphi_cache_over(gph_cache *cache, uint32_t spared, uint32_t *key,
                           gph_error *error) GPHI_REQUIRES(&cache->mutex);

static inline uint64_t gphi_bucket_replays(const gphi_bucket *bucket)
{
    return atomic_load_explicit(&bucket->exact, memory_order_relaxed) +
           atomic_load_explicit(&bucket->padded, memory_order_relaxed);
}

static inline gphi_class *gphi_class_at(const gph_cache *cache, uint32_t index)
{
    return gphi_vec_at(&cache->classes, index);
}
#endif
