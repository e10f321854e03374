/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Records the work of a stream once and replays it: capture, recording, executable
 *  graph, launch. Tier: stable. */
#ifndef GPH_REPLAY_H
#define GPH_REPLAY_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/graph.h>
#include <gph/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A capture in progress. Only the thread that began it, unless it is relaxed; one call
 *  at a time. */
typedef struct gph_capture gph_capture;

/** What a capture recorded: a graph, or several with host calls between them (segments),
 *  the names of regions, and what it keeps alive. Constant; any thread. */
typedef struct gph_recording gph_recording;

/** A recording made executable: one gph_exec per segment, the calls of its breaks between
 *  them, the check of its pool, and what it keeps alive. gph_replay_launch() launches it,
 *  whether it has one segment or many. Any thread may launch it; destruction one at a
 *  time. */
typedef struct gph_replay gph_replay;

/** One executable graph, like CUDA's CUgraphExec: the object that updates and edits
 *  change. A gph_replay lends its own: gph_replay_exec(). Any thread may launch it;
 *  creation, upload and destruction one at a time. */
typedef struct gph_exec gph_exec;

/** Where launches record their progress: gph_sentinel_create(). */
typedef struct gph_sentinel gph_sentinel;

/** Which unsafe calls invalidate a capture. CUDA's modes; values are CUDA's plus 1.
 */
typedef enum gph_capture_mode {
    GPH_CAPTURE_GLOBAL = 1, /**< unsafe calls of any thread */
    GPH_CAPTURE_THREAD = 2, /**< unsafe calls of this thread (the default) */
    GPH_CAPTURE_RELAXED = 3 /**< none; any thread may end it */
} gph_capture_mode;

/** What happens to a stream that joined a capture and was not joined back to it. */
typedef enum gph_join_mode {
    GPH_JOIN_ERROR = 0, /**< the driver refuses the capture */
    GPH_JOIN_AUTO = 1,  /**< the end of the capture waits for it */
    GPH_JOIN_NAME = 2   /**< refused; the error names streams, last nodes and regions */
} gph_join_mode;

enum {
    /** Each segment is launched in the stream when it ends, so that functions of breaks
     *  see real values and the whole recording has run once. */
    GPH_CAPTURE_RUN = 1
};

/** Start from GPH_CAPTURE_OPTIONS_INIT. */
typedef struct gph_capture_options {
    uint32_t size;  /**< sizeof(gph_capture_options) */
    uint32_t mode;  /**< a gph_capture_mode; 0 means GPH_CAPTURE_THREAD */
    uint32_t join;  /**< a gph_join_mode */
    uint32_t flags; /**< GPH_CAPTURE_ bits */
    /** Retained until the recording is destroyed, or NULL: allocations from it in the
     *  stream, and in streams that join, belong to the recording. */
    gph_pool *pool;
    const char *name; /**< copied: name of the recording in `pool`; may be NULL */
    /** Copied: streams that may join through events of the program, so that an error can
     *  name them. They must exist until the capture ends. */
    const CUstream *streams;
    uint32_t stream_count; /**< of `streams` */
    uint32_t reserved;     /**< zero */
} gph_capture_options;
/** All defaults. */
#define GPH_CAPTURE_OPTIONS_INIT GPH_SIZED(gph_capture_options)

/** Starts to record the work put into a stream instead of running it.
 *
 *  runtime  borrowed until the capture ends.
 *  stream   borrowed until the capture ends: any stream of the caller's except the legacy
 *           default one.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_capture_end(), gph_capture_finish() or
 *           gph_capture_abort(). Untouched on failure.
 *  error    may be NULL.
 *
 *  Fails with GPH_E_INVALID (the legacy stream, an unknown mode), GPH_E_STATE (the stream
 *  is captured already), GPH_E_NO_MEMORY, and what cuStreamBeginCapture and
 *  gph_pool_record_begin() return; the stream is then as before. Thread: any; it waits
 *  for running functions of gph_defer(). */
GPH_API GPH_CHECKED gph_status gph_capture_begin(gph_runtime *runtime, CUstream stream,
                                                 const gph_capture_options *options,
                                                 gph_capture **out, gph_error *error);

/** @cond */
#define GPHI_LINE_TEXT_(line) #line
#define GPHI_LINE_TEXT(line) GPHI_LINE_TEXT_(line)
/** @endcond */

/** The program's file and line where it is used: "decode.c:57", with the file as the
 *  compiler names it. */
#define GPH_PLACE __FILE__ ":" GPHI_LINE_TEXT(__LINE__)

/** gph_capture_begin() with an explicit source place, which is also the place of nodes
 *  outside regions. For bindings to other languages; in C and C++ the macro
 *  gph_capture_begin() passes the line where it is used.
 *
 *  place  copied; NULL: not known. */
GPH_API GPH_CHECKED gph_status gph_capture_begin_at(const char *place,
                                                    gph_runtime *runtime, CUstream stream,
                                                    const gph_capture_options *options,
                                                    gph_capture **out, gph_error *error);
/** The function, with its place. */
#define gph_capture_begin(...) gph_capture_begin_at(GPH_PLACE, __VA_ARGS__)

/** Ends a capture and returns the one graph that was recorded.
 *
 *  capture  taken, on failure too, except with GPH_E_STATE and GPH_E_INVALID.
 *  out      owned by the caller on success: cuGraphDestroy(). Untouched on failure.
 *  error    may be NULL. After a failure it names the call that the driver refused first,
 *           and where that call was made (drivers of CUDA 12.9 and later);
 *           gph_cause_last() has more details.
 *
 *  After a failure, the stream and every stream that had joined are no longer captured.
 *  Fails with GPH_E_INVALID (NULL), GPH_E_STATE (another thread began it, and it is not
 *  relaxed; it has a break or a pool, or keeps something alive, which a single graph
 *  cannot: see gph_capture_finish()), GPH_E_NO_MEMORY and what cuStreamEndCapture
 *  returns. */
GPH_API GPH_CHECKED gph_status gph_capture_end(gph_capture *capture, CUgraph *out,
                                               gph_error *error);

/** As gph_capture_end(), but returns everything that was recorded.
 *
 *  out  owned by the caller on success: gph_recording_destroy(). Untouched on failure.
 *
 *  Fails like gph_capture_end(), but never because of breaks, the pool or what is kept
 *  alive; and with what gph_pool_record_end() returns. Fails with GPH_E_STATE also after
 *  a break failed: then only gph_capture_abort() is allowed. */
GPH_API GPH_CHECKED gph_status gph_capture_finish(gph_capture *capture,
                                                  gph_recording **out, gph_error *error);

/** Ends a capture and throws away what was recorded: for failures between begin and end.
 *  The stream is usable again, and the pool is as it was.
 *
 *  capture  taken, except with GPH_E_STATE; NULL is allowed.
 *
 *  Fails with GPH_E_STATE (another thread began it, and it is not relaxed; or the
 *  function of a break is running). A capture that was already invalid is not a failure
 *  here. */
GPH_API gph_status gph_capture_abort(gph_capture *capture, gph_error *error);

/** Makes another stream part of the capture, after what the captured stream has so far:
 *  an event is recorded there and waited for in `stream`.
 *
 *  stream  borrowed until the capture ends; then it is no longer captured.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE (wrong thread), GPH_E_NO_MEMORY and what the
 *  driver returns. */
GPH_API GPH_CHECKED gph_status gph_capture_fork(gph_capture *capture, CUstream stream,
                                                gph_error *error);

/** Makes the captured stream wait for what a forked stream has so far. Fails like
 *  gph_capture_fork(). */
GPH_API GPH_CHECKED gph_status gph_capture_join(gph_capture *capture, CUstream stream,
                                                gph_error *error);

/** Begins a region: nodes recorded from now on, in any stream of the capture, have this
 *  name in descriptions, drawings and errors. Regions nest, as in "layer.17/attn", and
 *  continue across breaks.
 *
 *  name  copied; not empty.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE, GPH_E_NO_MEMORY and what the driver returns. */
GPH_API GPH_CHECKED gph_status gph_region_push(gph_capture *capture, const char *name,
                                               gph_error *error);

/** gph_region_push() with an explicit source place. For bindings to other languages; in C
 *  and C++ the macro gph_region_push() passes the line where it is used.
 *
 *  place  copied; NULL: the place of the region or capture around it. */
GPH_API GPH_CHECKED gph_status gph_region_push_at(const char *place, gph_capture *capture,
                                                  const char *name, gph_error *error);
/** The function, with its place. */
#define gph_region_push(...) gph_region_push_at(GPH_PLACE, __VA_ARGS__)

/** Ends the innermost region. Fails like gph_region_push(); GPH_E_STATE if there is none.
 */
GPH_API GPH_CHECKED gph_status gph_region_pop(gph_capture *capture, gph_error *error);

/** Why a break's function is called. Lent: grows at the end. */
typedef struct gph_break {
    CUstream stream;     /**< not captured; work put into it is ordered between the
                              segments */
    uint32_t index;      /**< number of the break, from 0 */
    uint32_t is_replay;  /**< 0: the break is being recorded */
    uint32_t has_values; /**< the work before it in the stream really runs: at a replay,
                              and with GPH_CAPTURE_RUN */
    uint32_t reserved;   /**< zero */
} gph_break;

/** A host call between two segments. A status other than GPH_OK ends the capture or the
 *  replay and is passed on; the function then fills in `error`. */
typedef gph_status gph_break_fn(void *user, const gph_break *call, gph_error *error);

/** Ends the segment, calls a function while the stream is not captured, and begins the
 *  next segment: for what cannot be captured (a synchronization, a branch on the host, an
 *  allocation). Forked streams are not captured either, and are forked again where
 *  needed.
 *
 *  function  called now and at each replay.
 *  user      borrowed until the recording and its replays are destroyed.
 *
 *  After a failure the stream is no longer captured, and only gph_capture_abort() is
 *  allowed. Fails with what the function returns and as gph_capture_end() and
 *  gph_capture_begin() do. */
GPH_API GPH_CHECKED gph_status gph_capture_break(gph_capture *capture,
                                                 gph_break_fn *function, void *user,
                                                 gph_error *error);

/** Keeps something alive as long as the recording and its replays exist.
 *
 *  release  called once with `user`, deferred as by gph_defer(), when the last of them is
 *           destroyed or the capture fails. Not called if this fails.
 *
 *  Fails with GPH_E_INVALID, GPH_E_STATE and GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_capture_hold(gph_capture *capture,
                                                gph_defer_fn *release, void *user,
                                                gph_error *error);

/** Declares that an address of the capture's pool is an output, which stays allocated
 *  when the capture ends. Fails with GPH_E_INVALID, GPH_E_STATE (no pool) and
 *  GPH_E_NO_MEMORY. */
GPH_API GPH_CHECKED gph_status gph_capture_output(gph_capture *capture,
                                                  CUdeviceptr address, gph_error *error);

/** The first call that the driver refused during a capture that failed. Lent: grows at
 *  the end. */
typedef struct gph_cause {
    uint64_t thread;    /**< the kernel's number of the thread; 0: nothing is known */
    uint64_t time_ns;   /**< after the capture began */
    CUstream stream;    /**< the stream that the driver's message names, or NULL */
    gph_status code;    /**< what the call returned; GPH_OK if unknown */
    uint32_t is_own;    /**< 1: the thread that began the capture made the call */
    const char *call;   /**< the driver's call; empty if unknown */
    const char *text;   /**< the driver's message; empty if there was none */
    const char *caller; /**< where it was called from: "offload.c:77 (prefetch)" */
    const char *stack;  /**< all callers, one per line; empty if unknown */
} gph_cause;

/** Why the last failed capture of this thread failed: one that it ended, tried to end, or
 *  aborted after a refused call had invalidated it. Captures by callables, caches and
 *  trees count, too. Lent until a capture fails on this thread again. Thread: any; each
 *  has its own. */
GPH_API const gph_cause *gph_cause_last(void);

/** Destroys it; what it keeps alive lives until its replays are destroyed, too. Work in
 *  flight must have ended if it uses what is kept alive, as after GPH_CAPTURE_RUN. While
 *  a capture is open, destruction is deferred: gph_defer(). NULL is allowed. */
GPH_API void gph_recording_destroy(gph_recording *recording);

/** How many graphs (segments) it has; one more than breaks. 0 for NULL. */
GPH_API uint32_t gph_recording_segment_count(const gph_recording *recording);

/** The graph of a segment. Lent until gph_recording_destroy(); NULL if there is none. */
GPH_API CUgraph gph_recording_graph(const gph_recording *recording, uint32_t segment);

/** The region of a node, by its index among cuGraphGetNodes of its segment. Lent until
 *  gph_recording_destroy(); NULL if it is in no region. */
GPH_API const char *gph_recording_region(const gph_recording *recording, uint32_t segment,
                                         uint32_t node);

/** Where a node was recorded: the line of the innermost gph_region_push() around it, else
 *  the line of gph_capture_begin(). Lent until gph_recording_destroy(); NULL if
 *  unknown. */
GPH_API const char *gph_recording_place(const gph_recording *recording, uint32_t segment,
                                        uint32_t node);

/** Its number in the pool of the capture; 0 if there was none. */
GPH_API gph_recording_id gph_recording_pool_id(const gph_recording *recording);

/** As gph_graph_describe(), for a segment; nodes have the names of their regions. */
GPH_API GPH_CHECKED gph_status gph_recording_describe(const gph_recording *recording,
                                                      uint32_t segment, gph_graph **out,
                                                      gph_error *error);

/** Start from GPH_EXEC_OPTIONS_INIT. */
typedef struct gph_exec_options {
    uint32_t size; /**< sizeof(gph_exec_options) */
    /** CU_GRAPH_INSTANTIATE_ flags: 1 auto free on launch, 4 device launch, 8 node
     *  priorities. 2 (upload) is always done. */
    uint32_t flags;
    /** Borrowed for the call: the upload is queued here. NULL means the per-thread
     *  default stream of the current context. */
    CUstream upload_stream;
    /** Borrowed until the executable is destroyed: adds sentinels to it, see
     *  <gph/sentinel.h>. NULL: none, which costs nothing. */
    gph_sentinel *sentinel;
} gph_exec_options;
/** All defaults. */
#define GPH_EXEC_OPTIONS_INIT GPH_SIZED(gph_exec_options)

/** Makes a graph executable and uploads it, so that its first launch costs what all later
 *  ones cost.
 *
 *  runtime  borrowed until gph_exec_destroy().
 *  graph    borrowed for the call.
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_exec_destroy(). Untouched on failure.
 *  error    may be NULL. Names the node that the driver refused, if the driver says
 *           which.
 *
 *  Fails with GPH_E_INVALID (flags, NULL graph), GPH_E_NO_MEMORY, what
 *  cuGraphInstantiateWithParams returns, and with options.sentinel GPH_E_UNSUPPORTED (the
 *  graph allocates or frees memory), GPH_E_STATE (its board is full) and what adding nodes
 *  returns; the graph is then as it was. Thread: no other thread may use `graph`
 *  meanwhile (CUDA's rule). */
GPH_API GPH_CHECKED gph_status gph_exec_create(gph_runtime *runtime, CUgraph graph,
                                               const gph_exec_options *options,
                                               gph_exec **out, gph_error *error);

/** Destroys it. Launches in flight finish. While a capture is open it is destroyed when
 *  the last one ends: gph_defer(). NULL is allowed. Thread: one at a time. */
GPH_API void gph_exec_destroy(gph_exec *exec);

/** Uploads it again, which is needed after an edit through the driver. Fails with what
 *  cuGraphUpload returns. */
GPH_API GPH_CHECKED gph_status gph_exec_upload(gph_exec *exec, CUstream stream,
                                               gph_error *error);

/** Launches it in a stream: a comparison and the driver's call, without a lock or an
 *  allocation.
 *
 *  exec    borrowed for the call.
 *  stream  borrowed for the call; orders the whole graph.
 *  error   may be NULL.
 *
 *  Fails with GPH_E_INVALID (NULL, or an executable that is recognized as destroyed) and
 *  what cuGraphLaunch returns. Thread: any; launches of one executable run one after the
 *  other. */
GPH_API GPH_CHECKED gph_status gph_exec_launch(gph_exec *exec, CUstream stream,
                                               gph_error *error);

/** The driver's own handle. Lent until gph_exec_destroy(); NULL for NULL. */
GPH_API CUgraphExec gph_exec_handle(const gph_exec *exec);

/** Makes all segments of a recording executable, each as gph_exec_create() does.
 *
 *  recording  borrowed for the call; what it keeps alive is shared.
 *  out        owned by the caller on success: gph_replay_destroy(). Untouched on failure.
 *  error      may be NULL. Names segment, node and region that the driver refused.
 *
 *  Fails like gph_exec_create(). */
GPH_API GPH_CHECKED gph_status gph_replay_create(gph_recording *recording,
                                                 const gph_exec_options *options,
                                                 gph_replay **out, gph_error *error);

/** Launches the segments in a stream, in order, and calls the functions of its breaks
 *  between them. A recording with a pool is checked first: gph_pool_replay().
 *
 *  Fails with what the launches, the check and the functions return; later segments are
 *  then not launched. Thread: any, if the functions and the pool's rules allow it. */
GPH_API GPH_CHECKED gph_status gph_replay_launch(gph_replay *replay, CUstream stream,
                                                 gph_error *error);

/** The executable of a segment. Lent until gph_replay_destroy(); NULL if there is none.
 */
GPH_API gph_exec *gph_replay_exec(const gph_replay *replay, uint32_t segment);

/** Destroys it. Work in flight must have ended if it uses what is kept alive. While a
 *  capture is open, destruction is deferred: gph_defer(). NULL is allowed. */
GPH_API void gph_replay_destroy(gph_replay *replay);

/** Describes a graph of the driver as data: nodes, edges with their data, parameters,
 *  names of kernels, child graphs.
 *
 *  runtime  borrowed for the call.
 *  graph    borrowed for the call; not changed.
 *  out      owned by the caller on success: gph_graph_destroy(). Untouched on failure.
 *
 *  Nodes keep the driver's order, so that index i is the i-th of cuGraphGetNodes. Fails
 *  with GPH_E_INVALID (NULL, child graphs nested deeper than GPH_GRAPH_DEPTH_MAX),
 *  GPH_E_NO_MEMORY and what the driver's queries return. Thread: no other thread may use
 *  `graph` meanwhile (CUDA's rule). */
GPH_API GPH_CHECKED gph_status gph_graph_describe(gph_runtime *runtime, CUgraph graph,
                                                  gph_graph **out, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif
