/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Loops on the device: recorded work that runs round after round until a word in device
 *  memory is 0, with a ceiling of steps, a budget of time, a word by which the host ends
 *  it, and counts that the host reads at any time. One launch, however long it runs.
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

/** A loop. Launches of it run one after the other. */
typedef struct gph_loop gph_loop;

/** Who starts the next round. */
typedef enum gph_loop_way {
    GPH_LOOP_FASTEST = 0, /**< whichever was measured to be the fastest here; the first
                                launches take turns, by the device and by the host */
    GPH_LOOP_DEVICE = 1,  /**< the faster of the next two */
    GPH_LOOP_WHILE = 2,   /**< a WHILE node */
    GPH_LOOP_TAIL = 3,    /**< the last kernel launches its own graph into the tail */
    GPH_LOOP_HOST = 4     /**< the host, which waits for each round */
} gph_loop_way;

/** Why a launch ended. */
typedef enum gph_loop_end {
    GPH_LOOP_RUNNING = 0, /**< it has not, or there was none */
    GPH_LOOP_DONE = 1,    /**< its condition was 0 */
    GPH_LOOP_CEILING = 2, /**< it did as many steps as it may */
    GPH_LOOP_BUDGET = 3,  /**< it took as long as it may */
    GPH_LOOP_ABORTED = 4, /**< gph_loop_abort() */
    GPH_LOOP_REFUSED = 5  /**< the device refused to launch the next round */
} gph_loop_end;

/** Start from GPH_LOOP_OPTIONS_INIT; condition and ceiling have no default. */
typedef struct gph_loop_options {
    uint32_t size; /**< sizeof(gph_loop_options) */
    uint32_t way;  /**< a gph_loop_way */
    /** Borrowed until gph_loop_destroy(): a word of 4 bytes that the device can read. The
     *  next round begins while it is not 0; so none does where it is 0 at first. 0 where
     *  `test` is given. */
    CUdeviceptr condition;
    /** Steps of a launch at most; not 0. */
    uint64_t ceiling;
    uint64_t budget_ns; /**< time of a launch at most; 0: any. Seen between two rounds */
    /** Steps that a round has; 0 means 1. More make rounds cheaper: the condition counts
     *  only after the last of them, so a step must do nothing once it is 0. Ceilings that
     *  are not a multiple are kept by rounds of one step. */
    uint32_t unroll;
    uint32_t flags; /**< 0 */
    /** Borrowed until gph_loop_destroy(): a word of 4 bytes to which the body adds 1 in
     *  each step that it does. 0: the loop counts, with a kernel after each step of a
     *  round but the last. */
    CUdeviceptr counter;
    /** How often a running loop looks for an abort and says how far it came: between two
     *  rounds, after this many ns, since the host's memory is across a bus; 0
     *  means 50,000, and 1 after each round. */
    uint64_t poll_ns;
    const char *name; /**< copied, for messages; NULL: "loop" */
    /** Borrowed for the call: a graph that runs once, before the first round; or NULL. Of
     *  kernels, copies, fills and child graphs; the feed of slots belongs here. */
    CUgraph before;
    /** Borrowed until gph_loop_destroy(): an error on the device is reported with the node
     *  of the body that ran and with its round, see <gph/sentinel.h>. The loop then looks
     *  after each round. NULL: none. */
    gph_sentinel *sentinel;
    CUstream stream; /**< borrowed for the call: to upload and to measure; NULL means the
                          per-thread default stream */
    /** Borrowed for the call, what it reads until gph_loop_destroy(): another condition than
     *  a word of 4 bytes, GPH_CONDITION_COMPARE; the next round begins while it holds. Two
     *  values of 4 or 8 bytes, whole or not, or one and a constant. NULL: the word. */
    const gph_condition *test;
} gph_loop_options;
/** All defaults. */
#define GPH_LOOP_OPTIONS_INIT GPH_SIZED(gph_loop_options)

/** Makes a loop around a body, in the current context.
 *
 *  runtime  borrowed until gph_loop_destroy().
 *  body     borrowed for the call: one step, of kernels, copies and fills of device or
 *           pinned memory, and child graphs; it may be launched again and again. Read
 *           again only by gph_loop_update().
 *  options  borrowed for the call.
 *  out      owned by the caller on success: gph_loop_destroy(). Untouched on failure.
 *  error    may be NULL. Names the node that the driver refused, where it does.
 *
 *  For GPH_LOOP_FASTEST and GPH_LOOP_DEVICE short kernels stand for the nodes of the body
 *  and run a few hundred rounds; the body itself does not run. A way that this driver, or
 *  the body, does not allow is left out: gph_loop_ways_get(). Fails with GPH_E_INVALID
 *  (no condition or two, a ceiling of 0, an unknown way), GPH_E_UNSUPPORTED (the body has nodes
 *  that no loop may have), GPH_E_NO_MEMORY and what the driver returns. Thread: any; no
 *  capture of this thread may be open, and nobody else may use `body` meanwhile. */
GPH_API GPH_CHECKED gph_status gph_loop_create(gph_runtime *runtime, CUgraph body,
                                               const gph_loop_options *options,
                                               gph_loop **out, gph_error *error);

/** Destroys it. Launches must have ended. While a capture is open it waits: gph_defer().
 *  NULL is allowed. */
GPH_API void gph_loop_destroy(gph_loop *loop);

/** Launches it in a stream. With GPH_LOOP_HOST, and GPH_LOOP_FASTEST where it chose the host,
 *  it returns when the last round has ended, and other work in the stream may run between rounds.
 *
 *  Fails with GPH_E_INVALID and what the driver returns. Thread: any; GPH_LOOP_HOST one at
 *  a time. */
GPH_API GPH_CHECKED gph_status gph_loop_launch(gph_loop *loop, CUstream stream,
                                               gph_error *error);

/** Puts a launch of it into the capture of a stream, whoever began that: each replay of
 *  the graph then runs the loop, with its ceiling, budget, abort and counts; what is captured
 *  afterwards waits for its end. gph_loop_wait() after a replay says what it did. Such
 *  launches and others of this loop must follow each other.
 *
 *  loop    of GPH_LOOP_WHILE, without options.before and options.sentinel; borrowed until
 *          the graph and what was made of it are gone.
 *  body    borrowed for the call: the one of gph_loop_create(), or another for the same words.
 *
 *  Fails with GPH_E_STATE (the stream is not captured), GPH_E_UNSUPPORTED (another way; nodes
 *  that no loop may have) and what the driver returns; the capture is then to be thrown away.
 *  Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_loop_capture(gph_loop *loop, CUgraph body,
                                                CUstream stream, gph_error *error);

/** Ends the launch that runs, and those that wait for their turn, after the round at the
 *  time they see it. Later launches are not ended. A store; no call of the driver. NULL
 *  is allowed. Thread: any. */
GPH_API void gph_loop_abort(gph_loop *loop);

/** How far a loop came. */
typedef struct gph_loop_progress {
    uint32_t size;     /**< sizeof(gph_loop_progress) */
    uint32_t running;  /**< 1: a launch has begun and not ended */
    uint64_t launched; /**< calls of gph_loop_launch() so far */
    uint64_t begun;    /**< launches that began, those of gph_loop_exec() included */
    uint64_t ended;    /**< and that ended */
    uint64_t steps;    /**< of the launch that began last, as of options.poll_ns ago */
    uint64_t rounds;   /**< and its rounds */
    uint64_t ns;       /**< and how long it ran by then */
} gph_loop_progress;

/** Fills in how far it came; zeros for NULL. It reads memory and makes no call of the
 *  driver, so it may be called while a stream hangs and after an error. Thread: any. */
GPH_API void gph_loop_progress_get(const gph_loop *loop, gph_loop_progress *out);

/** What a launch did. */
typedef struct gph_loop_result {
    uint32_t size;   /**< sizeof(gph_loop_result) */
    uint32_t end;    /**< a gph_loop_end */
    uint64_t launch; /**< its number, from 1 */
    uint64_t steps;  /**< exact, whatever options.unroll is */
    uint64_t rounds; /**< bodies that ran */
    uint64_t ns; /**< from before the first to after the last, by the device's clock */
    uint32_t condition; /**< its value at the end; of a comparison 1 or 0 */
    uint32_t changed;   /**< 0: what it reads was the same before and after every round */
} gph_loop_result;

/** Waits for a stream, asleep, and says what the launch that ended last did.
 *
 *  stream  borrowed for the call: where it was launched.
 *  out     may be NULL; filled in whatever this returns, as far as it is known.
 *
 *  Fails with GPH_E_STATE unless the launch ended because its condition was 0: the
 *  message names the loop, what ended it and the condition, and says if that never
 *  changed. After an error on the device it fails with that, and names loop, round and,
 *  with options.sentinel, the node. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_loop_wait(gph_loop *loop, CUstream stream,
                                             gph_loop_result *out, gph_error *error);

/** Gives launches that begin from now on another ceiling (not 0) and budget (0: any time).
 *  Fails with GPH_E_INVALID. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_loop_limits_set(gph_loop *loop, uint64_t ceiling,
                                                   uint64_t budget_ns, gph_error *error);

/** Gives it another body: new executables take the places of those that it has.
 *
 *  body  borrowed for the call.
 *
 *  Fails as gph_loop_create(); the loop is then as it was. Thread: one at a time, and no
 *  launch may run. */
GPH_API GPH_CHECKED gph_status gph_loop_update(gph_loop *loop, CUgraph body,
                                               gph_error *error);

/** What a launch of it launches, for gph_slots_launch() and whatever else takes an
 *  executable; its contents are changed by gph_loop_update() alone. Lent until
 *  gph_loop_destroy(); NULL for GPH_LOOP_HOST and for NULL. GPH_LOOP_FASTEST is then the way
 *  of the device that this is of. */
GPH_API gph_exec *gph_loop_exec(const gph_loop *loop);

/** Which way was taken, and why. */
typedef struct gph_loop_ways {
    uint32_t size; /**< sizeof(gph_loop_ways) */
    uint32_t way;  /**< that was taken: WHILE, TAIL or HOST */
    /** By gph_loop_way: what a round of short kernels took, 0 where it was not measured. */
    double round_ns[5];
    char text[384]; /**< the same as a sentence, with what was refused */
} gph_loop_ways;

/** Fills it in; zeros for NULL. Thread: any, but for GPH_LOOP_FASTEST not beside a wait. */
GPH_API void gph_loop_ways_get(const gph_loop *loop, gph_loop_ways *out);

/** "while", "tail", "host". Static storage; never NULL. */
GPH_API const char *gph_loop_way_name(gph_loop_way way);

#ifdef __cplusplus
}
#endif
#endif
