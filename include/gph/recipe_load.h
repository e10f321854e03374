/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Graphs of a recipe in a process that did not capture them: launched one by one, as the
 *  keys of a cache, or as the recordings of a tree. Tier: experimental. */
#ifndef GPH_RECIPE_LOAD_H
#define GPH_RECIPE_LOAD_H

#include <gph/recipe.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where a range is now. Layout frozen: name, address, length. */
typedef struct gph_recipe_place {
    const char *range;   /**< its name */
    CUdeviceptr address; /**< of its first byte */
    uint64_t bytes;      /**< no fewer than were recorded */
} gph_recipe_place;

/** What else loading does. */
enum {
    GPH_RECIPE_CHECK = 1, /**< replays each graph that has a check, and compares */
    GPH_RECIPE_SHARE = 2, /**< graphs of one topology share an executable */
    GPH_RECIPE_LAZY = 4,  /**< an executable is made at its first launch */
    GPH_RECIPE_KEEP = 8 /**< graphs are kept with their executables: gph_loaded_take() */
};

/** Start from GPH_LOADED_OPTIONS_INIT. */
typedef struct gph_loaded_options {
    uint32_t size;                  /**< sizeof(gph_loaded_options) */
    uint32_t flags;                 /**< GPH_RECIPE_CHECK, ... */
    const gph_recipe_place *places; /**< `place_count` of them; a range that is not listed
                                         is at its recorded address */
    uint32_t place_count;           /**< of `places` */
    uint32_t exec_flags;            /**< as gph_exec_options.flags */
    const gph_resolver *resolver;   /**< NULL: only modules loaded by libgph */
    CUstream stream;                /**< for uploads and checks; NULL: the per-thread
                                         default stream */
    /** Retained: the memory that recordings used is restored in it, at the addresses of
     *  its arena, and it checks launches. NULL: the caller provides the memory. */
    gph_pool *pool;
} gph_loaded_options;
/** All defaults. */
#define GPH_LOADED_OPTIONS_INIT GPH_SIZED(gph_loaded_options)

/** Graphs of a recipe, ready to launch. Any thread, where a function does not say
 *  otherwise. */
typedef struct gph_loaded gph_loaded;

/** Builds the graphs of a recipe in the current context, without capturing. The modules
 *  must be loaded and the ranges mapped. A graph that cannot be built is not a failure:
 *  gph_loaded_get() says why it has to be captured.
 *
 *  runtime  borrowed until gph_loaded_destroy().
 *  recipe   borrowed for the call.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_loaded_destroy(). Untouched on failure.
 *
 *  A check writes the recorded inputs to the input tensors and leaves its outputs in the
 *  output tensors.
 *
 *  Fails with GPH_E_INVALID (a place that names no range or is too small; flags),
 *  GPH_E_NO_MEMORY, and what the driver returns other than for one graph. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_loaded_create(gph_runtime *runtime,
                                                 const gph_recipe *recipe,
                                                 const gph_loaded_options *options,
                                                 gph_loaded **out, gph_error *error);

/** Destroys it; launches in flight still finish. NULL is allowed. Thread: one at a time. */
GPH_API void gph_loaded_destroy(gph_loaded *loaded);

/** A graph of a recipe, and whether it was loaded. Lent until gph_loaded_destroy(). */
typedef struct gph_loaded_graph {
    uint32_t size;              /**< sizeof(gph_loaded_graph) */
    const char *name;           /**< as in the recipe */
    int32_t is_loaded;          /**< nonzero: it may be launched; 0: it has to be
                                     captured */
    gph_status status;          /**< why not: GPH_E_STATE (its memory is at other
                                     addresses), GPH_E_UNSUPPORTED (it was refused, a
                                     kernel is missing), or what the driver returned */
    const char *why;            /**< in a sentence; empty if it is loaded */
    const gph_tensor *inputs;   /**< at their addresses now */
    const gph_tensor *outputs;  /**< at their addresses now */
    uint32_t input_count;       /**< of `inputs` */
    uint32_t output_count;      /**< of `outputs` */
    uint32_t is_checked;        /**< nonzero: its check was replayed and gave the recorded
                                     outputs */
    gph_recording_id recording; /**< in the pool of the options; 0: none */
} gph_loaded_graph;

/** Reads it; graphs have the recipe's indices. Returns 0 if the index is too large. */
GPH_API int gph_loaded_get(const gph_loaded *loaded, uint32_t index,
                           gph_loaded_graph *out);

/** Gives a graph away that GPH_RECIPE_KEEP kept, so that the caller can make another
 *  executable of it, as with slots of its own; the one here stays. Its kernels' modules must
 *  stay loaded.
 *
 *  out  owned by the caller on success: cuGraphDestroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (no such graph), GPH_E_STATE (it was not loaded, or not kept, or
 *  was taken) and GPH_E_UNSUPPORTED (it has conditional nodes, whose description is here).
 *  Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_loaded_take(gph_loaded *loaded, uint32_t index,
                                               CUgraph *out, gph_error *error);

/** How many graphs and how many executables there are. Either may be NULL. */
GPH_API void gph_loaded_count(const gph_loaded *loaded, uint32_t *graphs,
                              uint32_t *execs);

/** Launches a graph in a stream. If it shares its executable and another graph was
 *  launched last, the executable is first updated, under a lock.
 *
 *  Fails with GPH_E_INVALID (no such graph), GPH_E_STATE (it has to be captured: the
 *  message has the reason) and what the driver returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_loaded_launch(gph_loaded *loaded, uint32_t index,
                                                 CUstream stream, gph_error *error);
/** A cache to make. */
typedef struct gph_loaded_cache_options {
    uint32_t size;                  /**< sizeof(gph_loaded_cache_options) */
    const gph_cache_options *cache; /**< the options that the saved cache was made with,
                                         and a fresh pool */
    const gph_loaded_options *load; /**< or NULL; its `pool` must be the cache's */
} gph_loaded_cache_options;

/** Makes a cache whose keys are those of a recipe. Keys that could not be loaded have to
 *  be captured: gph_cache_start() does that.
 *
 *  cache   owned by the caller on success: gph_cache_destroy(). Untouched on failure.
 *  loaded  owned by the caller on success, to be destroyed after the cache: it has the
 *          cache's memory, and says why a key was not loaded.
 *
 *  Fails as gph_cache_create() and gph_loaded_create(), and with GPH_E_INVALID (a key's
 *  tensors differ). */
GPH_API GPH_CHECKED gph_status
gph_loaded_create_cache(gph_runtime *runtime, const gph_recipe *recipe,
                        const gph_loaded_cache_options *options, gph_cache **cache,
                        gph_loaded **loaded, gph_error *error);

/** Gives the recordings of a recipe to a tree that was never called. The tree must have
 *  the same functions, and an arena and static inputs at the same addresses. A recording
 *  that cannot be loaded, and those after it on its paths, are recorded again when they
 *  are called.
 *
 *  options  as for gph_loaded_create(); `pool` is the tree's.
 *  loaded   owned by the caller on success: says what was not loaded, and why.
 *
 *  Fails as gph_loaded_create(), with GPH_E_STATE (it has been called, its arena is at
 *  other addresses) and GPH_E_FORMAT (the recipe's tree has other functions). After a
 *  failure the tree may have some of the recordings. */
GPH_API GPH_CHECKED gph_status gph_loaded_create_tree(const gph_recipe *recipe,
                                                      gph_tree *tree,
                                                      const gph_loaded_options *options,
                                                      gph_loaded **loaded,
                                                      gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
