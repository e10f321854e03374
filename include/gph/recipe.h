/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Recorded graphs in a file, and back in a new process without capturing.
 *
 *  A recipe is graphs as data: nodes, edges, parameters, the kernels by the hash of their
 *  module's image and their name, and the ranges of device memory that they work on. It
 *  loads at the addresses it was recorded at, or, if each graph was captured twice with
 *  its ranges at shifted addresses, anywhere: then exactly the words that moved with a
 *  range are pointers. What cannot be kept is refused, with node and reason, and never
 *  guessed. Tier: experimental. */
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

/** Graphs as data. One at a time while it is changed, any thread otherwise. */
typedef struct gph_recipe gph_recipe;

/** Makes an empty one.
 *
 *  allocator  copied; NULL means the C library's heap.
 *  out        owned by the caller on success: gph_recipe_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_recipe_create(const gph_allocator *allocator,
                                                 gph_recipe **out, gph_error *error);

/** NULL is allowed. What was loaded from it lives on. */
GPH_API void gph_recipe_destroy(gph_recipe *recipe);

/** Device memory that graphs work on. */
typedef struct gph_recipe_range {
    uint32_t size;       /**< sizeof(gph_recipe_range) */
    const char *name;    /**< what loading knows it by; no control characters */
    CUdeviceptr address; /**< of its first byte */
    CUdeviceptr shifted; /**< the same in the second captures; `address` if it stays */
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
 *  arena    borrowed for the call: where the first captures have their memory.
 *  shifted  borrowed for the call: where the second ones have it, of the same size; NULL:
 *           there are none.
 *
 *  Fails as gph_recipe_range_add(). */
GPH_API GPH_CHECKED gph_status gph_recipe_arena_add(gph_recipe *recipe, const char *name,
                                                    const gph_arena *arena,
                                                    const gph_arena *shifted,
                                                    uint32_t *index, gph_error *error);

/** A graph to add. Start from GPH_RECIPE_ENTRY_INIT; zero what is not wanted. */
typedef struct gph_recipe_entry {
    uint32_t size;             /**< sizeof(gph_recipe_entry) */
    uint32_t check;            /**< nonzero: replay it now, so that loading can check */
    const char *name;          /**< what loading knows it by; no control characters */
    CUgraph graph;             /**< captured with the ranges at `address` */
    CUgraph shifted;           /**< the same work, captured with the ranges at `shifted`;
                                    NULL: captured once */
    const gph_tensor *inputs;  /**< `input_count` of them, in ranges */
    const gph_tensor *outputs; /**< `output_count` of them, in ranges */
    uint32_t input_count;      /**< of `inputs` */
    uint32_t output_count;     /**< of `outputs` */
    const int64_t *key;        /**< the caller's own numbers, `key_count` of them */
    uint32_t key_count;        /**< of `key`, 64 at most */
    uint32_t reserved;         /**< zero */
    const gph_resolver *resolver; /**< or NULL: modules of libgph only */
    CUstream stream; /**< of the check; NULL: the per-thread default stream */
    /** The pool that it was captured in, of an arena that is a range; or NULL. What its
     *  recording used is kept, and what is allocated in the pool outside of recordings.
     */
    gph_pool *pool;
    gph_recording_id recording; /**< of the pool; 0: none */
    uint32_t reserved2;         /**< zero */
} gph_recipe_entry;
/** All defaults. */
#define GPH_RECIPE_ENTRY_INIT GPH_SIZED(gph_recipe_entry)

/** Adds a graph. One that cannot be kept is added too, as refused: its reasons are told
 *  by gph_recipe_refusal_get(), and by gph_loaded_create() in the new process.
 *
 *  runtime  borrowed for the call.
 *  entry    borrowed for the call, with all it points to; the graphs are not changed.
 *  index    the caller's, may be NULL: its index.
 *
 *  With `check` the graph is replayed twice from what its inputs hold now, which changes
 *  what it writes; inputs (16 MiB at most) and the outputs' hash are kept. A graph whose
 *  replays differ is kept without a check.
 *
 *  Fails with GPH_E_INVALID (a name that is taken or unprintable, a tensor outside every
 *  range), GPH_E_NO_MEMORY and what the driver returns. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_recipe_add(gph_recipe *recipe, gph_runtime *runtime,
                                              const gph_recipe_entry *entry,
                                              uint32_t *index, gph_error *error);

/** Captures one work with its memory at one place. `which` is 0 for the ranges' address,
 *  1 for their shifted one; `out` is taken. */
typedef gph_status gph_recipe_capture_fn(void *user, int which, CUgraph *out,
                                         gph_error *error);

/** Captures a work twice and adds it: gph_recipe_add() with both graphs.
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
    gph_cache *cache;   /**< its pool is of an arena that is a range */
    gph_cache *shifted; /**< the same, in a pool of the shifted arena; or NULL */
    const gph_resolver *resolver; /**< or NULL */
    CUstream stream;              /**< of checks */
} gph_recipe_cache_entry;
/** All defaults. */
#define GPH_RECIPE_CACHE_ENTRY_INIT GPH_SIZED(gph_recipe_cache_entry)

/** Adds each captured key of a cache, named after it. Fails as gph_recipe_add(), and with
 *  GPH_E_STATE (a thread captures, a key is captured in one cache only); the keys before
 *  are added then. */
GPH_API GPH_CHECKED gph_status gph_recipe_add_cache(gph_recipe *recipe,
                                                    const gph_recipe_cache_entry *family,
                                                    gph_error *error);

/** Adds each recording of a tree that was made with GPH_TREE_KEEP_GRAPHS; the current
 * path ends. `check`, `resolver`: as gph_recipe_entry has them.
 *
 *  Fails as gph_recipe_add(), with GPH_E_STATE (an output is held, graphs were not kept)
 *  and GPH_E_UNSUPPORTED (a function keeps memory in the tree's pool); none is added
 * then. */
GPH_API GPH_CHECKED gph_status gph_recipe_add_tree(gph_recipe *recipe, gph_tree *tree,
                                                   uint32_t check,
                                                   const gph_resolver *resolver,
                                                   gph_error *error);

/** @name Files */
/** @{ */

/** Writes a recipe as gph-recipe(5), which replaces what is at `path` when it is whole.
 *  Fails with GPH_E_IO, GPH_E_INVALID and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_recipe_save(gph_recipe *recipe, const char *path,
                                               gph_error *error);

/** Reads a recipe. Needs no driver.
 *
 *  options  borrowed for the call; NULL means all defaults. `bytes_max` holds for the
 *           file and for what is unpacked from it.
 *  out      owned by the caller on success: gph_recipe_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_FORMAT (what is wrong, and at which byte), GPH_E_UNSUPPORTED (a later
 *  version, or packed by a library that this build lacks), GPH_E_IO, GPH_E_INVALID and
 *  GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_recipe_load(const char *path,
                                               const gph_file_options *options,
                                               gph_recipe **out, gph_error *error);

/** What a recipe holds. Text is lent until the recipe is changed or destroyed. */
typedef struct gph_recipe_summary {
    uint32_t size;            /**< sizeof(gph_recipe_summary) */
    uint32_t graph_count;     /**< refused ones too */
    uint32_t refused_count;   /**< of these */
    uint32_t range_count;     /**< of memory */
    uint32_t kernel_count;    /**< different ones */
    uint32_t image_count;     /**< modules that they are of */
    int32_t driver_version;   /**< that recorded it: 12040 is CUDA 12.4; 0: none yet */
    uint32_t library_version; /**< of libgph that recorded it, as gph_version() */
    uint32_t capability;      /**< of the device: 90 is 9.0 */
    const char *device;       /**< its name */
    uint64_t node_count;      /**< of all graphs */
} gph_recipe_summary;

/** Reads it. `out`: the caller's, filled in. */
GPH_API void gph_recipe_summary_get(const gph_recipe *recipe, gph_recipe_summary *out);

/** Reads a range; false if there is none of that index. Its name is lent as above. */
GPH_API int gph_recipe_range_get(const gph_recipe *recipe, uint32_t index,
                                 gph_recipe_range *out);

/** Reads a kernel and how many nodes launch it (`nodes` may be NULL); false if there is
 *  none of that index. Its name is lent as above. */
GPH_API int gph_recipe_kernel_get(const gph_recipe *recipe, uint32_t index,
                                  gph_kernel_id *out, uint64_t *nodes);

/** A graph of a recipe. Text and arrays are lent as above. */
typedef struct gph_recipe_graph {
    uint32_t size;          /**< sizeof(gph_recipe_graph) */
    const char *name;       /**< as it was added */
    uint32_t node_count;    /**< 0 if it was refused */
    uint32_t edge_count;    /**< 0 if it was refused */
    uint32_t pointer_count; /**< words that move with a range */
    uint32_t is_movable;    /**< nonzero: it was captured twice */
    uint32_t has_check;     /**< nonzero: it can be checked when it is loaded */
    uint32_t refusal_count; /**< 0: it can be loaded */
    uint32_t input_count;   /**< tensors */
    uint32_t output_count;  /**< tensors */
    const int64_t *key;     /**< the caller's numbers */
    uint32_t key_count;     /**< of `key` */
} gph_recipe_graph;

/** Reads it; false if there is none of that index. */
GPH_API int gph_recipe_graph_get(const gph_recipe *recipe, uint32_t index,
                                 gph_recipe_graph *out);

/** The index of the graph of that name, or UINT32_MAX. */
GPH_API uint32_t gph_recipe_find(const gph_recipe *recipe, const char *name);

/** A graph as data, to compare or draw it. `out`: owned by the caller on success:
 *  gph_graph_destroy(). Addresses are those of the recording. Fails with GPH_E_INVALID
 *  and GPH_E_NO_MEMORY. */
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

/** Reads a reason; false if there is none of that index. At most 64 are kept a graph. */
GPH_API int gph_recipe_refusal_get(const gph_recipe *recipe, uint32_t graph,
                                   uint32_t index, gph_recipe_refusal *out);
/** @} */

/** @name Loading */
/** @{ */

/** Where a range lies now. Layout frozen: name, address, length. */
typedef struct gph_recipe_place {
    const char *range;   /**< its name */
    CUdeviceptr address; /**< of its first byte */
    uint64_t bytes;      /**< not less than were recorded */
} gph_recipe_place;

/** What loading does besides. */
enum {
    GPH_RECIPE_CHECK = 1, /**< replays each graph that has a check, and compares */
    GPH_RECIPE_SHARE = 2, /**< graphs of one topology share an executable */
    GPH_RECIPE_LAZY = 4   /**< an executable is made at its first launch */
};

/** Start from GPH_LOADED_OPTIONS_INIT. */
typedef struct gph_loaded_options {
    uint32_t size;                  /**< sizeof(gph_loaded_options) */
    uint32_t flags;                 /**< GPH_RECIPE_CHECK, ... */
    const gph_recipe_place *places; /**< `place_count` of them; a range that is not named
                                         lies where it lay */
    uint32_t place_count;           /**< of `places` */
    uint32_t exec_flags;            /**< as gph_exec_options.flags */
    const gph_resolver *resolver;   /**< or NULL: modules of libgph only */
    CUstream stream;                /**< uploads and checks; NULL: the per-thread default
                                         stream */
    /** Retained: what recordings used is laid out in it again, at the addresses of its
     *  arena, and launches are checked by it. NULL: memory is the caller's. */
    gph_pool *pool;
} gph_loaded_options;
/** All defaults. */
#define GPH_LOADED_OPTIONS_INIT GPH_SIZED(gph_loaded_options)

/** Graphs of a recipe, ready to launch. */
typedef struct gph_loaded gph_loaded;

/** Builds the graphs of a recipe in the current context, without capturing. The modules
 *  must be loaded and the ranges be there. A graph that cannot be built is no failure:
 *  gph_loaded_get() says why it has to be captured.
 *
 *  runtime  borrowed until gph_loaded_destroy().
 *  recipe   borrowed for the call.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_loaded_destroy(). Untouched on failure.
 *
 *  A check puts the recorded inputs into the input tensors and leaves the outputs there.
 *
 *  Fails with GPH_E_INVALID (a place of no range, or too small; flags), GPH_E_NO_MEMORY,
 *  and what the driver returns other than for one graph. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_loaded_create(gph_runtime *runtime,
                                                 const gph_recipe *recipe,
                                                 const gph_loaded_options *options,
                                                 gph_loaded **out, gph_error *error);

/** Launches in flight finish. NULL is allowed. Thread: one at a time. */
GPH_API void gph_loaded_destroy(gph_loaded *loaded);

/** A graph that was loaded, or not. Lent until gph_loaded_destroy(). */
typedef struct gph_loaded_graph {
    uint32_t size;              /**< sizeof(gph_loaded_graph) */
    const char *name;           /**< as in the recipe */
    int32_t is_loaded;          /**< nonzero: it may be launched; else: capture it */
    gph_status status;          /**< why not: GPH_E_STATE (its memory lies elsewhere),
                                     GPH_E_UNSUPPORTED (it was refused, a kernel is
                                     missing), or what the driver returned */
    const char *why;            /**< in a sentence; empty if it is loaded */
    const gph_tensor *inputs;   /**< at their addresses now */
    const gph_tensor *outputs;  /**< at their addresses now */
    uint32_t input_count;       /**< of `inputs` */
    uint32_t output_count;      /**< of `outputs` */
    uint32_t is_checked;        /**< nonzero: its check was replayed and was equal */
    gph_recording_id recording; /**< in the pool of the options; 0: none */
} gph_loaded_graph;

/** Reads it; graphs have the recipe's indices. False if there is none of that index. */
GPH_API int gph_loaded_get(const gph_loaded *loaded, uint32_t index,
                           gph_loaded_graph *out);

/** How many graphs and how many executables there are. Either may be NULL. */
GPH_API void gph_loaded_count(const gph_loaded *loaded, uint32_t *graphs,
                              uint32_t *execs);

/** Launches a graph in a stream. One that shares its executable first makes it its own,
 * if another was launched last, under a lock.
 *
 *  Fails with GPH_E_INVALID (no such graph), GPH_E_STATE (it has to be captured: the
 *  reason is told) and what the driver returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_loaded_launch(gph_loaded *loaded, uint32_t index,
                                                 CUstream stream, gph_error *error);
/** A cache to make. */
typedef struct gph_loaded_cache_options {
    uint32_t size;                  /**< sizeof(gph_loaded_cache_options) */
    const gph_cache_options *cache; /**< as it was made with, in a fresh pool */
    const gph_loaded_options *load; /**< or NULL; `pool` is the cache's */
} gph_loaded_cache_options;

/** Makes a cache whose keys are those of a recipe. Keys that could not be loaded are to
 *  be captured: gph_cache_start() does.
 *
 *  cache   owned by the caller on success: gph_cache_destroy(). Untouched on failure.
 *  loaded  owned by the caller on success, destroyed after the cache: its memory, and
 *          why a key was not loaded.
 *
 *  Fails as gph_cache_create() and gph_loaded_create(), and with GPH_E_INVALID (a key's
 *  tensors differ). */
GPH_API GPH_CHECKED gph_status
gph_loaded_create_cache(gph_runtime *runtime, const gph_recipe *recipe,
                        const gph_loaded_cache_options *options, gph_cache **cache,
                        gph_loaded **loaded, gph_error *error);

/** Gives a tree that was never called the recordings of a recipe. It has the same
 *  functions, and an arena and static inputs at the same addresses. A recording that
 *  cannot be loaded, and those below it, are made anew when they are called.
 *
 *  options  as for gph_loaded_create(); `pool` is the tree's.
 *  loaded   owned by the caller on success: it says what was not loaded, and why.
 *
 *  Fails as gph_loaded_create(), with GPH_E_STATE (it has been called, its arena lies
 *  elsewhere) and GPH_E_FORMAT (the recipe's tree has other functions). After a failure
 *  the tree may have some of the recordings. */
GPH_API GPH_CHECKED gph_status gph_loaded_create_tree(const gph_recipe *recipe,
                                                      gph_tree *tree,
                                                      const gph_loaded_options *options,
                                                      gph_loaded **loaded,
                                                      gph_error *error);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
