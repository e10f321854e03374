// SPDX-License-Identifier: Apache-2.0
/* What a report keeps of the records that a doctor reads. It copies: the model gives up
 * what is long dead, and a report shows the whole run.
 *
 *   records ──> calls, lifetimes, drawn graphs, notes (here) ──> page, trace, tables
 *
 * Whatever names a call does so by its number; gphi_report_settle() sorts the calls and
 * turns numbers into places. */
#ifndef GPHI_REPORT_REPORT_H
#define GPHI_REPORT_REPORT_H
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "doctor/listen.h"
#include "event/collective_calls.h"
#include <gph/report.h>
#include <stdbool.h>

/* What a call is drawn as; the page's base.js has them in the same order. */
typedef enum report_kind {
    REPORT_OTHER,
    REPORT_KERNEL,
    REPORT_GRAPH,
    REPORT_COPY,
    REPORT_MEMORY,
    REPORT_BUILD, /* capture, instantiate, update */
    REPORT_EVENT,
    REPORT_WAIT
} report_kind;

/* The result of a call that the process ended in. */
enum { REPORT_UNRETURNED = -1000000 };

typedef struct report_call {
    uint64_t number, start_ns; /* number: 1, 2, ... as they came */
    uint32_t duration_ns, stack;
    uint32_t object; /* 1 + index of function, executable or lifetime; 0: none */
    int32_t result;
    uint16_t call, thread, stream; /* stream: 1 + index, 0: none */
    bool is_captured;
} report_call;

typedef struct report_thread {
    uint32_t id, process; /* process: its number, as it came */
    int32_t rank;         /* of the process, in a job of several; -1: of none */
    uint32_t open;        /* 1 + index of its newest open collective, 0: none */
    char name[32];
} report_thread;

typedef struct report_stream {
    uint64_t handle, work_count;
    bool is_legacy, is_per_thread, is_blocking;
    uint32_t thread;         /* of a per-thread stream */
    uint32_t stack, process; /* where it was made; 0: unknown */
} report_stream;

typedef struct report_capture {
    uint64_t id, begin_ns, end_ns, graph;
    uint32_t mode, thread, stream, node_count, stack; /* thread, stream: indices */
    bool is_open, is_bad;
} report_capture;

typedef struct report_node {
    uint64_t handle, made;          /* number of the call that made it, or 0 */
    uint32_t kind, stack, function; /* 1 + index, 0: none */
    char detail[36];
} report_node;

typedef struct report_edge {
    uint32_t from, to;
    bool is_weak; /* programmatic */
} report_edge;

typedef struct report_graph {
    uint64_t number, handle, bytes;  /* of memory nodes */
    uint32_t node_count, why, stack; /* of the capture's begin */
    gphi_vec nodes, edges;           /* empty where too many graphs are kept already */
} report_graph;

typedef struct report_exec {
    uint64_t handle, from_ns, to_ns; /* to_ns 0: alive */
    uint64_t launches, updates, launch_ns;
    uint64_t device_runs, refused; /* launches by kernels; of its kernels' that got 1 */
    uint32_t graph;                /* 1 + index, 0: unknown */
} report_exec;

typedef struct report_lifetime {
    uint64_t address, bytes, pool, from_ns, to_ns; /* to_ns 0: alive */
    uint64_t made;                                 /* number of the call */
    uint32_t stack;
    gphi_memory_kind kind;
    bool is_captured;
} report_lifetime;

typedef struct report_gpu {
    uint64_t start_ns, end_ns;
    uint32_t what, stream, name; /* stream: 1 + index; name: 1 + index of a function */
} report_gpu;

/* Numbers of calls: an event was recorded, and seen done. */
typedef struct report_event_wait {
    uint64_t wait, record;
} report_event_wait;

/* The GPU took `ns` from one record to another, as cuEventElapsedTime returned it. */
typedef struct report_elapsed {
    uint64_t begin, end, asked, ns;
} report_elapsed;

typedef struct report_bucket {
    uint64_t bucket, counts[4]; /* bucket: first, the key; exact, padded, eager, miss */
    uint64_t asked, ran, records, record_ns, bytes, evictions;
} report_bucket;

typedef struct report_cache {
    uint64_t id;
    char *name;
    gphi_vec buckets;
} report_cache;

typedef struct report_tree_node {
    uint64_t id, function, replays, records, why; /* id: first, the key */
    uint64_t parent;                              /* 1 + id, 0: none */
    char *name;
} report_tree_node;

typedef struct report_tree {
    uint64_t id;
    gphi_vec nodes;
} report_tree;

/* On the device: kinds in the order of the page's data.js. */
typedef enum report_span_kind {
    REPORT_SPAN_IF,
    REPORT_SPAN_WHILE,
    REPORT_SPAN_SWITCH,
    REPORT_SPAN_ROUND, /* of a WHILE */
    REPORT_SPAN_TAIL,  /* launches by kernels, */
    REPORT_SPAN_FORGET,
    REPORT_SPAN_SIBLING,
    REPORT_SPAN_REFUSED /* and one that got 1: exec is the launcher's */
} report_span_kind;

typedef struct report_span {
    uint64_t from_ns, to_ns;
    uint64_t rounds;       /* of a loop; which one; runs of a launch */
    uint32_t exec, parent; /* 1 + index, 0: unknown; parent: of the kernel */
    uint32_t kind;         /* report_span_kind */
    uint32_t body;         /* 1 + the body that ran; 0: none */
} report_span;

enum { REPORT_BODIES = 8 };

/* A conditional node of a graph, in all its executables. */
typedef struct report_decider {
    uint64_t times, rounds;
    uint64_t of[REPORT_BODIES + 1]; /* by body; last: none, or a further one */
    uint32_t kind;                  /* report_span_kind */
} report_decider;

typedef struct report_pool {
    uint64_t id, reserved, used;
    char *name;
} report_pool;

/* A collective as the host saw it. Kinds are in gphi_collective_sort's order. */
typedef struct report_collective {
    uint64_t from_ns, to_ns; /* to_ns: its kernel was launched, or it returned */
    uint64_t elements, dtype;
    uint32_t call, comm;    /* gphi_collective_id; 1 + index, 0: none yet */
    uint32_t stack, thread; /* thread: index */
    uint32_t below;         /* the one that its thread had open before, as `open` */
    int32_t result;         /* an ncclResult_t, or gph_status */
    bool is_open;           /* neither was seen */
} report_collective;

typedef struct report_comm {
    uint64_t handle;
    uint32_t process, rank, ranks; /* ranks 0: how it was made was not seen */
} report_comm;

typedef struct report_count {
    uint64_t count, ns, failed;
    uint32_t longest_ns;
} report_count;

struct gph_report {
    gph_allocator heap;
    gph_doctor *doctor;
    uint32_t calls_max;
    int32_t rank; /* of the process at hand; -1: of none */
    uint64_t call_count, lost, process,
        dropped; /* dropped: things memory was short for */
    uint64_t first_ns, last_ns, began_ms;
    uint32_t driver_version, pid;
    char *program, *driver; /* words split by \n; path of the driver */
    gphi_vec calls, threads, streams, captures, graphs, execs, lifetimes, gpu;
    gphi_vec functions; /* of char * */
    gphi_vec caches, trees, pools;
    gphi_vec devices;         /* of report_device */
    gphi_vec waits, elapsed;  /* of the program's events */
    gphi_vec spans, deciders; /* of the device side */
    gphi_vec collectives, comms;
    /* key -> 1 + index, or number of a call for `nodes` */
    gphi_map thread_map, stream_map, function_map, exec_map, capture_map, graph_map;
    gphi_map live, nodes, node_stacks, newest, pool_map, cache_map, tree_map;
    gphi_map event_map; /* -> number of its last record; 0: a capture took it */
    gphi_map decider_map, comm_map;
    uint32_t refusals; /* spans of them */
    report_count counts[GPHI_CALL_COUNT];
    size_t kept_nodes;
    uint64_t lifetime_count;
    bool is_settled;
};

typedef struct report_device {
    char name[96];
    uint32_t major, minor, multiprocessors;
    uint64_t bytes;
} report_device;

/* Keys of handles: the same handle of another process is another thing. */
static inline uint64_t gphi_report_key(const gph_report *report, uint64_t handle)
{
    return handle ^ gphi_hash_mix(report->process);
}

/* ---- report_items.c ---- */

/* What a map says of a key, or an item more at the end of `vec`, zeroed. NULL without
 * memory; `index` may be NULL. */
void *gphi_report_item(gphi_vec *vec, gphi_map *map, uint64_t key, uint32_t *index);
/* Index of a thread, stream, function; made if it was never seen. UINT32_MAX without
 * memory. */
uint32_t gphi_report_thread(gph_report *report, uint32_t id);
uint32_t gphi_report_stream(gph_report *report, const gphi_stream *stream,
                            uint64_t handle);
uint32_t gphi_report_function(gph_report *report, uint64_t handle);
/* "1.50 MiB". */
void gphi_report_say_bytes(char *out, size_t room, uint64_t bytes);

/* ---- report_calls.c ---- */

report_kind gphi_report_kind(uint32_t call);
gph_status gphi_report_call(gph_report *report, const gphi_event *event,
                            const gphi_seen *seen);
/* Index of the call of a number; UINT32_MAX: it is not kept. After settling. */
uint32_t gphi_report_find(const gph_report *report, uint64_t number);

/* ---- report_graphs.c ---- */

gph_status gphi_report_graph(gph_report *report, const gphi_event *event);
gph_status gphi_report_node(gph_report *report, const gphi_event *event);
gph_status gphi_report_edges(gph_report *report, const gphi_event *event);
/* Captures and executables that a call begins, ends, makes, launches. */
gph_status gphi_report_graph_call(gph_report *report, const gphi_event *event,
                                  const gphi_seen *seen, report_call *call);
/* The innermost frame of a stack that is not libgph's, or NULL. After
 * gph_doctor_finish(). */
const gph_place *gphi_report_own_frame(const gph_report *report, uint32_t stack);
/* A name for a graph: of the function that captured it, or its number. */
void gphi_report_graph_name(const gph_report *report, uint32_t graph, char *out,
                            size_t bytes);

/* ---- report_memory.c ---- */

gph_status gphi_report_memory_call(gph_report *report, const gphi_event *event,
                                   report_call *call);

/* Bytes that come alive or die. */
typedef struct report_turn {
    uint64_t ns, bytes;
    uint32_t kind;
    bool is_end;
} report_turn;

/* All turns by time, deaths first, `count` of them in an array for twice the lifetimes on
 * the report's heap; NULL: there are none, or no memory. */
report_turn *gphi_report_turns(const gph_report *report, size_t *count);

/* ---- report_events.c ---- */

gph_status gphi_report_event_call(gph_report *report, const gphi_event *event,
                                  const report_call *call);

/* ---- report_notes.c ---- */

gph_status gphi_report_note(gph_report *report, const gphi_event *event);

/* ---- report_device.c ---- */

/* A note of softcuda. */
gph_status gphi_report_device_note(gph_report *report, const gphi_event *event);
/* What a conditional node of a graph (by its index) decided; NULL: nothing is known. */
const report_decider *gphi_report_decider(const gph_report *report, uint32_t graph,
                                          uint64_t node);
/* "WHILE", "tail launch". */
const char *gphi_report_span_word(uint32_t kind);

/* ---- report_ranks.c ---- */

gph_status gphi_report_collective(gph_report *report, const gphi_event *event);
/* A launch of a kernel: the thread's collectives have begun. */
void gphi_report_collective_launch(gph_report *report, const gphi_event *event,
                                   uint32_t thread);

/* ---- for those who write ---- */

/* Sorts the calls by time. Once, after the last record. */
void gphi_report_settle(gph_report *report);
/* Nanoseconds since the first call; 0 for what lies before. */
uint64_t gphi_report_time(const gph_report *report, uint64_t ns);

/* All that the page shows, as JSON without a single '<'. */
gph_status gphi_report_data(gph_report *report, const gph_program *program,
                            const gph_advice *advice, gph_write_fn *write, void *user,
                            gph_error *error);

static inline report_call *gphi_report_call_at(const gph_report *report, size_t index)
{
    return (report_call *)gphi_vec_at(&report->calls, index);
}
#endif
