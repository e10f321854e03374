// SPDX-License-Identifier: Apache-2.0
/* The reference model: graphs, captures, executables and memory as the documented rules
 * have them, one thing after the other, in plain C and without any code of softcuda.
 *
 *   model ── graphs ── nodes (work, dependencies in order)
 *         ├─ execs: a copy of the graph, each node with the uid of its origin
 *         ├─ streams: capture and frontier; a vector clock for what happens before what
 *         └─ memory: the bytes, run at the launch, and who touched which cell last
 *
 * Everything is taken from one arena that ends with the program, so nothing is freed. */
#ifndef MODEL_H
#define MODEL_H
#include "cuda/abi.h"
#include "differential.h"

struct mnode;
struct mgraph;

struct medge {
    struct mnode *node;
    int32_t data; /* 0, or 1 programmatic, 2 launch order */
};

struct medges {
    struct medge *at;
    int count, capacity;
};

struct mnode {
    uint32_t uid, origin; /* origin: of clones and in executables */
    int slot;             /* in model.nodes, or MISSING */
    bool dead, enabled;
    int place, mark, mark_out; /* scratch of whoever walks */
    struct mgraph *graph;
    struct work work;
    bool captured;
    int32_t priority;
    int32_t alloc;       /* ALLOC: allocation slot */
    uint32_t exit_since; /* when it last became a node without dependents */
    struct medges deps, dependents;
    struct mgraph *child;
};

struct mgraph {
    uint32_t uid, clone_of;
    int slot; /* in model.graphs, or MISSING */
    struct mnode **nodes;
    int count, capacity;
    struct mnode *parent;
    struct mcapture *capture;
    struct mexec *exec; /* the one executable of a graph with memory nodes */
    bool moved;
    bool tried;               /* a memory node was refused: counts as having one */
    int32_t objects[OBJECTS]; /* references */
};

struct mclock {
    uint32_t at[STREAMS];
};

struct mexec {
    struct mgraph *graph; /* its own copy */
    uint32_t source;      /* uid of the graph it was made from, whose nodes it knows */
    uint64_t flags;
    bool racy; /* never launched */
    struct mclock clock;
    struct mgraph *owner; /* whose memory nodes it uses */
};

struct mcapture {
    uint32_t id;
    struct mgraph *graph;
    bool invalidated, own, over;
    int origin, mode;
};

struct mstream {
    struct mcapture *capture;
    struct medges frontier;
    bool spread; /* joined by an event */
    bool worked; /* has captured a node of its own: only then it has to be joined */
    struct mclock clock;
};

struct mevent {
    enum { EVENT_NEW, EVENT_RECORDED, EVENT_CAPTURED } state;
    struct mcapture *capture;
    struct medges frontier;
    struct mclock clock;
};

struct mcell {
    int writer; /* stream, or -1 */
    uint32_t written;
    uint32_t read[STREAMS];
    bool defined;
};

/* A graph allocation, from its alloc node on. */
struct mallocation {
    bool exists;            /* an alloc node made it */
    bool live;              /* launched and not freed since */
    bool defined;           /* written since */
    bool freed_at_home;     /* its graph holds a free node of it */
    bool freed_elsewhere;   /* another graph does */
    bool left_unfreed;      /* its graph was instantiated without a free node of it */
    bool orphan;            /* its graph is gone: its next free is its end */
    const struct mexec *by; /* whose launch made it live */
    uint32_t graph;         /* uid */
};

struct mobject {
    bool exists;
    int32_t mine; /* the program's own references */
    int32_t total;
    int32_t destroyed;
};

struct model {
    struct mgraph *graphs[GRAPHS];
    struct mnode *nodes[NODES];
    struct mexec *execs[EXECS];
    struct mevent events[EVENTS];
    struct mstream streams[STREAMS];
    struct mobject objects[OBJECTS];
    struct mallocation allocs[ALLOCS];
    struct mcapture *captures[8];
    int capture_count;
    int thread_mode;
    struct mclock done; /* what has finished for sure */
    struct mcell cells[BUFFERS][BUFFER_CELLS];
    unsigned char memory[BUFFERS][BUFFER_BYTES];
    uint32_t last_uid;
    const struct answer *actual; /* of the running step, or NULL */
    bool lost;                   /* the driver went another way than the model */
    bool leaked;                 /* an H100 has lost graph memory for good */
    struct chunk *chunks;
};

/* model.c */
struct model *model_create(void);
void model_destroy(struct model *model);
/* Runs a step. *out: the predicted answer. Where `actual` is given, what the driver said
 * decides what happens; `lost` is set where the model cannot follow. */
void model_step(struct model *model, const struct step *step, const struct answer *actual,
                struct answer *out);
/* Whether a step that succeeds would have no one result: what it touches is not ordered
 * against all that came before, or within itself. */
bool model_may_launch(struct model *model, const struct mexec *exec, int stream);
bool model_races(struct model *model, const struct step *step);
void model_finish(struct model *model, struct finish *out);
void *model_take(struct model *model, size_t bytes);
/* Notes the predicted code; whether the step has succeeded (as the driver says). */
bool model_decide(struct model *model, struct answer *out, CUresult code);
bool stream_blocks(int stream);

/* model_graph.c */
struct mgraph *graph_new(struct model *model);
struct mgraph *graph_copy(struct model *model, const struct mgraph *from);
struct mnode *node_new(struct model *model, struct mgraph *graph,
                       const struct work *work);
void node_drop(struct model *model, struct mgraph *graph, struct mnode *node);
void graph_drop(struct model *model, struct mgraph *graph);
void edges_push(struct model *model, struct medges *list, struct mnode *node,
                int32_t data);
int edges_find(const struct medges *list, const struct mnode *node);
void link_add(struct model *model, struct mnode *from, struct mnode *to, int32_t data);
void link_remove(struct model *model, struct mnode *from, struct mnode *to);
bool graph_has_memory(const struct mgraph *graph);
/* They are the last of the nodes without dependents from now on. */
void renew_exits(struct model *model, struct mnode *const *nodes, int count);
/* A memory node that was refused: whether its graph has noticed it. */
bool work_leaves_trace(const struct work *work, CUresult code);
bool graph_has_cycle(struct model *model, const struct mgraph *graph);
CUresult work_check(const struct model *model, const struct work *work);
void op_graph(struct model *model, const struct step *step, struct answer *out);
bool op_is_graph(int op);

/* model_query.c */
void op_query(struct model *model, const struct step *step, struct answer *out);
bool op_is_query(int op);

/* model_exec.c */
void op_exec(struct model *model, const struct step *step, struct answer *out);
bool op_is_exec(int op);
/* model_update.c */
void op_update(struct model *model, const struct step *step, struct answer *out);
/* A child graph of an executable against a graph that is to replace it. */
CUresult child_check(struct mexec *exec, struct mgraph *mine, struct mgraph *theirs);
void child_take(struct mexec *exec, struct mgraph *mine, struct mgraph *theirs);
CUresult exec_node_change(const struct mnode *old, const struct work *work);

/* model_capture.c */
void op_capture(struct model *model, const struct step *step, struct answer *out);
bool op_is_capture(int op);
/* What an unsafe call gets now; invalidates where it is refused. */
CUresult capture_check_unsafe(struct model *model);
CUresult capture_check_legacy(struct model *model, int stream);
void capture_invalidate(struct mcapture *capture);

/* model_memory.c: graph memory */
void op_memory(struct model *model, const struct step *step, struct answer *out);
bool op_is_memory(int op);
CUresult memory_check_node(const struct model *model, const struct mgraph *graph,
                           const struct work *work);
/* The graph was instantiated; the graph is gone. */
void memory_instantiated(struct model *model, const struct mgraph *graph);
void memory_graph_gone(struct model *model, const struct mgraph *graph);
void memory_added(struct model *model, const struct mgraph *graph,
                  const struct work *work);
CUresult memory_check_launch(const struct model *model, const struct mexec *exec);
/* An upload or launch is tried; a launch is done. */
void memory_wanted(struct model *model, const struct mexec *exec);
void memory_launched(struct model *model, const struct mexec *exec,
                     const struct mgraph *graph);
void memory_freed(struct model *model, struct mallocation *alloc);
/* After an executable is gone: what it alone still knew. */
void memory_exec_gone(struct model *model);
/* Whether a launch touches live or own allocations alone. */
bool memory_is_safe(const struct model *model, const struct mexec *exec);
bool memory_any_live(const struct model *model);

/* model_object.c */
void op_object(struct model *model, const struct step *step, struct answer *out);
bool op_is_object(int op);
void object_change(struct model *model, int object, int32_t by);

/* model_order.c: what happens before what */
void order_submit(struct model *model, int stream); /* one more operation */
void order_sync(struct model *model, int stream);   /* all of it is over */
void order_sync_all(struct model *model);
void clock_join(struct mclock *into, const struct mclock *from);
/* Whether a work on a stream now would touch what it is not ordered against. */
bool order_conflicts(struct model *model, const struct work *work, int stream);
bool order_exec_conflicts(struct model *model, const struct mexec *exec, int stream);
void order_note(struct model *model, const struct work *work, int stream);
/* Whether it has a node that does something. */
bool graph_works(const struct mgraph *graph);
void order_note_graph(struct model *model, const struct mgraph *graph, int stream);
/* Whether unordered nodes touch the same cells, or read what nothing has written. */
bool graph_is_racy(struct model *model, const struct mgraph *graph);
bool work_reads_undefined(const struct model *model, const struct work *work);

/* model_run.c: bytes */
void work_run(struct model *model, const struct work *work);
void graph_run(struct model *model, const struct mgraph *graph);
#endif
