// SPDX-License-Identifier: Apache-2.0
/* What a process has, as its calls say: captures, streams, events, graphs, executables,
 * memory. Fed with event records in order; rules look at it. Everything that was ever
 * there stays until the end (dead things have an end), so that a rule can name the past;
 * of programs that run very long the oldest dead are forgotten (thousands are kept).
 *
 *   call ──> model (state after the call) ──> rules (gphi_rule.call)
 *
 * Objects are lent by the model for its whole life and never move. */
#ifndef GPHI_DOCTOR_MODEL_H
#define GPHI_DOCTOR_MODEL_H
#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"
#include <gph/graph.h>
#include <stdbool.h>

typedef struct gphi_capture gphi_capture;
typedef struct gphi_exec_state gphi_exec_state;
typedef struct gphi_snapshot gphi_snapshot;

/* A call, as the model keeps those that matter later: its number (1, 2, ... in order of
 * arrival; 0: none) and what a finding says of it. */
typedef struct gphi_call {
    uint64_t number;
    uint64_t time_ns;
    uint64_t node; /* captured by it, or 0 */
    uint64_t capture;
    uint64_t context; /* it works in: its argument's, its stream's, its thread's; 0: not
                         known */
    uint32_t call;    /* gphi_call_id */
    uint32_t thread;
    uint32_t stack;
    int32_t result;
    uint32_t duration_ns;
    uint8_t flags, status;
} gphi_call;

enum { GPHI_CONTEXTS_MAX = 16 };

typedef struct gphi_thread {
    uint32_t id;
    char name[16];
    uint64_t open_captures; /* begun by it and not ended */
    uint64_t
        contexts[GPHI_CONTEXTS_MAX]; /* its stack of current contexts, 0: not known */
    uint32_t context_depth;          /* top: contexts[depth]; bottom: not seen */
} gphi_thread;

typedef struct gphi_stream {
    uint64_t
        handle; /* 0 legacy, 1 legacy, 2 per thread: one object per kind and thread */
    uint64_t context;
    uint32_t thread; /* of a per-thread stream, else 0 */
    bool is_legacy, is_per_thread, is_blocking, is_alive;
    int32_t priority;
    gphi_call created, destroyed;
    gphi_capture *capture; /* it is in now, or NULL */
    /* Its last wait for an event outside captures, and that event's record before it. */
    gphi_call waited, waited_for;
    const struct gphi_stream *recorded_on;
    gphi_call last_work; /* launched, copied, filled, eagerly or captured */
    uint64_t work_count;
} gphi_stream;

typedef struct gphi_cuda_event {
    uint64_t handle;
    bool is_alive;
    gphi_call created, recorded; /* last record */
    gphi_stream *recorded_on;    /* or NULL: never */
    gphi_capture *recorded_in;   /* capture of the last record, or NULL: eagerly */
    bool is_edge;                /* and a stream of that capture waited for it */
    uint64_t after; /* work numbers (gphi_model.work) of the stream up to here */
} gphi_cuda_event;

/* A stream of a capture. */
typedef struct gphi_capture_member {
    gphi_stream *stream;
    gphi_call joined;    /* the wait that drew it in; the begin for the origin */
    gphi_call last_work; /* number 0: no node */
    uint64_t node_count;
    uint32_t last_index; /* of its last node, in order of capture; UINT32_MAX: none */
    bool is_origin;
    bool is_joined; /* ended captures: its last node is reached from the origin's end */
} gphi_capture_member;

/* What libgph's gph_region_push() and gph_region_pop() enclose, by numbers of calls. */
typedef struct gphi_region {
    uint64_t after, until; /* until 0: to the end of the capture */
    char name[64];
} gphi_region;

struct gphi_capture {
    uint64_t id;     /* the driver's; else made up */
    uint32_t mode;   /* CUstreamCaptureMode */
    uint32_t thread; /* that began it */
    gphi_stream *origin;
    gphi_call begin, end;  /* end.number 0: open */
    gphi_call invalidated; /* the call after which it was first seen invalidated, or 0 */
    gphi_vec members;      /* of gphi_capture_member */
    gphi_vec calls;        /* of gphi_call: all that captured a node, in order */
    gphi_vec failures;     /* of gphi_call: all that failed on it or because of it */
    gphi_vec regions;      /* of gphi_region, in order of their begin */
    uint64_t graph;        /* what came of it, or 0 */
    gphi_snapshot *snapshot;
    bool is_open, is_to_graph;
};

/* A graph at one moment. */
struct gphi_snapshot {
    uint64_t number, graph;
    gphi_snapshot_why why;
    gphi_exec_state *exec; /* of INSTANTIATED and UPDATE */
    gphi_snapshot *parent;
    gphi_capture *capture; /* the graph comes of, or NULL */
    gph_graph *data;       /* nodes, edges, as src/graph has them; NULL: not complete */
    uint64_t *handles;     /* CUgraphNode by index */
    gphi_call *made;       /* the call that made each node (number 0: unknown) */
    uint32_t node_count;
    bool has_memory; /* nodes that allocate or free, children's included */
    bool has_events; /* nodes that record or wait */
};

typedef struct gphi_graph_state {
    uint64_t handle;
    bool is_alive;
    gphi_call created, destroyed;
    gphi_capture *capture;             /* it comes of, or NULL */
    gphi_snapshot *last;               /* newest snapshot */
    struct gphi_graph_state *clone_of; /* or NULL */
    uint64_t exec_count;               /* executables made of it */
} gphi_graph_state;

typedef struct gphi_launch {
    gphi_call call;
    gphi_stream *stream;
    uint64_t work; /* its work number */
} gphi_launch;

struct gphi_exec_state {
    uint64_t handle, graph; /* the graph it was made of */
    uint64_t graph_made;    /* number of the call that made it: handles come again */
    uint64_t flags;         /* CUgraphInstantiate_flags */
    bool is_alive, is_uploaded;
    gphi_call created, destroyed, updated; /* last update that held */
    gphi_call refused;                     /* last update or SetParams that failed, and */
    gphi_snapshot *refused_by;             /* the graph it was given */
    uint32_t refused_result;               /* CUgraphExecUpdateResult */
    gphi_snapshot *source;                 /* what it holds now */
    gphi_vec launches; /* of gphi_launch: the first 64 and the last 64 */
    gphi_vec
        standing; /* how far the last launch that began was: a gph_node_state (uint8_t)
                          by node of `source`; empty: not known */
    uint32_t launch_state; /* gph_launch_state, where that is known */
    uint64_t launch_count;
    uint64_t update_count;
};

typedef enum gphi_memory_kind {
    GPHI_MEM_DEVICE = 1,
    GPHI_MEM_ASYNC,
    GPHI_MEM_GRAPH,
    GPHI_MEM_MANAGED,
    GPHI_MEM_PINNED,
    GPHI_MEM_REGISTERED,
    GPHI_MEM_VMM
} gphi_memory_kind;

/* Graph memory has an object per address: captured or added as a node it is there and
 * `is_pending`; a launch of its executable gives it life, a free (by call, by a node of
 * another graph) takes it, and `freed` says so until the next launch. Memory that its own
 * graph frees stays pending. */
typedef struct gphi_allocation {
    uint64_t address, bytes, pool;
    gphi_memory_kind kind;
    gphi_call allocated, freed; /* freed.number 0: alive */
    gphi_capture *in;           /* the capture it was made in, or NULL */
    gphi_exec_state *exec; /* graph memory: whose launch gave it life last, or NULL */
    bool is_pending;       /* graph memory that no launch has given life */
} gphi_allocation;

/* A kernel has as many handles as modules were loaded with it, and a driver may give a
 * graph's node another than the program launches. So work and nodes name it by the number
 * of the kernel: one for all functions of the same name and the same arguments. */
typedef struct gphi_function {
    uint64_t handle, kernel;
    const char *name;
    uint32_t arg_count;
    const gph_kernel_arg *args; /* NULL: unknown */
} gphi_function;

/* One piece of work on a stream: kernel, copy, fill, graph launch; eager or captured.
 * Kept for the last 65,536, so that rules can ask for order. */
typedef struct gphi_work {
    uint64_t number; /* 1, 2, ... */
    gphi_call call;
    gphi_stream *stream;
    gphi_exec_state *exec; /* of a graph launch */
    uint64_t function;     /* number of the kernel, or 0 */
    uint64_t write, write_bytes, read,
        read_bytes; /* of copies and fills; 0: none or host */
    uint64_t host;  /* host side of a copy */
    /* Of a graph launch: the launch of the same executable in another stream that it has
     * to wait for, and that nothing but the executable orders before it; else 0. */
    uint64_t waits_for;
    bool is_captured;
} gphi_work;

/* What work and memory belong to: a context, or a pool. */
typedef struct gphi_domain {
    uint64_t handle;
    gphi_call made;
    bool is_pool;
    int32_t device; /* whose primary context or default pool it is; -1: of none */
} gphi_domain;

typedef struct gphi_model {
    gph_allocator heap;
    uint64_t process;
    gphi_vec captures, streams, events, graphs, execs, allocations, snapshots,
        domains; /* of pointers, in order of creation */
    uint64_t call_count, work_count, lost;
    uint32_t driver_version;
    uint32_t hung;    /* the thread of the call that never returned; 0: none */
    uint64_t hung_ns; /* when that was seen */
    bool hung_asks; /* it was in no call for long, but asked for an end again and again */
    bool hung_ranks;           /* it waited for another rank, or in NCCL */
    uint32_t signal;           /* that ended the process; 0: none, or not known */
    uint32_t rank, rank_count; /* of a job of several; rank_count 0: of none */
    uint64_t first_ns, last_ns;
    gphi_call forked; /* the fork() that made it, of one that had used the driver */
    uint64_t parent;  /* that one's pid; 0: it was not made so */
    gphi_call
        crashed; /* where a signal was raised that ends the process; number 0: none, or
                          nothing is known of it */
    uint32_t crashed_by;                /* that signal */
    uint64_t crashed_at, crash_address; /* the instruction, and what it was about */
    bool is_killed;                     /* it did not exit by itself; known at the end */
    bool is_replaced;           /* by another program, exec(), in the same process */
    struct gphi_stacks *stacks; /* for words; NULL: none */
    struct gphi_model_private *own;
} gphi_model;

/* Lookups by handle: what lives under it now, else what lived last; NULL: never seen. */
gphi_stream *gphi_model_stream(gphi_model *model, uint64_t handle, uint32_t thread,
                               bool per_thread);
gphi_cuda_event *gphi_model_event(const gphi_model *model, uint64_t handle);
gphi_graph_state *gphi_model_graph(const gphi_model *model, uint64_t handle);
gphi_exec_state *gphi_model_exec(const gphi_model *model, uint64_t handle);
gphi_capture *gphi_model_capture(const gphi_model *model, uint64_t id);
const gphi_domain *gphi_model_domain(const gphi_model *model, uint64_t handle);
/* The node, in what an executable holds now, that a node of the graph it was made of
 * stands for: setters go on to take these after updates. Others stay what they are. */
uint64_t gphi_exec_node(const gphi_exec_state *exec, uint64_t node);
const gphi_function *gphi_model_function(const gphi_model *model, uint64_t handle);

/* Whether a function, kernel or module was got from that module or library, directly or
 * not. */
bool gphi_model_is_code_of(const gphi_model *model, uint64_t handle, uint64_t owner);
/* The number of a handle's kernel; the handle itself where nothing is known of it. And
 * the first function of a number, or NULL. */
uint64_t gphi_model_kernel(const gphi_model *model, uint64_t handle);
const gphi_function *gphi_model_kernel_function(const gphi_model *model, uint64_t kernel);
/* What a kernel does with 8 bytes of its arguments, taken as an address. */
typedef struct gphi_word_use {
    bool is_known;        /* false: it may do more than is said here */
    bool reads, writes;   /* through it; perhaps under a condition */
    bool only_adds;       /* what it writes is by atomic operations */
    uint32_t store_bytes; /* the most that one thread's store writes */
} gphi_word_use;
gphi_word_use gphi_model_word_use(const gphi_model *model, uint64_t kernel,
                                  uint32_t offset);
const gphi_thread *gphi_model_thread(const gphi_model *model, uint32_t id);

/* The allocation alive at an address; with `dead` the last of those freed that were
 * there, whether or not another lives there now. NULL: none is known (globals, arrays,
 * memory of other libraries' kinds). */
gphi_allocation *gphi_model_memory(const gphi_model *model, uint64_t address, bool dead);

/* Whether work a has ended before work b begins: by stream order, events, synchronization
 * as far as they were seen. b may be GPHI_WORK_NOW: what the host does now. */
#define GPHI_WORK_NOW UINT64_MAX
bool gphi_model_ordered(const gphi_model *model, uint64_t a, uint64_t b);
const gphi_work *gphi_model_work(const gphi_model *model, uint64_t number);

/* What a copy or fill is asked to read and write, also where it failed: fills in the
 * ranges of *out. False: the call is neither. */
bool gphi_work_ranges(const gphi_event *event, gphi_work *out);

/* Work whose numbers are > `after`, in order; NULL after the last. */
const gphi_work *gphi_model_work_next(const gphi_model *model, uint64_t after);

/* A call's argument that was destroyed before; false: none that the model knows. */
typedef struct gphi_dead {
    const char *what; /* "stream", "event", "executable", "graph" */
    uint64_t handle;
    gphi_call by; /* number 0: it is not known */
} gphi_dead;
bool gphi_model_dead(const gphi_model *model, const gphi_event *event, gphi_dead *out);

/* Whether a stream of the capture waits for the legacy stream. */
bool gphi_capture_is_blocking(const gphi_capture *capture);

/* The snapshot's graph; NULL, which has no nodes, of none or of one that is not whole. */
static inline const gph_graph *gphi_snapshot_graph(const gphi_snapshot *snapshot)
{
    return snapshot ? snapshot->data : NULL;
}

/* The innermost region that a node was recorded in; NULL: none. */
const char *gphi_snapshot_region(const gphi_snapshot *snapshot, uint32_t index);

/* The call that made a node, never NULL: number 0 if it is not known. */
const gphi_call *gphi_snapshot_made(const gphi_snapshot *snapshot, uint32_t index);

/* The node with that handle, and the first of a kind with an address (of memory that it
 * allocates or frees): GPH_NODE_NONE if there is none, of a NULL snapshot as well. */
uint32_t gphi_snapshot_index(const gphi_snapshot *snapshot, uint64_t handle);
uint32_t gphi_snapshot_find(const gphi_snapshot *snapshot, gph_node_kind kind,
                            uint64_t address);

/* The call of the last launch that is known, never NULL: number 0 if there was none. */
const gphi_call *gphi_last_launch(const gphi_exec_state *exec);

/* The last launch of an executable, if the host has not waited for it; else NULL. */
const gphi_launch *gphi_exec_pending(const gphi_model *model,
                                     const gphi_exec_state *exec);

/* What its nodes allocate, in bytes. */
uint64_t gphi_snapshot_allocated(const gphi_snapshot *snapshot);

/* The STRUCT, PARAMS or ARRAY of argument `arg` if it has at least `bytes`, else NULL. */
const void *gphi_bytes_of(const gphi_event *event, gphi_part_kind kind, uint32_t arg,
                          size_t bytes);

/* A record's bytes at the end of an array of bytes. */
gph_status gphi_event_keep(gphi_vec *bytes, const gphi_event *event);

/* What ends a context. Others of these numbers are of peers, of registrations. */
bool gphi_is_sticky(int32_t result);

/* A view of a CALL record with the model's objects, as rules get it. */
typedef struct gphi_seen {
    const gphi_event *event;
    gphi_call call;
    gphi_stream *stream;           /* it works on, or NULL: none */
    gphi_capture *capture;         /* of that stream when the call began, or NULL */
    gphi_exec_state *exec;         /* it launches, updates, uploads, destroys, makes */
    gphi_work *work;               /* it submitted, or NULL */
    const gphi_snapshot *snapshot; /* the newest that belongs to it: of an update, the new
                                      graph; of EndCapture, the graph; NULL: none */
    uint32_t host_node;            /* made inside a host function */
} gphi_seen;
#endif
