// SPDX-License-Identifier: Apache-2.0
/* Streams and events: the objects that are handed out as CUstream and CUevent.
 *
 *   context ── streams ─┬─ legacy default stream ─┐ order each other
 *                       ├─ created streams ───────┘ (not non-blocking ones)
 *                       ├─ a per-thread default stream for each thread that asked
 *                       └─ the same of each green context: device/green.h
 *
 *   stream ─┬─ queue of the engine
 *           └─ ring of records: what the work reads, reused when its point is reached
 *
 * A stream that captures gives its work to softcuda/graph instead, through the hooks
 * below. */
#ifndef SOFT_DEVICE_STREAM_H
#define SOFT_DEVICE_STREAM_H

#include "softcuda/device/green.h"
#include "softcuda/device/memop.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/memory/memory.h"

#define SOFT_RECORD_COUNT 256u       /* submissions of a stream under way */
#define SOFT_RECORD_PARAM_BYTES 512u /* larger parameters are allocated */

struct soft_capture; /* softcuda/graph */
struct soft_graph;
typedef struct soft_event soft_event;

/* What one submission reads while it runs. */
typedef struct soft_record {
    soft_point point; /* when it is free again */
    soft_context *context;
    int64_t node;             /* as the graph names it, -1: none */
    void *large;              /* parameters that did not fit, freed with the next use */
    struct soft_trace *trace; /* check mode: notes what is touched; borrowed, or NULL */
    _Alignas(16) union {
        soft_kernel_launch launch;
        soft_copy copy;
        soft_fill fill;
        soft_batch_run batch;
        struct {
            soft_conditional node;
            atomic_uint *value;  /* set by who knows the executable graph */
            uint64_t limit_ns;   /* of a loop; 0: none */
            uint64_t started_ns; /* of the loop that runs */
            uint64_t looked_ns;  /* at the clock, last */
            uint64_t look_at;    /* the round before which it is looked at next */
            /* Check mode: who hears that a round of the loop is over; or NULL. */
            struct soft_watch *watch;
            void (*round_over)(struct soft_watch *watch, uint32_t node);
            uint32_t flat;               /* its number there */
            atomic_uint *was_set;        /* not 0: a kernel has set the handle */
            struct soft_decision *noted; /* NULL: no doctor is attached */
        } branch;
        struct {
            CUhostFn function;
            void *user;
            bool always; /* also if the context is in error */
        } host;
        struct {
            void (*function)(void *user);
            void *user;
        } call;
    } u;
    _Alignas(16) unsigned char params[SOFT_RECORD_PARAM_BYTES];
} soft_record;

typedef enum soft_stream_kind {
    SOFT_STREAM_CREATED,
    SOFT_STREAM_LEGACY,
    SOFT_STREAM_PER_THREAD,
    SOFT_STREAM_GATHER /* of no program: after all others, for soft_event_record_all() */
} soft_stream_kind;

typedef struct soft_stream {
    soft_context *context;
    soft_green *green; /* a reference, or NULL: its kernels have all multiprocessors */
    soft_queue *queue;
    uint64_t id;
    uint32_t flags; /* CU_STREAM_NON_BLOCKING */
    int priority;
    soft_stream_kind kind;
    /* Kept and given back; they steer caches and waiting, which CPUs do on their own. */
    CUaccessPolicyWindow window;
    CUlaunchMemSyncDomainMap domains;
    CUlaunchMemSyncDomain domain;
    int sync_policy;       /* CUsynchronizationPolicy; -1: never set, as a GPU says */
    pthread_mutex_t mutex; /* the ring, and the order of submissions */
    soft_record *ring;     /* SOFT_RECORD_COUNT of them */
    uint64_t submitted;
    /* Not NULL while the stream is part of a capture; softcuda/graph's, under its mutex.
     * Read relaxed here: a program that begins a capture orders that with its own calls.
     */
    struct soft_capture *_Atomic capture;
    void *frontier;     /* softcuda/graph's: what the next captured node depends on */
    bool captured_work; /* since it joined the capture */
    struct soft_stream *next_in_capture;
    void *lent_nodes, *lent_data; /* what cuStreamGetCaptureInfo() gave out last */
    uint32_t lent_capacity;
    struct soft_stream *next, *previous; /* of the context; under streams->mutex */
} soft_stream;

#define SOFT_PRIORITY_GREATEST (-5) /* as on an H100 */
/* Out of 0 to SOFT_PRIORITY_GREATEST it becomes the nearest. */
static inline int soft_stream_clamp_priority(int priority)
{
    return priority > 0                        ? 0
           : priority < SOFT_PRIORITY_GREATEST ? SOFT_PRIORITY_GREATEST
                                               : priority;
}

typedef struct soft_streams {
    pthread_mutex_t mutex;
    soft_context *context;
    soft_stream *list; /* all, the legacy one too */
    soft_stream *legacy;
    soft_stream *gather; /* made when first used */
    /* Blocking streams of the context that capture: using the legacy stream is an error.
     */
    atomic_uint blocking_captures;
} soft_streams;

typedef enum soft_event_state {
    SOFT_EVENT_NEVER,
    SOFT_EVENT_RECORDED,
    SOFT_EVENT_CAPTURED
} soft_event_state;

struct soft_event {
    soft_context *context;
    uint32_t flags;
    atomic_uint references; /* the handle, each record under way, each graph node */
    pthread_mutex_t mutex;
    soft_event_state state;
    soft_point point; /* RECORDED */
    uint64_t serial;  /* counts records */
    uint64_t stamp_ns, stamp_serial;
    uint64_t capture_id; /* CAPTURED */
    void *frontier;      /* CAPTURED: softcuda/graph's copy of the stream's frontier */
    void (*drop_frontier)(void *frontier);
    struct soft_event_share *share; /* of several processes; NULL: of this one alone */
};

/* What softcuda/graph does for streams that capture. All are set before the first context
 * is made. The stream has a capture when they are called, but for wait_event. */
typedef struct soft_capture_hooks {
    CUresult (*task)(soft_stream *stream, const soft_task *task);
    CUresult (*record_event)(soft_stream *stream, soft_event *event, uint32_t flags);
    /* The stream captures, or the event was recorded in a capture. */
    CUresult (*wait_event)(soft_stream *stream, soft_event *event, uint32_t flags);
    /* Work for the stream was refused with `code`: its capture is invalid from now on. */
    void (*invalidate)(soft_stream *stream, CUresult code);
    /* What the call that this thread is in means to open captures, by the table of
     * graph/capture_calls.c: it was entered; it concerns a stream, an event, a context.
     * Called only while something captures, `event` also for a captured event. */
    CUresult (*entered)(const char *call);
    CUresult (*stream)(soft_stream *stream);
    CUresult (*event)(soft_event *event);
    CUresult (*context)(soft_current context);
    /* The stream is destroyed. */
    void (*stream_gone)(soft_stream *stream);
    /* A green context ends: captures of its streams are invalid. */
    void (*green_gone)(const soft_green *green);
    /* A graph with a capture is destroyed, with the graph mutex held. */
    void (*graph_gone)(struct soft_graph *graph);
} soft_capture_hooks;
void soft_capture_set_hooks(const soft_capture_hooks *hooks);
const soft_capture_hooks *soft_capture_get_hooks(void);

/* How many captures are open in the process. */
extern atomic_uint soft_captures_open __attribute__((visibility("hidden")));
static inline bool soft_capture_is_open(void)
{
    return atomic_load_explicit(&soft_captures_open, memory_order_relaxed) != 0;
}

/* The stream of a handle: 0 is the legacy stream, or the per-thread one; 1 and 2 name
 * them. INVALID_HANDLE for what is none, CONTEXT_IS_DESTROYED where its green context is. */
CUresult soft_stream_find(soft_context *context, CUstream handle, bool per_thread,
                          soft_stream **out);
/* soft_enter_context() for a call that takes a stream: one that was created brings its
 * context along, which need not be current and may be another device's, as on an H200; a
 * default stream is of the current one. */
CUresult soft_enter_stream_context(const char *call, CUstream handle, soft_context **out);
/* soft_enter_stream_context() and soft_stream_find(): how a call on a stream begins. */
CUresult soft_enter_stream(const char *call, CUstream handle, bool per_thread,
                           soft_stream **out);
/* The same for the calls that programs make most, where nothing asks for a closer look: a
 * stream that was created, in a context that lives, while nothing is captured. NULL where
 * something does: it has to be entered as above. */
soft_stream *soft_enter_quickly(const char *call, CUstream handle);
/* The green context of the stream that a handle names, or NULL; a default stream is of the
 * current one. */
soft_green *soft_stream_green(const soft_context *context, CUstream handle);
CUresult soft_stream_create(soft_current in, uint32_t flags, int priority,
                            soft_stream **out);
/* The default stream of a new green context. */
CUresult soft_green_add_stream(soft_green *green);
/* Its own streams go, work done first; others that are of it stay for their owner. */
void soft_green_drop_streams(soft_green *green);
/* Work that was submitted still runs. */
void soft_stream_destroy(soft_stream *stream);
static inline bool soft_stream_captures(const soft_stream *stream)
{
    return atomic_load_explicit(&((soft_stream *)(uintptr_t)stream)->capture,
                                memory_order_relaxed);
}
static inline bool soft_stream_is_blocking(const soft_stream *stream)
{
    return stream->kind != SOFT_STREAM_LEGACY &&
           (stream->flags & CU_STREAM_NON_BLOCKING) == 0;
}

/* What belongs to a launch and is not its program: work before it, and a fence that is
 * reached when all is done that it launched. Both may be missing. */
typedef struct soft_launch_frame {
    const soft_work *before;
    soft_queue *fence;
    void (*begin)(void *user,
                  const soft_queue *queue); /* all that it waits for is known */
    void *user;
} soft_launch_frame;

/* Puts a launch of a program into the stream's order; see soft_queue_launch_kept(). `frame`
 * may be NULL. */
CUresult soft_stream_launch(soft_stream *stream, const soft_launched *launch,
                            const soft_point *waits, uint32_t wait_count,
                            const soft_launch_frame *frame, soft_point *out);
/* The same for a launch that waits for `after` alone, whose program is kept and whose launches
 * are ordered by who launches (soft_queue_launch_kept()). Returns its number in the stream's
 * queue; 0: nothing was done, since the stream waits for others just now. */
uint64_t soft_stream_launch_plain(soft_stream *stream, const soft_launched *launch,
                                  soft_point after);
/* Puts a piece of work into the stream's order. */
CUresult soft_stream_call(soft_stream *stream, const soft_work *work,
                          const soft_point *waits, uint32_t wait_count);
/* NOT_READY, CUDA_SUCCESS or the context's sticky error. */
CUresult soft_stream_query(soft_stream *stream);
CUresult soft_stream_synchronize(soft_stream *stream);
/* Everything submitted so far, as a point. */
soft_point soft_stream_tail(soft_stream *stream);
/* The stream's next work waits for a point. */
CUresult soft_stream_wait_point(soft_stream *stream, soft_point point);

/* The stream that comes after all work of a context so far, and an order to all of its streams;
 * of a green context: those that are of it. */
CUresult soft_streams_gather(soft_current context, soft_stream **out);
CUresult soft_streams_wait_point(soft_current context, soft_point point);

/* event.c */
/* `share` is taken over, on failure too: counters that another process made. NULL: an
 * event with CU_EVENT_INTERPROCESS makes its own. */
CUresult soft_event_create(soft_context *context, uint32_t flags,
                           struct soft_event_share *share, soft_event **out);
CUresult soft_event_find(CUevent handle, soft_event **out);
void soft_event_retain(soft_event *event);
void soft_event_release(soft_event *event);
CUresult soft_event_destroy(soft_event *event);
CUresult soft_event_record(soft_event *event, soft_stream *stream);
/* The event stands for all work of a context so far; all of its streams wait for the
 * event. STREAM_CAPTURE_UNSUPPORTED while one of them captures. */
CUresult soft_event_record_all(soft_event *event, soft_current context);
CUresult soft_event_wait_all(soft_event *event, soft_current context);
/* A record in pieces, for event nodes of graphs: begin before the launch is submitted,
 * the point that the launch will reach after that, the stamp when the node runs. */
void soft_event_begin_record(soft_event *event);
void soft_event_set_point(soft_event *event, soft_point point);
void soft_event_stamp(soft_event *event);
/* The point of the last record; a point always reached if there is none. */
soft_point soft_event_point(soft_event *event);
CUresult soft_event_query(soft_event *event);
CUresult soft_event_synchronize(soft_event *event);
CUresult soft_event_elapsed(soft_event *start, soft_event *end, float *out_ms);

/* Keeps what the work of a checked task reads. `node` for messages, -1 outside graphs.
 * Fails with what the kernel cannot do. */
CUresult soft_record_fill(soft_record *record, soft_context *context,
                          const soft_task *task, int64_t node);
/* The work of such a record, without a place for its cost. */
soft_work soft_record_work(soft_record *record, soft_task_kind kind);
void soft_record_drop(soft_record *record);
/* Check mode: what the record of such a task touches is noted in `trace`. */
void soft_record_watch(soft_record *record, soft_task_kind kind,
                       struct soft_trace *trace);

#endif
