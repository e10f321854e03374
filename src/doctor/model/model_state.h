// SPDX-License-Identifier: Apache-2.0
/* The model's insides, for the files model*.c.
 *
 * Objects stand in tables: made when first seen, found by handle, and, when very many
 * have died, the oldest dead are cleared and used again, so that a program that runs for
 * ever does not fill memory. Their addresses stay valid. */
#ifndef GPHI_DOCTOR_MODEL_STATE_H
#define GPHI_DOCTOR_MODEL_STATE_H
#include "doctor/model/model.h"
#include "doctor/model/model_feed.h"
#include <string.h>

/* ---- work order: what each of a number of lanes had submitted, as vectors ---- */

enum {
    LANES = 128, /* streams beyond share them, which only can hide a race */
    LANE_NONE = LANES,
    WORK_KEPT = 65536
};

/* Shared and not changed while more than one holds it. at[lane]: the last work number of
 * the lane that is known to be over. */
typedef struct model_clock {
    uint32_t refs, count;
    uint64_t at[];
} model_clock;

typedef struct model_lane {
    model_clock *clock; /* before its next work; NULL: nothing */
    uint64_t last;      /* work number */
    uint64_t legacy_seen, host_seen;
    uint32_t streams; /* alive ones that use it */
    bool is_blocking, is_legacy;
} model_lane;

typedef struct model_work {
    gphi_work seen;
    model_clock *clock;
    uint32_t lane;
} model_work;

/* ---- objects ---- */

/* The last nodes of a stream or an event in a capture: indices of model_capture.nodes. */
typedef gphi_vec model_front;

typedef struct model_stream {
    gphi_stream seen;
    uint32_t lane;
    model_front front;
} model_stream;

typedef struct model_event {
    gphi_cuda_event seen;
    model_clock *clock; /* of the last eager record */
    model_front front;  /* of the last captured record */
} model_event;

typedef struct model_node {
    uint64_t handle;
    uint32_t first_dep, dep_count; /* in model_capture.deps */
} model_node;

typedef struct model_capture {
    gphi_capture seen;
    gphi_vec nodes;     /* of model_node */
    gphi_vec deps;      /* of uint32_t, smaller than the node's own index */
    gphi_map by_handle; /* node -> index */
} model_capture;

/* A node that a call added to a graph. */
typedef struct model_made {
    uint64_t node, child; /* graph that a child node was made of, or 0 */
    gphi_call call;
} model_made;

typedef struct model_graph {
    gphi_graph_state seen;
    gphi_vec made;      /* of model_made, in order */
    gphi_map by_handle; /* node -> index in `made` */
} model_graph;

typedef struct model_exec {
    gphi_exec_state seen;
    gphi_vec nodes; /* of uint64_t: those of the graph that it was made of, by index */
    model_clock *clock; /* after its last launch */
} model_exec;

typedef struct model_snapshot {
    gphi_snapshot seen;
    uint32_t uses;    /* living graphs whose last it is, executables that hold it */
    bool is_borrowed; /* `data` belongs to the parent's */
    gphi_vec records; /* while it comes in: copies of NODE and EDGES records, bytes */
    uint64_t claimed_exec, claimed_nodes;
    uint32_t thread;
    bool is_done;
} model_snapshot;

/* A table of objects of one kind. */
typedef struct model_table {
    gphi_vec *list;
    size_t item_bytes, keep, made; /* made: since the dead were last looked at */
    gphi_vec spare;
    gphi_map by_handle;
    bool (*is_dead)(const void *item);
    uint64_t (*handle)(const void *item);
    void (*clear)(gphi_model *model, void *item);
} model_table;

/* Ranges of addresses, sorted, none over another. */
typedef struct model_range {
    uint64_t start, end;
    gphi_allocation *of;
} model_range;

/* What a call's arguments are, read off its signature once. -1: it has none. */
typedef struct model_signature {
    int8_t stream, event, exec, graph, node;
    bool gives_exec, gives_graph;
    uint8_t what; /* model_what */
} model_signature;

typedef enum model_what {
    WHAT_OTHER,
    WHAT_WORK,      /* puts work on a stream */
    WHAT_SYNC_WORK, /* on the legacy or per-thread stream, and waits for it */
    WHAT_STREAM_SYNC,
    WHAT_EVENT_SYNC,
    WHAT_CONTEXT_SYNC
} model_what;

/* Words of an ACCESS record. */
typedef struct model_access {
    uint32_t count;
    bool is_unclear; /* two kernels have the name */
    uint64_t words[];
} model_access;

struct gphi_model_private {
    model_table streams, events, captures, graphs, execs, snapshots, allocations;
    gphi_map per_thread; /* thread -> model_stream */
    gphi_map functions;  /* handle -> gphi_function */
    gphi_map code;       /* function, kernel, module -> module or library that has it */
    gphi_map kernels;    /* number -> the first gphi_function of it */
    gphi_map accesses;   /* hash of a kernel's name -> model_access */
    gphi_map alike;      /* hash of name and arguments -> number */
    gphi_map threads;    /* id -> gphi_thread */
    gphi_vec function_list, thread_list, access_list;
    gphi_vec live, dead;   /* of model_range */
    gphi_vec pending;      /* of model_snapshot *: records still come in */
    gphi_vec fresh;        /* of model_snapshot *: of the call at hand */
    gphi_vec contexts;     /* of uint64_t */
    gphi_vec open;         /* of model_capture * */
    gphi_vec operations;   /* of gph_mem_op: of the batch that was read last */
    size_t snapshot_nodes; /* in all snapshots that have data */
    model_lane lanes[LANES];
    model_clock *host; /* what the host has waited for */
    uint64_t host_version;
    model_work *works; /* a ring by work number */
    size_t work_room;
    model_signature calls[GPHI_CALL_COUNT];
};

/* ---- model_find.c ---- */

/* A new object, or NULL. Found by its handle once gphi_table_name() has named it. */
void *gphi_table_add(gphi_model *model, model_table *table);
gph_status gphi_table_name(model_table *table, uint64_t handle, void *item);
void *gphi_table_find(const model_table *table, uint64_t handle);
/* Clears every object, then frees them: an object's clearing may look at others. */
void gphi_table_fini(gphi_model *model, model_table *table);

/* The stream of that name, made if it was never seen. NULL without memory. */
model_stream *gphi_stream_of(gphi_model *model, uint64_t handle, uint32_t thread,
                             bool per_thread);

/* The thread of that number, made if it was never seen. NULL without memory. */
gphi_thread *gphi_thread_of(gphi_model *model, uint32_t id);

/* ---- model_access.c ---- */

gph_status gphi_access_feed(gphi_model *model, const gphi_event *event);
void gphi_access_fini(gphi_model *model);

/* ---- model_submit.c ---- */

/* What the call puts on its stream, and what the host then knows to be over. */
gph_status gphi_submit(gphi_model *model, gphi_seen *seen);
gph_status gphi_synchronize(gphi_model *model, const gphi_seen *seen);
/* Takes in GPHI_NOTE_REGION. */
gph_status gphi_capture_region(gphi_model *model, const gphi_event *event);

/* ---- model_work.c ---- */

void gphi_clock_drop(gphi_model *model, model_clock **clock);
gph_status gphi_clock_join(gphi_model *model, model_clock **into, const model_clock *from,
                           uint32_t lane, uint64_t last);
/* What a stream has done and waited for, as a clock of its own reference. */
gph_status gphi_lane_now(gphi_model *model, model_stream *stream, model_clock **out);
/* The number of the last work on the stream. */
uint64_t gphi_lane_last(const gphi_model *model, const model_stream *stream);
void gphi_lane_drop(gphi_model *model, uint32_t lane);
/* Whether what comes next on the stream begins after this work has ended; in doubt it
 * does. */
bool gphi_lane_has(gphi_model *model, model_stream *stream, uint64_t work);
gph_status gphi_lane_wait(gphi_model *model, model_stream *stream,
                          const model_clock *clock);
gph_status gphi_host_wait_stream(gphi_model *model, model_stream *stream);
gph_status gphi_host_wait_clock(gphi_model *model, const model_clock *clock);
gph_status gphi_host_wait_all(gphi_model *model);
/* New work on a stream. */
gph_status gphi_work_add(gphi_model *model, model_stream *stream, const gphi_work *work,
                         gphi_work **out);
void gphi_work_fini(gphi_model *model);

/* ---- model_capture.c ---- */

gph_status gphi_capture_call(gphi_model *model, gphi_seen *seen);
void gphi_capture_clear(gphi_model *model, void *item);
gph_status gphi_front_add(model_front *front, uint32_t node);

/* ---- model_graph.c ---- */

gph_status gphi_graph_call(gphi_model *model, gphi_seen *seen);
model_graph *gphi_graph_of(gphi_model *model, uint64_t handle, const gphi_call *created);
/* A STANDING record. */
gph_status gphi_exec_stands(gphi_model *model, const gphi_event *event);
gph_status gphi_graph_made(model_graph *graph, uint64_t node, uint64_t child,
                           const gphi_call *call);

/* ---- model_snapshot.c ---- */

gph_status gphi_snapshot_begin(gphi_model *model, const gphi_event *event);
gph_status gphi_snapshot_more(gphi_model *model, const gphi_event *event);
/* All that came in from a thread is whole. */
gph_status gphi_snapshot_done(gphi_model *model, uint32_t thread);
/* And its nodes' calls are known. */
gph_status gphi_snapshot_name(gphi_model *model);
void gphi_graph_clear(gphi_model *model, void *item);
void gphi_exec_clear(gphi_model *model, void *item);
void gphi_snapshot_clear(gphi_model *model, void *item);
/* The snapshot of a graph that belongs to the call at hand; `exec`: 0 or for which. */
gphi_snapshot *gphi_snapshot_of(gphi_model *model, uint64_t graph, uint64_t exec);
/* Carries a change of one node, which an executable has taken, out on what it holds. */
gph_status gphi_snapshot_edit(gphi_model *model, gphi_exec_state *exec,
                              const gphi_event *event);
/* Frees nodes and edges of a snapshot. */
void gphi_snapshot_empty(gphi_model *model, model_snapshot *snapshot);

/* ---- model_memory.c ---- */

gph_status gphi_memory_call(gphi_model *model, gphi_seen *seen);
gph_status gphi_memory_launch(gphi_model *model, gphi_seen *seen);
void gphi_memory_forget(gphi_model *model, gphi_allocation *allocation);

/* ---- model_context.c ---- */

/* Fills in the context that a call works in; `context` of a stream comes from the call
 * that made it. After it, as the call has changed what is current in its thread. */
gph_status gphi_context_call(gphi_model *model, gphi_seen *seen);

static inline bool gphi_seen_is(const gphi_seen *seen, gphi_call_id call)
{
    return seen->call.call == (uint32_t)call;
}
#endif
