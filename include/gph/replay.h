/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Record work of a stream once, and play it again: capture, executable graph, launch. */
#ifndef GPH_REPLAY_H
#define GPH_REPLAY_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A capture that is going on. Its own thread, unless relaxed. */
typedef struct gph_capture gph_capture;

/** An executable graph. Any thread may launch it; creation, upload and destruction one at
 *  a time. */
typedef struct gph_exec gph_exec;

/** Which calls of other threads a capture forbids. CUDA's modes, CUDA's numbers plus 1.
 */
typedef enum gph_capture_mode {
    GPH_CAPTURE_GLOBAL = 1, /**< unsafe calls of any thread invalidate it */
    GPH_CAPTURE_THREAD = 2, /**< unsafe calls of this thread do (the default) */
    GPH_CAPTURE_RELAXED = 3 /**< none does; any thread may end it */
} gph_capture_mode;

/** Start from GPH_CAPTURE_OPTIONS_INIT. */
typedef struct gph_capture_options {
    uint32_t size; /**< sizeof(gph_capture_options) */
    uint32_t mode; /**< a gph_capture_mode; 0 means GPH_CAPTURE_THREAD */
} gph_capture_options;
/** All defaults. */
#define GPH_CAPTURE_OPTIONS_INIT GPH_INIT(sizeof(gph_capture_options), 0)

/** Starts to record what is put into a stream, instead of running it.
 *
 *  runtime  borrowed until the capture ends.
 *  stream   borrowed until the capture ends: any stream of the caller's but the legacy
 *           default one.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_capture_end() or gph_capture_abort().
 *           Untouched on failure.
 *  error    may be NULL.
 *
 *  Fails with GPH_E_INVALID (the legacy stream, an unknown mode), GPH_E_STATE (the stream
 *  is captured already), GPH_E_NO_MEMORY, and what cuStreamBeginCapture returns; the
 *  stream is then as before. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_capture_begin(gph_runtime *runtime, CUstream stream,
                                                 const gph_capture_options *options,
                                                 gph_capture **out, gph_error *error);

/** Ends a capture and hands out what was recorded.
 *
 *  capture  taken, on failure too, except with GPH_E_STATE and GPH_E_INVALID.
 *  out      owned by the caller on success: cuGraphDestroy(). Untouched on failure.
 *  error    may be NULL. After a failure it names the first call that the driver refused
 *           since the capture began (drivers of CUDA 12.9 and later).
 *
 *  After a failure the stream, and every stream that had joined, is out of capture again.
 *  Fails with GPH_E_INVALID (NULL), GPH_E_STATE (another thread began it, and it is not
 *  relaxed) and what cuStreamEndCapture returns. */
GPH_API GPH_CHECKED gph_status gph_capture_end(gph_capture *capture, CUgraph *out,
                                               gph_error *error);

/** Ends a capture and throws away what was recorded: the way out of a failure between
 *  begin and end. The stream is usable again.
 *
 *  capture  taken, except with GPH_E_STATE; NULL is allowed.
 *
 *  Fails with GPH_E_STATE (another thread began it, and it is not relaxed). A capture
 *  that was invalid already is no failure here. */
GPH_API gph_status gph_capture_abort(gph_capture *capture, gph_error *error);

/** Start from GPH_EXEC_OPTIONS_INIT. */
typedef struct gph_exec_options {
    uint32_t size; /**< sizeof(gph_exec_options) */
    /** CU_GRAPH_INSTANTIATE_ flags: 1 auto free on launch, 4 device launch, 8 node
     *  priorities. 2 (upload) is always done. */
    uint32_t flags;
    /** Borrowed for the call: the upload is queued here. NULL means the per-thread
     * default stream of the current context. */
    CUstream upload_stream;
} gph_exec_options;
/** All defaults. */
#define GPH_EXEC_OPTIONS_INIT GPH_INIT(sizeof(gph_exec_options), 0, NULL)

/** Makes a graph executable and uploads it, so that its first launch costs what all later
 *  ones cost.
 *
 *  runtime  borrowed until gph_exec_destroy().
 *  graph    borrowed for the call.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_exec_destroy(). Untouched on failure.
 *  error    may be NULL. Names the node that the driver refused, where it tells.
 *
 *  Fails with GPH_E_INVALID (flags, NULL graph), GPH_E_NO_MEMORY and what
 *  cuGraphInstantiateWithParams returns. Thread: nobody else may use `graph` meanwhile
 *  (CUDA's rule). */
GPH_API GPH_CHECKED gph_status gph_exec_create(gph_runtime *runtime, CUgraph graph,
                                               const gph_exec_options *options,
                                               gph_exec **out, gph_error *error);

/** Destroys it. Launches in flight finish. While a capture is open it is destroyed when
 *  the last one ends: gph_defer(). NULL is allowed. Thread: one at a time. */
GPH_API void gph_exec_destroy(gph_exec *exec);

/** Uploads it once more, as is due after an edit through the driver. Fails with what
 *  cuGraphUpload returns. */
GPH_API GPH_CHECKED gph_status gph_exec_upload(gph_exec *exec, CUstream stream,
                                               gph_error *error);

/** Launches it in a stream: a comparison and the driver's call, no lock, no allocation.
 *
 *  exec    borrowed for the call.
 *  stream  borrowed for the call; orders the whole graph.
 *  error   may be NULL.
 *
 *  Fails with GPH_E_INVALID (NULL or destroyed while in reach) and what cuGraphLaunch
 *  returns. Thread: any; launches of one executable run one after the other. */
GPH_API GPH_CHECKED gph_status gph_exec_launch(gph_exec *exec, CUstream stream,
                                               gph_error *error);

/** The driver's own handle. Lent until gph_exec_destroy(); NULL for NULL. */
GPH_API CUgraphExec gph_exec_handle(const gph_exec *exec);

/** Describes a graph of the driver as data: nodes, edges with their data, parameters,
 *  names of kernels, child graphs.
 *
 *  runtime  borrowed for the call.
 *  graph    borrowed for the call; not changed.
 *  out      owned by the caller on success: gph_graph_destroy(). Untouched on failure.
 *
 *  Nodes keep the driver's order, so that index i is the i-th of cuGraphGetNodes. Fails
 *  with GPH_E_INVALID (NULL, child graphs nested deeper than GPH_GRAPH_DEPTH_MAX),
 *  GPH_E_NO_MEMORY and what the driver's queries return. Thread: nobody else may use
 *  `graph` meanwhile (CUDA's rule). */
GPH_API GPH_CHECKED gph_status gph_graph_describe(gph_runtime *runtime, CUgraph graph,
                                                  gph_graph **out, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
