/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Functions that are called in an order that the host decides at run time; each call is
 *  recorded once for the path that led to it, all in one pool.
 *
 *  A path is the sequence of calls since the last root. The tree remembers the paths it
 *  has seen: the first time a call is made at a place in a path, it runs eagerly (a
 *  warm-up); the second time it is recorded, later it is replayed. Recordings of one path
 *  share memory as the buffers of the eager program would; recordings of different
 *  branches do, too, since only one branch is taken at a time.
 *
 *  An output is in the pool and is lent until it is released, or until the next path
 *  begins and overwrites it. Using it later fails with the same error, which says which
 *  of the two happened and names the call, whether that call ran eagerly or was replayed.
 *  Tier: experimental. */
#ifndef GPH_TREE_H
#define GPH_TREE_H

#include <gph/base.h>
#include <gph/callable.h>
#include <gph/cuda.h>
#include <gph/memory.h>
#include <gph/reason.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A tree of recordings. One thread at a time: calls of a second thread, and calls from
 *  inside a function of the tree, are refused. Different trees may be used by different
 *  threads. */
typedef struct gph_tree gph_tree;
/** A function of a tree. Thread rule as its tree. */
typedef struct gph_tree_function gph_tree_function;

/** Options of a tree. Start from GPH_TREE_OPTIONS_INIT; zero means the default. */
typedef struct gph_tree_options {
    uint32_t size;  /**< sizeof(gph_tree_options) */
    uint32_t flags; /**< GPH_TREE_ flags */
    /** Borrowed until gph_tree_destroy(): replays, eager calls and captures use it. Not
     *  the legacy stream. NULL: the tree makes its own. */
    CUstream stream;
    /** Borrowed until gph_tree_destroy(): the generator for random numbers of functions;
     *  or NULL. */
    struct gph_rng *rng;
    uint32_t warmups;       /**< eager calls of a function and signature before it is
                             recorded; 0: 1 */
    uint32_t depth_max;     /**< the most recorded calls of a path; 0: 256 */
    uint32_t rerecords_max; /**< the most recordings of a function at one place and for
                                 one reason; then it runs eagerly there; 0: 8 (signatures:
                                 64) */
    uint32_t backoff;       /**< eager calls before recording is tried again, doubled
                                 every time; 0: 64 */
    uint32_t moves_max;     /**< moves after which a static or managed input is copied;
                                 0: 4 */
    uint32_t settle;        /**< calls without a move after which such an input is static
                                 again, doubled every time; 0: 1000 */
} gph_tree_options;
/** All defaults. */
#define GPH_TREE_OPTIONS_INIT GPH_SIZED(gph_tree_options)

/** Flags of a tree. */
enum {
    /** A call that would be recorded again or run eagerly, for any reason except
     *  GPH_TREE_FIRST, GPH_TREE_WARM_PATH, GPH_TREE_SIGNATURE and GPH_TREE_DECLARED,
     *  fails with GPH_E_STATE and does nothing. */
    GPH_TREE_STRICT = 1,
    GPH_TREE_EXPLICIT_STEPS = 2, /**< as after gph_tree_step_begin() */
    GPH_TREE_KEEP_GRAPHS = 4     /**< for gph_recipe_add_tree() */
};

/** Makes a tree with two pools of its own: for what it records, and for eager calls.
 *
 *  runtime  borrowed until gph_tree_destroy().
 *  arena    borrowed until gph_tree_destroy().
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_tree_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (flags, the legacy stream), GPH_E_NO_MEMORY, and what the
 *  driver returns. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_tree_create(gph_runtime *runtime, gph_arena *arena,
                                               const gph_tree_options *options,
                                               gph_tree **out, gph_error *error);

/** Destroys it with its functions, outputs and recordings, after the work in its stream
 *  has ended. NULL is allowed. */
GPH_API void gph_tree_destroy(gph_tree *tree);

/** The stream of a tree and the pool of its recordings; either may be NULL. Lent until
 *  gph_tree_destroy(). */
GPH_API void gph_tree_objects(const gph_tree *tree, CUstream *stream, gph_pool **pool);

/** Properties of an input. */
enum {
    GPH_TREE_INPUT_STATIC = 1, /**< its address does not change: the address itself is
                                    recorded */
    GPH_TREE_INPUT_MUTATED = 2 /**< the function writes it */
};

/** The role of a function in its tree. */
typedef enum gph_tree_kind {
    GPH_TREE_PLAIN = 0,   /**< called anywhere */
    GPH_TREE_FORWARD = 1, /**< a backward call follows; no step ends while one is due and
                               an output of the path is not released */
    GPH_TREE_BACKWARD = 2 /**< the backward of the last forward that is due */
} gph_tree_kind;

/** Options of a function. Start from GPH_TREE_FUNCTION_OPTIONS_INIT. */
typedef struct gph_tree_function_options {
    uint32_t size;         /**< sizeof(gph_tree_function_options) */
    uint32_t kind;         /**< a gph_tree_kind */
    const char *name;      /**< copied; NULL: "f" and its number, from 1 */
    const uint8_t *inputs; /**< copied: GPH_TREE_INPUT_ bits of each; NULL: all zero */
    uint32_t input_count;  /**< inputs of every call */
    uint32_t output_count; /**< outputs of every call */
    uint32_t key_count;    /**< words of the caller's key: for example a mode */
    uint32_t flags;        /**< GPH_TREE_FUNCTION_ flags */
} gph_tree_function_options;
/** A function without inputs and outputs. */
#define GPH_TREE_FUNCTION_OPTIONS_INIT GPH_SIZED(gph_tree_function_options)

/** Flags of a function. */
enum {
    GPH_TREE_FUNCTION_ROOT = 1, /**< a call begins a step under the automatic rule */
    GPH_TREE_FUNCTION_EAGER = 2 /**< never recorded */
};

/** Registers a function.
 *
 *  fn       borrowed until gph_tree_destroy(). Called with GPH_PHASE_EAGER and
 *           GPH_PHASE_CAPTURE. It must free whatever it allocates from `call->pool` and
 *           does not return.
 *  user     borrowed as long; passed to `fn`.
 *  options  borrowed for the call.
 *  out      lent until gph_tree_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE (the tree is in use) and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_tree_function_add(
    gph_tree *tree, gph_function_fn *fn, void *user,
    const gph_tree_function_options *options, gph_tree_function **out, gph_error *error);

/** Identifies an output. A value: copy it freely. {0} means none. Layout frozen: passed
 *  by value. */
typedef struct gph_tree_output {
    uint64_t call;     /**< number of the call that made it, from 1 */
    uint32_t number;   /**< index among the call's outputs, from 0 */
    uint32_t function; /**< number of the function, from 1 */
    uint32_t slot;     /**< the library's */
    uint32_t tree;     /**< the library's */
} gph_tree_output;

/** An input of a call: an output of the tree, or any tensor. Outputs of recorded calls of
 *  the path are read where they are; other inputs that are not static are copied. Layout
 *  frozen: each call passes an array of it. */
typedef struct gph_tree_input {
    gph_tensor tensor;      /**< used if `output.call` is 0 */
    gph_tree_output output; /**< or this */
    uint32_t take;          /**< nonzero: the call releases `output`, if it succeeds */
    uint32_t reserved;      /**< zero */
} gph_tree_input;

/** Calls a function: replays, records or runs it.
 *
 *  function  of this tree.
 *  key       borrowed for the call: `key_count` words; NULL if there are none.
 *  inputs    borrowed for the call: `input_count`; NULL if there are none. Their contents
 *            must be ready through earlier work in the tree's stream.
 *  outputs   the caller's: `output_count`; NULL if there are none. Each has one holder:
 *            gph_tree_output_release(). Untouched on failure.
 *
 *  The work is in the stream when it returns. A call that is recorded waits for the
 *  stream; a replayed one waits for nothing and allocates nothing. The stream must not be
 *  captured meanwhile. Fails with GPH_E_INVALID (a tensor, an output of another tree),
 *  GPH_E_STATE (an input that was released or overwritten, the tree is in use, or strict
 *  refuses), GPH_E_NO_MEMORY, what the driver and what the function returns; the path is
 *  then as before, or empty if the call began a step. */
GPH_API GPH_CHECKED gph_status gph_tree_call(gph_tree *tree, gph_tree_function *function,
                                             const int64_t *key,
                                             const gph_tree_input *inputs,
                                             gph_tree_output *outputs, gph_error *error);

/** Begins a step: the path ends, its outputs are lost. After the first such call, only
 *  this function begins steps. Before it, a step begins with each call of a root function
 *  (one declared as root, or the one that began the path), unless a backward is due or
 *  the call reads an output of the path. A path also ends when none of its outputs has a
 *  holder. Fails with GPH_E_STATE (the tree is in use). */
GPH_API gph_status gph_tree_step_begin(gph_tree *tree, gph_error *error);

/** Adds a holder. Fails as gph_tree_output_tensor(). */
GPH_API GPH_CHECKED gph_status gph_tree_output_retain(gph_tree *tree,
                                                      gph_tree_output output,
                                                      gph_error *error);
/** Removes a holder; without holders, later calls may use its memory. An output that was
 *  overwritten or does not exist is ignored, and so is a release from inside a function
 *  of the tree. */
GPH_API void gph_tree_output_release(gph_tree *tree, gph_tree_output output);

/** Where an output is, as a tensor or as an address. Work in the tree's stream writes its
 *  contents.
 *
 *  out  the caller's. Untouched on failure.
 *
 *  Fails with GPH_E_STATE (overwritten: the message names the call that overwrote it and
 *  the one that made it; or released) and GPH_E_INVALID (no output of this tree). */
GPH_API GPH_CHECKED gph_status gph_tree_output_tensor(const gph_tree *tree,
                                                      gph_tree_output output,
                                                      gph_tensor *out, gph_error *error);
/** See gph_tree_output_tensor(). */
GPH_API GPH_CHECKED gph_status gph_tree_output_data(const gph_tree *tree,
                                                    gph_tree_output output,
                                                    CUdeviceptr *out, gph_error *error);

/** Copies an output, from its first to its last element, to memory that outlives the
 *  step, in the tree's stream. `bytes`: room at `to`. Fails as gph_tree_output_tensor(),
 *  with GPH_E_INVALID (too little room) and what cuMemcpyDtoDAsync returns. */
GPH_API GPH_CHECKED gph_status gph_tree_output_copy(gph_tree *tree,
                                                    gph_tree_output output,
                                                    CUdeviceptr to, uint64_t bytes,
                                                    gph_error *error);

/** How a call was carried out. */
typedef enum gph_tree_action {
    GPH_TREE_REPLAYED = 1, /**< launched */
    GPH_TREE_RECORDED = 2, /**< recorded and launched */
    GPH_TREE_WARMED = 3,   /**< run eagerly in the pool of the recordings */
    GPH_TREE_EAGER = 4     /**< run eagerly, in the pool for eager calls */
} gph_tree_action;

/** The last call. Text and names are lent until the next call. */
typedef struct gph_tree_event {
    uint32_t size;          /**< sizeof(gph_tree_event) */
    uint64_t call;          /**< its number */
    gph_tree_action action; /**< what was done */
    gph_tree_reason reason; /**< why it was not replayed */
    const char *function;   /**< whose call */
    int32_t input;          /**< the input at fault, or -1 */
    uint32_t node;          /**< the recording, from 1; 0: none */
    CUdeviceptr was;        /**< that input's address as recorded, or 0 */
    CUdeviceptr is;         /**< that input's address now, or 0 */
    const char *text;       /**< a sentence; empty after a replay */
} gph_tree_event;
/** Reads it. `out`: the caller's, filled in. */
GPH_API void gph_tree_event_get(const gph_tree *tree, gph_tree_event *out);

/** Counters of a tree. */
typedef struct gph_tree_stats {
    uint32_t size;                               /**< sizeof(gph_tree_stats) */
    uint64_t calls;                              /**< that succeeded */
    uint64_t steps;                              /**< begun */
    uint64_t paths;                              /**< begun */
    uint64_t replays;                            /**< calls that were hits */
    uint64_t recordings;                         /**< calls that were recorded */
    uint64_t warmups;                            /**< calls that were warm-ups */
    uint64_t eager;                              /**< calls that ran eagerly, in the
                                                      pool for eager calls */
    uint64_t restores;                           /**< of checkpoints */
    uint64_t demotions;                          /**< inputs that moved too often */
    uint64_t promotions;                         /**< inputs that became static again */
    uint64_t recorded_for[GPH_TREE_REASONS_MAX]; /**< recordings by reason */
    uint64_t eager_for[GPH_TREE_REASONS_MAX];    /**< eager calls by reason */
    uint32_t roots;                              /**< recordings without a parent */
    uint32_t nodes;                              /**< recordings */
    uint32_t depth;                              /**< calls of the current path */
    uint32_t live_outputs;                       /**< outputs that have a holder */
    uint32_t live_blocks;                        /**< buffers of the path below them */
    uint32_t due;                                /**< forwards whose backward is due */
    uint64_t inputs_pulled; /**< copied inputs that the launched graph copied itself: the
                                 host pays only for the launch and for a look at the
                                 source (docs/design/tree.md) */
    uint64_t inputs_copied; /**< copied by calls before the launch: they lie in memory
                                 that is not the device's, are too large, or the function
                                 has breaks; a call costs the host 3 to 5 us on a GPU */
} gph_tree_stats;
/** Reads them. `out`: the caller's, filled in. */
GPH_API void gph_tree_stats_get(const gph_tree *tree, gph_tree_stats *out);

/** Forms of gph_tree_write(). */
typedef enum gph_tree_form {
    GPH_TREE_SHORT = 1, /**< names of functions: "1-{2-4, 3-4}" */
    GPH_TREE_LONG = 2,  /**< one paragraph per recording: inputs, outputs, addresses,
                             hits, recordings made again, and how calls were carried out
                             and why */
    GPH_TREE_DOT = 3    /**< for Graphviz */
} gph_tree_form;

/** Writes the tree as text.
 *
 *  write  borrowed for the call; gets the text in pieces, no zero at the end. It may not
 *         call the tree.
 *  user   borrowed for the call.
 *
 *  Fails with GPH_E_INVALID and what `write` returns. */
GPH_API GPH_CHECKED gph_status gph_tree_write(const gph_tree *tree, gph_tree_form form,
                                              gph_write_fn *write, void *user,
                                              gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
