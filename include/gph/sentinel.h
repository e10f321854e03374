/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Finds the node that ran when a replay hung. Sentinels are fill nodes of one word each
 *  that nothing waits for; they can be read while the replay hangs, after an error, and
 *  after the process was killed. Tier: experimental. */
#ifndef GPH_SENTINEL_H
#define GPH_SENTINEL_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Start from GPH_SENTINEL_OPTIONS_INIT. */
typedef struct gph_sentinel_options {
    uint32_t size; /**< sizeof(gph_sentinel_options) */
    /** The most nodes between two sentinels on any path through the graph; with 1 each
     *  node has one. 0: at the borders of regions, and every 16 nodes if a graph has no
     *  regions. */
    uint32_t every;
    /** Copied: a file that is created or emptied, and stays, for gph_progress_load(). It
     *  is mapped and registered with the driver; some systems allow that only for files
     *  in memory, such as those in /dev/shm. NULL: the variable GPH_SENTINEL_FILE,
     *  followed by "." and the process's number; if it is not set, memory of the
     *  process. */
    const char *path;
    uint64_t bytes; /**< size of the board, for all executables together; 0: 4 MiB */
} gph_sentinel_options;
/** All defaults. */
#define GPH_SENTINEL_OPTIONS_INIT GPH_SIZED(gph_sentinel_options)

/** Makes a board for the sentinels of executables: gph_exec_options.sentinel.
 *
 *  runtime  borrowed until the board and its executables are destroyed.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_sentinel_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_IO (the file), GPH_E_STATE (another board uses the
 *  file), GPH_E_NO_MEMORY and what cuMemHostAlloc or cuMemHostRegister returns; a context
 *  must be current. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_sentinel_create(gph_runtime *runtime,
                                                   const gph_sentinel_options *options,
                                                   gph_sentinel **out, gph_error *error);

/** Destroys it, after its executables were destroyed. A file stays. NULL is allowed.
 *  Thread: one at a time. */
GPH_API void gph_sentinel_destroy(gph_sentinel *sentinel);

/** What is known about a node in the last launch that began. */
typedef enum gph_node_state {
    GPH_NODE_UNKNOWN = 0, /**< done, running or waiting: no sentinel shows which */
    GPH_NODE_DONE = 1,    /**< it has ended */
    GPH_NODE_RUNNING = 2, /**< everything it waits for has ended, but it has not */
    GPH_NODE_WAITING = 3  /**< something that it waits for has not ended */
} gph_node_state;

/** What is known about the last launch that began. */
typedef enum gph_launch_state {
    GPH_LAUNCH_NONE = 0,       /**< none has begun */
    GPH_LAUNCH_ENDED = 1,      /**< all that began have ended; more may be queued */
    GPH_LAUNCH_UNDER_WAY = 2,  /**< it began and has not ended */
    GPH_LAUNCH_MAYBE_ENDED = 3 /**< all sentinels were reached, but not every last node
                                    has one */
} gph_launch_state;

/** One node. Lent: grows at the end. */
typedef struct gph_progress_node {
    uint32_t index;            /**< among cuGraphGetNodes */
    uint32_t kind;             /**< a gph_node_kind */
    uint32_t state;            /**< a gph_node_state */
    uint32_t waits_for_count;  /**< of `waits_for` */
    const uint32_t *waits_for; /**< indices of nodes that it waits for directly, if
                                    GPH_NODE_WAITING */
    const char *region;        /**< its region; empty if it has none */
    const char *kernel;        /**< the kernel's name; empty if it is not a kernel */
    const char *place; /**< gph_recording_place(): "decode.c:57"; empty if unknown */
} gph_progress_node;

/** One executable. Lent: grows at the end. */
typedef struct gph_progress_exec {
    uint64_t handle;     /**< CUgraphExec */
    uint64_t launches;   /**< calls of gph_exec_launch() so far, queued ones included */
    uint32_t state;      /**< a gph_launch_state */
    uint32_t node_count; /**< of `nodes` */
    uint32_t counts[4];  /**< nodes by gph_node_state */
    uint32_t sentinel_count;        /**< that it has */
    uint32_t stride;                /**< bytes from one element of `nodes` to the next */
    const gph_progress_node *nodes; /**< in an order in which edges point forward */
} gph_progress_exec;

/** The progress of a board's executables at one moment. Constant; any thread. */
typedef struct gph_progress gph_progress;

/** Reads a board. It makes no driver call: it may be called while a stream hangs,
 *  and after an error that has ended the context.
 *
 *  sentinel  borrowed for the call.
 *  exec      borrowed for the call: the one to read. NULL: all executables of the board.
 *  out       owned by the caller on success: gph_progress_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE (`exec` has no sentinels of this board) and
 *  GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_progress_create(gph_sentinel *sentinel,
                                                   const gph_exec *exec,
                                                   gph_progress **out, gph_error *error);

/** Reads the file of a board of any process, whether it runs or ended in any way.
 *
 *  path       borrowed for the call.
 *  allocator  copied; NULL means the C library's heap.
 *  out        owned by the caller on success: gph_progress_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID, GPH_E_IO, GPH_E_FORMAT and GPH_E_NO_MEMORY. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_progress_load(const char *path,
                                                 const gph_allocator *allocator,
                                                 gph_progress **out, gph_error *error);

/** Destroys it. NULL is allowed. */
GPH_API void gph_progress_destroy(gph_progress *progress);

/** The number of the process (pid). */
GPH_API uint64_t gph_progress_process(const gph_progress *progress);

/** How many executables there are. */
GPH_API uint32_t gph_progress_exec_count(const gph_progress *progress);

/** One of them. Lent until gph_progress_destroy(); NULL if the index is too large. */
GPH_API const gph_progress_exec *gph_progress_exec_at(const gph_progress *progress,
                                                      uint32_t index);

/** Writes all of them as text, with one line for nodes of equal state.
 *
 *  write  borrowed for the call; gets the text in pieces, no zero at the end.
 *
 *  Fails with GPH_E_INVALID and what `write` returns. */
GPH_API GPH_CHECKED gph_status gph_progress_write(const gph_progress *progress,
                                                  gph_write_fn *write, void *user,
                                                  gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
