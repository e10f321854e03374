/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Saves recorded graphs to a file and loads them in a new process without capturing.
 *
 *  A recipe is graphs as data: nodes, edges, parameters, the kernels (by the hash of
 *  their module's image and their name), and the ranges of device memory that they work
 *  on. It loads at the addresses it was recorded at, or, if each graph was captured twice
 *  with its ranges at shifted addresses, anywhere: exactly the words that moved with a
 *  range are pointers. A graph that cannot be saved is refused, with node and reason;
 *  nothing is guessed. Tier: experimental. */
#ifndef GPH_RECIPE_H
#define GPH_RECIPE_H

#include <gph/base.h>
#include <gph/cache.h>
#include <gph/callable.h>
#include <gph/cuda.h>
#include <gph/file.h>
#include <gph/graph.h>
#include <gph/memory.h>
#include <gph/module.h>
#include <gph/replay.h>
#include <gph/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Recording */
/** @{ */

/** Graphs as data. One thread at a time while it is changed, any thread otherwise. */
typedef struct gph_recipe gph_recipe;

/** Makes an empty one.
 *
 *  allocator  copied; NULL means the C library's heap.
 *  out        owned by the caller on success: gph_recipe_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_recipe_create(const gph_allocator *allocator,
                                                 gph_recipe **out, gph_error *error);

/** Destroys it. NULL is allowed. Graphs loaded from it stay valid. Thread: one at a
 *  time. */
GPH_API void gph_recipe_destroy(gph_recipe *recipe);

/** Device memory that graphs work on. */
typedef struct gph_recipe_range {
    uint32_t size;       /**< sizeof(gph_recipe_range) */
    const char *name;    /**< its name, which loading uses; no control characters */
    CUdeviceptr address; /**< of its first byte */
    CUdeviceptr shifted; /**< its address in the second captures; equal to `address` if it
                              does not move */
    uint64_t bytes;      /**< > 0 */
} gph_recipe_range;

/** Adds a range. Ranges are added before the graphs that use them.
 *
 *  range  copied.
 *  index  the caller's, may be NULL: its index.
 *
 *  Fails with GPH_E_INVALID (a name that is taken or unprintable, a range that overlaps
 *  another one) and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_recipe_range_add(gph_recipe *recipe,
                                                    const gph_recipe_range *range,
                                                    uint32_t *index, gph_error *error);

/** Adds a range that is an arena's addresses.
 *
 *  name     copied: as gph_recipe_range.name.
 *  arena    borrowed for the call: where the first captures allocate their memory.
 *  shifted  borrowed for the call: where the second captures allocate it, of the same
 *           size; NULL: there are none.
 *
 *  Fails as gph_recipe_range_add(). */
GPH_API GPH_CHECKED gph_status gph_recipe_arena_add(gph_recipe *recipe, const char *name,
                                                    const gph_arena *arena,
                                                    const gph_arena *shifted,
                                                    uint32_t *index, gph_error *error);

/** A graph to add. Start from GPH_RECIPE_ENTRY_INIT; zero what is not wanted. */
typedef struct gph_recipe_entry {
    uint32_t size;             /**< sizeof(gph_recipe_entry) */
    uint32_t check;            /**< nonzero: replay it now, so that loading can check the
                                    result */
    const char *name;          /**< its name, which loading uses; no control characters */
    CUgraph graph;             /**< captured with the ranges at `address` */
    CUgraph shifted;           /**< the same work, captured with the ranges at `shifted`;
                                    NULL: captured once */
    const gph_tensor *inputs;  /**< `input_count` of them, inside ranges */
    const gph_tensor *outputs; /**< `output_count` of them, inside ranges */
    uint32_t input_count;      /**< of `inputs` */
    uint32_t output_count;     /**< of `outputs` */
    const int64_t *key;        /**< the caller's own numbers, `key_count` of them */
    uint32_t key_count;        /**< of `key`, 64 at most */
    /** Nonzero: kernels take structures with bytes that nobody sets (padding, arrays beyond
     *  their count), which differ between the captures. What lies in a range moves with it,
     *  however it changed; any other word is kept as in `graph`, unless it is one of memory
     *  there or changed as what is computed from addresses. Zero: refused, which also finds
     *  numbers that differ by mistake.
     */
    uint32_t unset;
    const gph_resolver *resolver; /**< NULL: only modules loaded by libgph */
    CUstream stream; /**< for the check; NULL: the per-thread default stream */
    /** The pool that it was captured in, of an arena that was added as a range; or NULL.
     *  The recipe keeps what its recording used, and what is allocated in the pool
     *  outside recordings.
     */
    gph_pool *pool;
    gph_recording_id recording; /**< of the pool; 0: none */
    uint32_t reserved2;         /**< zero */
} gph_recipe_entry;
/** All defaults. */
#define GPH_RECIPE_ENTRY_INIT GPH_SIZED(gph_recipe_entry)

/** Adds a graph. A graph that cannot be saved is added too, as refused:
 *  gph_recipe_refusal_get() reports the reasons, and so does gph_loaded_create() in the
 *  new process.
 *
 *  runtime  borrowed for the call.
 *  entry    borrowed for the call, with all it points to; the graphs are not changed.
 *  index    the caller's, may be NULL: its index.
 *
 *  With `check`, the graph is replayed twice from the present contents of its inputs,
 *  which changes the memory that it writes; the inputs (16 MiB at most) and a hash of the
 *  outputs are saved. A graph whose two replays differ is added without a check.
 *
 *  Fails with GPH_E_INVALID (a name that is taken or unprintable, a tensor outside every
 *  range), GPH_E_NO_MEMORY and what the driver returns. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_recipe_add(gph_recipe *recipe, gph_runtime *runtime,
                                              const gph_recipe_entry *entry,
                                              uint32_t *index, gph_error *error);

/** Captures the work with its memory in one place. `which` is 0 for the ranges'
 *  `address`, 1 for their `shifted`; `out` is taken. */
typedef gph_status gph_recipe_capture_fn(void *user, int which, CUgraph *out,
                                         gph_error *error);

/** Captures the same work twice and adds it: gph_recipe_add() with both graphs.
 *
 *  entry    as there; its graphs are ignored.
 *  capture  called twice, on this thread. What it returns other than GPH_OK is passed on.
 */
GPH_API GPH_CHECKED gph_status gph_recipe_record_twice(gph_recipe *recipe,
                                                       gph_runtime *runtime,
                                                       const gph_recipe_entry *entry,
                                                       gph_recipe_capture_fn *capture,
                                                       void *user, gph_error *error);
/** @} */

/** A cache to add. Start from GPH_RECIPE_CACHE_ENTRY_INIT. */
typedef struct gph_recipe_cache_entry {
    uint32_t size;      /**< sizeof(gph_recipe_cache_entry) */
    uint32_t check;     /**< as gph_recipe_entry.check, for each key */
    gph_cache *cache;   /**< its pool is of an arena that was added as a range */
    gph_cache *shifted; /**< the same, in a pool of the shifted arena; or NULL */
    const gph_resolver *resolver; /**< or NULL */
    CUstream stream;              /**< of checks */
} gph_recipe_cache_entry;
/** All defaults. */
#define GPH_RECIPE_CACHE_ENTRY_INIT GPH_SIZED(gph_recipe_cache_entry)

/** Adds each captured key of a cache under a name made from its values. Fails as
 *  gph_recipe_add(), and with GPH_E_STATE (a thread captures; a key is captured in one of
 *  the two caches only); earlier keys stay added. */
GPH_API GPH_CHECKED gph_status gph_recipe_add_cache(gph_recipe *recipe,
                                                    const gph_recipe_cache_entry *family,
                                                    gph_error *error);

/** Adds each recording of a tree that was made with GPH_TREE_KEEP_GRAPHS; the current
 *  path ends. `check`, `resolver`: as in gph_recipe_entry.
 *
 *  Fails as gph_recipe_add(), and with GPH_E_STATE (an output is not released, graphs
 *  were not kept) and GPH_E_UNSUPPORTED (a function keeps memory in the tree's pool);
 *  then none is added. */
GPH_API GPH_CHECKED gph_status gph_recipe_add_tree(gph_recipe *recipe, gph_tree *tree,
                                                   uint32_t check,
                                                   const gph_resolver *resolver,
                                                   gph_error *error);

/** @name Files */
/** @{ */

/** Writes a recipe in the format gph-recipe(5); it replaces the file at `path` when it is
 *  complete. Fails with GPH_E_IO, GPH_E_INVALID and GPH_E_NO_MEMORY. Thread: one at a
 *  time. */
GPH_API GPH_CHECKED gph_status gph_recipe_save(gph_recipe *recipe, const char *path,
                                               gph_error *error);

/** Reads a recipe. Needs no driver.
 *
 *  options  borrowed for the call; NULL means all defaults. `bytes_max` limits the file
 *           and what is unpacked from it.
 *  out      owned by the caller on success: gph_recipe_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_FORMAT (what is wrong, and at which byte), GPH_E_UNSUPPORTED (a later
 *  version, or compressed with a library that this build lacks), GPH_E_IO, GPH_E_INVALID
 *  and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_recipe_load(const char *path,
                                               const gph_file_options *options,
                                               gph_recipe **out, gph_error *error);

/** What a recipe holds. Text is lent until the recipe is changed or destroyed. */
typedef struct gph_recipe_summary {
    uint32_t size;            /**< sizeof(gph_recipe_summary) */
    uint32_t graph_count;     /**< refused ones included */
    uint32_t refused_count;   /**< of these */
    uint32_t range_count;     /**< of memory */
    uint32_t kernel_count;    /**< different ones */
    uint32_t image_count;     /**< modules that the kernels are from */
    int32_t driver_version;   /**< CUDA version of the driver that recorded it: 12040 is
                                   CUDA 12.4; 0: none yet */
    uint32_t library_version; /**< version of libgph that recorded it, as gph_version() */
    uint32_t capability;      /**< compute capability of the device: 90 is 9.0 */
    const char *device;       /**< its name */
    uint64_t node_count;      /**< of all graphs */
} gph_recipe_summary;

/** Reads it. `out`: the caller's, filled in. */
GPH_API void gph_recipe_summary_get(const gph_recipe *recipe, gph_recipe_summary *out);

/** Reads a range; returns 0 if the index is too large. Its name is lent as above. */
GPH_API int gph_recipe_range_get(const gph_recipe *recipe, uint32_t index,
                                 gph_recipe_range *out);

/** Reads a kernel and how many nodes launch it (`nodes` may be NULL); returns 0 if the
 *  index is too large. Its name is lent as above. */
GPH_API int gph_recipe_kernel_get(const gph_recipe *recipe, uint32_t index,
                                  gph_kernel_id *out, uint64_t *nodes);

/** A graph of a recipe. Text and arrays are lent as above. */
typedef struct gph_recipe_graph {
    uint32_t size;          /**< sizeof(gph_recipe_graph) */
    const char *name;       /**< as it was added */
    uint32_t node_count;    /**< 0 if it was refused */
    uint32_t edge_count;    /**< 0 if it was refused */
    uint32_t pointer_count; /**< pointers: words that move with a range */
    uint32_t is_movable;    /**< nonzero: it was captured twice */
    uint32_t has_check;     /**< nonzero: it can be checked when it is loaded */
    uint32_t refusal_count; /**< 0: it can be loaded */
    uint32_t input_count;   /**< tensors */
    uint32_t output_count;  /**< tensors */
    const int64_t *key;     /**< the caller's numbers */
    uint32_t key_count;     /**< of `key` */
} gph_recipe_graph;

/** Reads it; returns 0 if the index is too large. */
GPH_API int gph_recipe_graph_get(const gph_recipe *recipe, uint32_t index,
                                 gph_recipe_graph *out);

/** The index of the graph of that name, or UINT32_MAX. */
GPH_API uint32_t gph_recipe_find(const gph_recipe *recipe, const char *name);

/** A graph of a recipe as data, to compare or draw it. `out`: owned by the caller on
 *  success: gph_graph_destroy(). Addresses are those of the recording. Fails with
 *  GPH_E_INVALID and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_recipe_describe(const gph_recipe *recipe,
                                                   uint32_t index, gph_graph **out,
                                                   gph_error *error);

/** Why a graph is refused. */
typedef struct gph_recipe_refusal {
    uint32_t size;      /**< sizeof(gph_recipe_refusal) */
    int64_t node;       /**< its index in cuGraphGetNodes, or -1: the whole graph */
    gph_node_kind kind; /**< of the node */
    int64_t offset;     /**< of the word in the kernel's arguments, or -1 */
    const char *why;    /**< in a sentence; lent as above */
} gph_recipe_refusal;

/** Reads a reason; returns 0 if the index is too large. At most 64 are kept per graph. */
GPH_API int gph_recipe_refusal_get(const gph_recipe *recipe, uint32_t graph,
                                   uint32_t index, gph_recipe_refusal *out);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
