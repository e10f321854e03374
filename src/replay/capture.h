// SPDX-License-Identifier: Apache-2.0
/* A capture that is going on, and what it makes.
 *
 *   gph_capture ── stream, mode, thread, watch
 *               ├─ segment being captured: nodes seen so far, each with its region
 *               ├─ region stack ["layer.17", "layer.17/attn"]
 *               ├─ events for forks and joins, a context each
 *               ├─ branches and loops that are open (flow.h)
 *               └─ gph_recording
 *                    ├─ segments [graph, regions of its nodes, function after it] ...
 *                    ├─ regions: path and place
 *                    ├─ outputs, number in the pool
 *                    └─ held objects */
#ifndef GPHI_REPLAY_CAPTURE_H
#define GPHI_REPLAY_CAPTURE_H
#include "base/vec.h"
#include "cuda/refusal.h"
#include "cuda/runtime.h"
#include "device/kernels.h"
#include "replay/query.h"
#include <gph/replay.h>
#include <stdatomic.h>

/* ---- recording ---- */

/* A graph of the recording, and the host call after it. */
typedef struct gphi_segment {
    CUgraph graph;
    uint64_t known;         /* its handle, when it is gone, too */
    gphi_vec regions;       /* of uint32_t, a node: 1 + index of its region; 0: none */
    gph_break_fn *function; /* NULL after the last */
    void *user;
    uint32_t choice; /* 1 + index of the flow whose value decides what follows; 0: none */
    uint32_t jump; /* 1 + index of the flow after whose end it goes on; 0: the next one */
} gphi_segment;

/* The same path pushed at two places is two of them. */
typedef struct gphi_region {
    char *path;
    char *place; /* NULL: that of the capture */
} gphi_region;

/* Shared by its owner and its replays. */
struct gph_recording {
    gph_runtime *runtime;
    atomic_uint owners;
    gphi_vec segments;     /* of gphi_segment */
    gphi_vec regions;      /* of gphi_region */
    char *place;           /* where the capture began, or NULL */
    gphi_vec holds;        /* of gphi_hold */
    gphi_vec outputs;      /* of CUdeviceptr */
    gphi_vec flows;        /* of gphi_flow, in the order in which they began */
    gphi_kernels *setters; /* of conditions; NULL: none was needed */
    CUgraph built;         /* whose `flows` these are, where no capture made them */
    bool is_listed;        /* in flow_list.c, as the next one */
    gph_recording *next_flowing;
    gph_pool *pool; /* retained, or NULL */
    gph_recording_id id;
    gphi_deferred end;
};

typedef struct gphi_hold {
    gph_defer_fn *release;
    void *user;
} gphi_hold;

/* An empty one with one owner, or NULL. */
gph_recording *gphi_recording_create(gph_runtime *runtime);

/* One owner less; the last one's leaving destroys it at once: no capture is open. */
void gphi_recording_release(gph_recording *recording);

static inline gphi_segment *gphi_segment_at(const gph_recording *recording, size_t index)
{
    return gphi_vec_at(&recording->segments, index);
}

/* The name of a node's region, or NULL. */
const char *gphi_segment_region(const gph_recording *recording,
                                const gphi_segment *segment, size_t node);

/* Where a node was recorded, or NULL. */
const char *gphi_segment_place(const gph_recording *recording,
                               const gphi_segment *segment, size_t node);

/* ---- capture ---- */

typedef enum gphi_capture_state {
    GPHI_CAPTURE_OPEN,   /* the stream is captured */
    GPHI_CAPTURE_BREAK,  /* a break's function runs */
    GPHI_CAPTURE_BROKEN, /* a break failed: there is only abort */
} gphi_capture_state;

/* Why the driver will say that streams were not joined. */
enum { GPHI_FORGOTTEN_BYTES = 320 };

struct gph_capture {
    gph_runtime *runtime;
    CUstream stream;
    gph_capture_mode mode;
    gph_join_mode join;
    uint32_t flags;
    uint64_t thread; /* that began it */
    gphi_capture_state state;
    bool has_run; /* GPH_CAPTURE_RUN launched a segment */
    gphi_watch watch;
    gph_recording *recording;
    gphi_segment current;  /* graph NULL: the driver's */
    gphi_vec nodes;        /* of CUgraphNode: those of `current` that have a region */
    gphi_vec region_stack; /* of uint32_t: 1 + index in recording->regions */
    gphi_vec streams;      /* of CUstream: that may have joined */
    gphi_vec events;       /* of gphi_capture_event */
    gphi_vec flows;        /* of gphi_flow_open, the innermost last */
    CUgraph root;   /* ours, while the stream is or was captured into a body; or NULL */
    gph_pool *pool; /* bound to the stream, by us or by the caller; or NULL */
    char forgotten[GPHI_FORGOTTEN_BYTES];
};

/* Refuses calls of other threads, and in states other than open. */
gph_status gphi_capture_check(const gph_capture *capture, gph_error *error);
/* Refuses calls of other threads alone. */
gph_status gphi_capture_check_thread(const gph_capture *capture, gph_error *error);

/* ---- segments ---- */

/* Begins a capture of the driver's: of a new graph (NULL), or in one that is there after
 * a node of it (NULL: none). */
CUresult gphi_segment_begin(gph_capture *capture, CUgraph graph, CUgraphNode after);

/* Ends what the driver captures now: `current` has the graph then. On failure the stream
 * is out of capture, too. */
gph_status gphi_segment_end(gph_capture *capture, gph_error *error);

/* Puts the segment that has ended into the recording, where room was made. */
void gphi_segment_keep(gph_capture *capture, gph_break_fn *function, void *user);

/* Ends the segment that is captured, and begins the next. On failure there is only abort. */
gph_status gphi_segment_cut(gph_capture *capture, uint32_t choice, uint32_t jump,
                            gph_error *error);

/* Leaves what the driver captures now, and throws it away. */
void gphi_segment_drop(gph_capture *capture);

/* ---- parts of it ---- */

/* Gives the nodes that came since the last time the region that is open. Does nothing
 * while no region was ever opened. */
gph_status gphi_region_sync(gph_capture *capture, gph_error *error);

/* Lets the stream wait for all leaves, or writes into `forgotten` what it does not wait
 * for, as capture->join says. */
gph_status gphi_join_streams(gph_capture *capture, gph_error *error);

/* An event for forks and joins, and its context (NULL: the current one, on a driver that
 * does not report). */
typedef struct gphi_capture_event {
    CUcontext context;
    CUevent event;
} gphi_capture_event;

/* Destroys the events of forks and joins. */
void gphi_fork_fini(gph_capture *capture);

/* Binds the stream to the pool of the options before the driver captures; all of these do
 * nothing where there is none. After the driver's end it is made final or undone;
 * forgotten when graph and executables are gone; checked (and noted) at each replay. */
gph_status gphi_bind_begin(gph_capture *capture, const gph_capture_options *options,
                           gph_error *error);
void gphi_bind_abort(gph_capture *capture);
gph_status gphi_bind_end(gph_capture *capture, gph_error *error);
void gphi_bind_forget(gph_recording *recording);
gph_status gphi_bind_check(const gph_recording *recording, gph_error *error);

/* Calls the function of a break; a failure has words, whether the function wrote some or
 * not. */
gph_status gphi_break_call(const gphi_segment *segment, const gph_break *call,
                           gph_error *error);

/* ---- why it failed ---- */

/* Fills the thread's gph_cause and the error. */
gph_status gphi_capture_fail(const gph_capture *capture, CUresult result,
                             const char *call, gph_error *error);

/* Nothing is known of the thread's last failure. */
void gphi_cause_forget(void);

/* Fills the thread's gph_cause if a refused call has invalidated the open capture, which is
 * about to be thrown away; else leaves it and is false. Ends the watch. */
bool gphi_cause_find(gph_capture *capture);

/* gphi_cause_find() for a capture that ends with the failure in `error`: what it finds is
 * added to the message, cut to make room; without, nothing is known any more. */
void gphi_cause_add(gph_capture *capture, gph_error *error);

/* gph_capture_abort() after the failure in `error`, to which the first cause is added.
 * Thread: the one that began it. */
void gphi_capture_abandon(gph_capture *capture, gph_error *error);
#endif
