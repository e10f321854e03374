/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Loops on the device: recorded work that runs round after round until a word in device
 *  memory is 0, with a ceiling of steps, a time budget, a word with which the host can
 *  end it, and counts that the host can read at any time. One launch, however long it
 *  runs.
 *
 *      gph_loop_create(runtime, body, &options, &loop, &error);   once
 *      gph_loop_launch(loop, stream, &error);
 *      gph_loop_progress_get(loop, &progress);                    at any time
 *      gph_loop_wait(loop, stream, &result, &error);
 *
 *  Tier: experimental. */
#ifndef GPH_LOOP_H
#define GPH_LOOP_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/replay.h>
#include <gph/replay_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A loop. Its launches run one after the other. */
typedef struct gph_loop gph_loop;

/** What starts the next round. */
typedef enum gph_loop_way {
    GPH_LOOP_FASTEST = 0, /**< the one that is measured to be the fastest here; the first
                               launches alternate between device and host */
    GPH_LOOP_DEVICE = 1,  /**< the faster of the two below */
    GPH_LOOP_WHILE = 2,   /**< a WHILE node */
    GPH_LOOP_TAIL = 3,    /**< the last kernel launches its own graph again (tail
                               launch) */
    GPH_LOOP_HOST = 4     /**< the host, which waits for each round */
} gph_loop_way;

/** Why a launch ended. */
typedef enum gph_loop_end {
    GPH_LOOP_RUNNING = 0, /**< it has not ended, or there was none */
    GPH_LOOP_DONE = 1,    /**< its condition was 0 */
    GPH_LOOP_CEILING = 2, /**< it reached options.ceiling */
    GPH_LOOP_BUDGET = 3,  /**< it reached options.budget_ns */
    GPH_LOOP_ABORTED = 4, /**< gph_loop_abort() was called */
    GPH_LOOP_REFUSED = 5  /**< the device refused to launch the next round */
} gph_loop_end;

/** Start from GPH_LOOP_OPTIONS_INIT; condition and ceiling have no default. */
typedef struct gph_loop_options {
    uint32_t size; /**< sizeof(gph_loop_options) */
    uint32_t way;  /**< a gph_loop_way */
    /** Borrowed until gph_loop_destroy(): a word of 4 bytes that the device can read. The
     *  next round begins while it is not 0; no round runs if it is 0 at first. 0 if
     *  `test` is given. */
    CUdeviceptr condition;
    /** The most steps of a launch; not 0. */
    uint64_t ceiling;
    uint64_t budget_ns; /**< the longest time of a launch; 0: unlimited. Checked between
                             two rounds */
    /** Steps per round; 0 means 1. More steps make rounds cheaper; the condition is
     *  checked only after the last one, so a step must do nothing once it is 0. A ceiling
     *  that is not a multiple is still exact: the rest runs in rounds of one step. */
    uint32_t unroll;
    uint32_t flags; /**< 0 */
    /** Borrowed until gph_loop_destroy(): a word of 4 bytes to which the body adds 1 in
     *  each step that it does. 0: the loop counts by itself, with a kernel after each
     *  step of a round except the last. */
    CUdeviceptr counter;
    /** How often a running loop looks for an abort and reports its progress: between two
     *  rounds, at most once in this many ns, since host memory is slow to reach from the
     *  device; 0 means 50,000; 1 means after each round. */
    uint64_t poll_ns;
    const char *name; /**< copied, for messages; NULL: "loop" */
    /** Borrowed for the call: a graph that runs once, before the first round; or NULL. It
     *  may have kernels, copies, fills and child graphs; gph_slots_feed() belongs
     *  here. */
    CUgraph before;
    /** Borrowed until gph_loop_destroy(): an error on the device is reported with its
     *  round and the node of the body that ran, see <gph/sentinel.h>. The loop then
     *  checks after each round. NULL: none. */
    gph_sentinel *sentinel;
    CUstream stream; /**< borrowed for the call, for upload and measurements; NULL means
                          the per-thread default stream */
    /** Borrowed for the call; the memory it reads, until gph_loop_destroy(). A comparison
     *  (GPH_CONDITION_COMPARE) instead of `condition`: the next round begins while it is
     *  true. It compares two integers or floats of 4 or 8 bytes, or one and a constant.
     *  NULL: `condition` is used. */
    const gph_condition *test;
} gph_loop_options;
/** All defaults. */
#define GPH_LOOP_OPTIONS_INIT GPH_SIZED(gph_loop_options)

/** Makes a loop around a body, in the current context.
 *
 *  runtime  borrowed until gph_loop_destroy().
 *  body     borrowed for the call: one step, of kernels, copies and fills of device or
 *           pinned memory, and child graphs; running it repeatedly must be valid. It is
 *           not read again later.
 *  options  borrowed for the call.
 *  out      owned by the caller on success: gph_loop_destroy(). Untouched on failure.
 *  error    may be NULL. Names the node that the driver refused, if there is one.
 *
 *  To choose for GPH_LOOP_FASTEST and GPH_LOOP_DEVICE, a few hundred rounds are measured
 *  with short kernels in place of the body's nodes; the body itself does not run. A way
 *  that the driver or the body does not allow is left out: gph_loop_ways_get(). Fails
 *  with GPH_E_INVALID (not exactly one condition, a ceiling of 0, an unknown way),
 *  GPH_E_UNSUPPORTED (the body has nodes that no loop may have), GPH_E_NO_MEMORY and what
 *  the driver returns. Thread: any; no capture of this thread may be open, and no other
 *  thread may use `body` meanwhile. */
GPH_API GPH_CHECKED gph_status gph_loop_create(gph_runtime *runtime, CUgraph body,
                                               const gph_loop_options *options,
                                               gph_loop **out, gph_error *error);

/** Destroys it. Launches must have ended. While a capture is open, destroying is
 *  deferred until it ends: gph_defer(). NULL is allowed. Thread: one at a time. */
GPH_API void gph_loop_destroy(gph_loop *loop);

/** Launches it in a stream. With GPH_LOOP_HOST, or GPH_LOOP_FASTEST where that chose the
 *  host, it returns when the last round has ended, and other work in the stream may run
 *  between rounds.
 *
 *  Fails with GPH_E_INVALID and what the driver returns. Thread: any; GPH_LOOP_HOST one at
 *  a time. */
GPH_API GPH_CHECKED gph_status gph_loop_launch(gph_loop *loop, CUstream stream,
                                               gph_error *error);

/** Adds a launch of it to the capture of a stream, whoever began the capture: each replay
 *  of the graph then runs the loop, with its ceiling, budget, abort and counts; what is
 *  captured afterwards waits for its end. gph_loop_wait() after a replay says what it
 *  did. These launches and other launches of this loop must run one after the other.
 *
 *  loop    made with GPH_LOOP_WHILE, without options.before and options.sentinel;
 *          borrowed until the graph and its executables are destroyed.
 *  body    borrowed for the call: the one of gph_loop_create(), or another that uses the
 *          same condition.
 *
 *  Fails with GPH_E_STATE (the stream is not captured), GPH_E_UNSUPPORTED (another way; nodes
 *  that no loop may have) and what the driver returns; the capture must then be aborted.
 *  Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_loop_capture(gph_loop *loop, CUgraph body,
                                                CUstream stream, gph_error *error);

/** Ends the launch that runs, and those that are queued, after the round in which they
 *  notice it. Later launches are not ended. It stores a word, wakes gph_loop_wait(), and
 *  makes no driver call. NULL is allowed. Thread: any. */
GPH_API void gph_loop_abort(gph_loop *loop);

/** The progress of a loop. */
typedef struct gph_loop_progress {
    uint32_t size;     /**< sizeof(gph_loop_progress) */
    uint32_t running;  /**< 1: a launch has begun and not ended */
    uint64_t launched; /**< calls of gph_loop_launch() so far */
    uint64_t begun;    /**< launches that began, those of gph_loop_exec() included */
    uint64_t ended;    /**< launches that ended */
    uint64_t steps;    /**< steps of the launch that began last, at most options.poll_ns
                            old */
    uint64_t rounds;   /**< its rounds */
    uint64_t ns;       /**< how long it had run by then */
} gph_loop_progress;

/** Fills in the progress; zeros for NULL. It reads memory and makes no driver call, so it
 *  may be called while a stream hangs and after an error. Thread: any. */
GPH_API void gph_loop_progress_get(const gph_loop *loop, gph_loop_progress *out);

/** What a launch did. */
typedef struct gph_loop_result {
    uint32_t size;   /**< sizeof(gph_loop_result) */
    uint32_t end;    /**< a gph_loop_end */
    uint64_t launch; /**< its number, from 1 */
    uint64_t steps;  /**< exact, whatever options.unroll is */
    uint64_t rounds; /**< rounds that ran */
    uint64_t ns; /**< from before the first to after the last, by the device's clock */
    uint32_t condition; /**< its value at the end; 1 or 0 for a comparison */
    uint32_t changed;   /**< 0: the value did not change in any round */
} gph_loop_result;

/** Waits for a stream without using the processor, and reports on the launch that ended
 *  last. After several launches in a row that took the same time, it sleeps for that time
 *  without checking: a launch that ends earlier is noticed only then, unless
 *  gph_loop_abort() ended it.
 *
 *  stream  borrowed for the call: where it was launched.
 *  out     may be NULL; filled in, as far as it is known, on failure too.
 *
 *  Fails with GPH_E_STATE unless the launch ended because its condition was 0: the
 *  message names the loop, what ended it and the condition, and says whether the
 *  condition never changed. After an error on the device it fails with that error, and
 *  names the loop, the round and, with options.sentinel, the node. Thread: one at a
 *  time. */
GPH_API GPH_CHECKED gph_status gph_loop_wait(gph_loop *loop, CUstream stream,
                                             gph_loop_result *out, gph_error *error);

/** Sets the ceiling (not 0) and the budget (0: unlimited) of launches that begin from now
 *  on. Fails with GPH_E_INVALID. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_loop_limits_set(gph_loop *loop, uint64_t ceiling,
                                                   uint64_t budget_ns, gph_error *error);

/** Replaces the body: makes new executables in place of the present ones.
 *
 *  body  borrowed for the call.
 *
 *  Fails as gph_loop_create(); the loop is then as it was. Thread: one at a time, and no
 *  launch may run. */
GPH_API GPH_CHECKED gph_status gph_loop_update(gph_loop *loop, CUgraph body,
                                               gph_error *error);

/** The executable that a launch uses, for gph_slots_launch() and other functions that
 *  take one; only gph_loop_update() may change its contents. Lent until
 *  gph_loop_destroy(); NULL for GPH_LOOP_HOST and for NULL. With GPH_LOOP_FASTEST,
 *  calling this selects the device's way that the executable belongs to. Thread: one at a
 *  time. */
GPH_API gph_exec *gph_loop_exec(const gph_loop *loop);

/** Which way was chosen, and why. */
typedef struct gph_loop_ways {
    uint32_t size; /**< sizeof(gph_loop_ways) */
    uint32_t way;  /**< the chosen one: WHILE, TAIL or HOST */
    /** Indexed by gph_loop_way: the time of a round of short kernels; 0 if it was not
     *  measured. */
    double round_ns[5];
    char text[384]; /**< the same as a sentence, with the ways that were refused */
} gph_loop_ways;

/** Fills it in; zeros for NULL. Thread: any; with GPH_LOOP_FASTEST, not during
 *  gph_loop_wait(). */
GPH_API void gph_loop_ways_get(const gph_loop *loop, gph_loop_ways *out);

/** "fastest", "device", "while", "tail" or "host". Static storage; never NULL. Thread:
 *  any. */
GPH_API const char *gph_loop_way_name(gph_loop_way way);

#ifdef __cplusplus
}
#endif
#endif
