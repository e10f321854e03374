/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Dispatch: a resident graph on the device takes requests from a queue in memory and
 *  launches one of several recorded graphs for each. The host only writes requests.
 *
 *      gph_dispatch_create(runtime, &options, &dispatch, &error);
 *      capture work that reads gph_dispatch_block(dispatch); gph_dispatch_add(...)   each
 *      gph_dispatch_start(dispatch, &error);
 *      gph_dispatch_send(dispatch, kind, &request, bytes, &number, &error);          often
 *      gph_dispatch_wait(dispatch, number, &error);
 *
 *  Tier: experimental. */
#ifndef GPH_DISPATCH_H
#define GPH_DISPATCH_H

#include <gph/base.h>
#include <gph/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A queue, its graphs, and the resident graph that serves them. */
typedef struct gph_dispatch gph_dispatch;

/** Limits. */
enum {
    GPH_DISPATCH_BYTES = 48, /**< bytes of a request's arguments at most */
    GPH_DISPATCH_GRAPHS = 64 /**< graphs of a dispatch at most */
};

/** How requests follow each other. */
typedef enum gph_dispatch_order {
    GPH_DISPATCH_SIDE_BY_SIDE = 0, /**< fire and forget: requests that are taken together
                                        run at the same time, at most one per graph */
    GPH_DISPATCH_IN_ORDER = 1      /**< tail launches: one after the other */
} gph_dispatch_order;

/** Start from GPH_DISPATCH_OPTIONS_INIT. */
typedef struct gph_dispatch_options {
    uint32_t size;     /**< sizeof(gph_dispatch_options) */
    uint32_t order;    /**< a gph_dispatch_order */
    uint32_t capacity; /**< requests that may wait, a power of two; 0 means 256 */
    /** After this many us without work the resident graph ends, and the next request starts
     *  it again, for the price of a launch; 0 means 1,000. Until then it occupies one
     *  thread of one multiprocessor, and whoever waits for the whole device waits for it,
     *  too. */
    uint32_t idle_us;
    uint64_t
        wait_ns; /**< how long a request waits for room in a queue that is full; 0: not
                           at all */
    const char *name; /**< copied, for messages; NULL: "dispatch" */
} gph_dispatch_options;
/** All defaults. */
#define GPH_DISPATCH_OPTIONS_INIT GPH_SIZED(gph_dispatch_options)

/** Makes a queue in the current context, without graphs.
 *
 *  runtime  borrowed until gph_dispatch_destroy().
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_dispatch_destroy(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (a capacity that is not a power of two up to 65,536, an unknown
 *  order), GPH_E_NO_MEMORY and what the driver returns: a driver that cannot launch
 *  graphs from the device refuses here. Thread: any; no capture of this thread may be
 *  open. */
GPH_API GPH_CHECKED gph_status gph_dispatch_create(gph_runtime *runtime,
                                                   const gph_dispatch_options *options,
                                                   gph_dispatch **out, gph_error *error);

/** Stops it and destroys it. NULL is allowed. Thread: one at a time. */
GPH_API void gph_dispatch_destroy(gph_dispatch *dispatch);

/** Where the graph that is added next will find the arguments of its request: device
 *  memory of GPH_DISPATCH_BYTES, which stays as it is until the graph has ended. Lent
 *  until gph_dispatch_destroy(); 0 for NULL, or if it has GPH_DISPATCH_GRAPHS already. Thread:
 *  one at a time. */
GPH_API CUdeviceptr gph_dispatch_block(const gph_dispatch *dispatch);

/** Adds a graph for requests of a kind. Several of one kind, each with a block of its own,
 *  serve as many of its requests at the same time.
 *
 *  kind   any number.
 *  graph  borrowed for the call: of kernels, copies and fills of device or pinned memory,
 *         and child graphs of those.
 *  error  may be NULL. Names the node that the driver refused, where it does.
 *
 *  Fails with GPH_E_STATE (it was started, or has GPH_DISPATCH_GRAPHS already),
 *  GPH_E_NO_MEMORY and what instantiating it for device launch returns. Thread: one at a
 *  time. */
GPH_API GPH_CHECKED gph_status gph_dispatch_add(gph_dispatch *dispatch, uint32_t kind,
                                                CUgraph graph, gph_error *error);

/** Takes requests from now on. Fails with GPH_E_STATE (no graph was added, or it was
 *  started), GPH_E_NO_MEMORY and what the driver returns. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_dispatch_start(gph_dispatch *dispatch,
                                                  gph_error *error);

/** Puts a request into the queue: a few stores, and a launch if the resident graph has
 *  ended.
 *
 *  kind       as it was given to gph_dispatch_add().
 *  arguments  copied; `bytes` of them, up to GPH_DISPATCH_BYTES, a multiple of 8; the
 *             rest of the block is 0. NULL with 0 bytes.
 *  number     may be NULL; its number, from 1, for gph_dispatch_wait().
 *
 *  Fails with GPH_E_INVALID (an unknown kind, too many bytes), GPH_E_STATE (not started;
 *  the queue is full, after options.wait_ns; the device refused to go on) and what
 *  cuGraphLaunch returns: the request is then in the queue, and the next call that waits or
 *  sends starts the resident graph again. Thread: any, with the context current. */
GPH_API GPH_CHECKED gph_status gph_dispatch_send(gph_dispatch *dispatch, uint32_t kind,
                                                 const void *arguments, size_t bytes,
                                                 uint64_t *number, gph_error *error);

/** How many requests have ended: all those with numbers up to this one. Only reads
 *  memory; 0 for NULL. Thread: any. */
GPH_API uint64_t gph_dispatch_done(const gph_dispatch *dispatch);

/** Waits until a request has ended; it spins, then sleeps for short times.
 *
 *  number  as gph_dispatch_send() gave it; 0: all that were sent so far.
 *
 *  Fails with GPH_E_INVALID (no such request), GPH_E_STATE (the device refused to launch
 *  the graph of that request; `number` is 0 and one of the last options.capacity was
 *  refused), and, after an error on the device, with that error: the message then names
 *  the oldest request that has not ended. Thread: any, with the context current. */
GPH_API GPH_CHECKED gph_status gph_dispatch_wait(gph_dispatch *dispatch, uint64_t number,
                                                 gph_error *error);

/** Waits for everything that was sent, and ends the resident graph without waiting for
 *  its idle time. The next request starts it again. Fails as gph_dispatch_wait(). Thread:
 *  any, with the context current. */
GPH_API GPH_CHECKED gph_status gph_dispatch_stop(gph_dispatch *dispatch,
                                                 gph_error *error);

/** What it did so far. */
typedef struct gph_dispatch_stats {
    uint32_t size;   /**< sizeof(gph_dispatch_stats) */
    uint32_t graphs; /**< graphs added */
    uint64_t sent;   /**< requests */
    uint64_t done;   /**< that have ended */
    uint64_t starts; /**< launches by the host */
    uint64_t rounds; /**< of the resident graph, those with requests */
    uint64_t full; /**< requests that found the queue full, and waited or were refused */
} gph_dispatch_stats;

/** Fills it in; zeros for NULL. Thread: any. */
GPH_API void gph_dispatch_stats_get(const gph_dispatch *dispatch,
                                    gph_dispatch_stats *out);

#ifdef __cplusplus
}
#endif
#endif
