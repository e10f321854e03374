// SPDX-License-Identifier: Apache-2.0
/* Executable graphs from the inside, for exec.c (life, launch), flat.c (making a graph
 * flat), version.c (parameters), update.c (whole updates) and setters.c (one node).
 *
 *   soft_exec ─┬─ program          of the engine: order, never changes
 *              ├─ shape            nodes and edges as they were, to pair others with
 *              └─ version ... version     one is the current one
 *                   ├─ works[i]    what the engine runs for flat node i
 *                   └─ records[i]  its parameters, shared by versions that agree on them
 *
 * A launch takes the current version and counts itself in it until it is done. An edit
 * changes the current version in place if no launch is in it, else an idle one, brought
 * up to date from the journal of edits, becomes the current one. So a launch sees the
 * parameters of the moment it was made (R34), and nothing is copied for it.
 *
 * Locks: the graph mutex (soft_graph_lock()), then the exec's. A launch takes the exec's
 * alone. */
#ifndef SOFT_GRAPH_EXEC_H
#define SOFT_GRAPH_EXEC_H

#include <stddef.h>

#include "softcuda/engine/wordlock.h"
#include "softcuda/graph/graph.h"

#define SOFT_NO_NODE UINT32_MAX

/* What memory an operand of a copy refers to, as far as updates care (U07). */
typedef struct soft_backing {
    uint8_t kind; /* enum soft_backing_kind */
    /* How often something of the device's memory was freed when it was looked at, modulo
     * 2^32, which nobody does between two updates. 0: no device's, or not known. */
    uint32_t changes;
    void *context; /* the memory's, where it has one; compared only */
} soft_backing;

enum soft_backing_kind {
    SOFT_BACKING_CONTEXT, /* belongs to a context: cuMemAlloc, managed, host memory */
    SOFT_BACKING_POOL,    /* to none: stream-ordered pools, mapped ranges */
    SOFT_BACKING_GRAPH    /* of an alloc node */
};

/* Parameters of one node. Versions that agree on them share it. */
typedef struct soft_exec_record {
    uint32_t references;       /* of versions; under the exec's mutex */
    uint32_t lines : 24;       /* of SOFT_LINE bytes that its block has before it */
    uint32_t has_function : 1; /* a reference to its task's */
    uint32_t has_event : 1;    /* a reference */
    uint32_t has_apart : 1;    /* parameters that are allocated apart */
    uint32_t is_updatable : 1; /* KERNEL that kernels change */
    soft_context *context;
    soft_task task; /* parameters are in `body` */
    union {
        soft_backing backing[2]; /* MEMCPY: destination, source; MEMSET: destination */
        struct soft_device_node *device; /* is_updatable: what kernels change */
        struct {
            soft_event *event; /* event nodes */
            soft_queue *fence; /* EVENT_RECORD: the exec's for this node */
        };
    };
    soft_record body; /* the last member: cut off after the parameters */
} soft_exec_record;

#define SOFT_LINE 64u

/* Lines of a large graph come from beyond the second cache. What a processor fetches by
 * itself ends with each page, and in eight arrays of an update one begins every ten nodes.
 * So their lines are asked for so many pairs before. */
#define SOFT_AHEAD 12u

static inline void soft_fetch(const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SOFT_LINE)
        __builtin_prefetch((const char *)from + at, 1);
}

/* Records lie one after the other in blocks, since whole graphs of them are read from front
 * to back; a block goes with the last of its records. */
typedef struct soft_record_block {
    size_t bytes;  /* all of it */
    uint32_t live; /* records, and one while it is filled; under the exec's mutex */
} soft_record_block;

/* Where the next records go. Zero: nowhere yet. */
typedef struct soft_record_maker {
    soft_record_block *block;
    size_t used;   /* bytes of it */
    size_t wanted; /* by the records to come; 0: nobody knows, ... */
    uint32_t most; /* ... but that so many come at most, with the next one */
} soft_record_maker;

typedef struct soft_version {
    struct soft_exec *exec;
    atomic_uint launches; /* under way; raised under the exec's mutex */
    /* Plain launches, which end in their order: so that one that ends is a store. */
    soft_launched plain;
    uint64_t begun;                  /* under the exec's mutex */
    uint64_t edits;                  /* how many of the exec's edits it has seen */
    soft_point last;                 /* of the last launch with it */
    struct soft_object_set *objects; /* the exec's, when a launch last took it */
    struct soft_exec_memory *memory; /* the same; a launch holds it (memnode.h) */
    soft_work *works;                /* by flat node */
    soft_exec_record **records;      /* by flat node; NULL: order only */
    char apart[64];                  /* from what those who launch write: */
    _Atomic uint64_t ended;
} soft_version;

/* A node of the flat graph. A child graph has an entry, its own nodes, and an exit. */
typedef struct soft_exec_node {
    const soft_node *source; /* compared only, with the id: it may be gone */
    uint64_t id;             /* 0: an exit */
    uint8_t type;            /* CUgraphNodeType */
    uint8_t kind;            /* soft_work_kind */
    bool enabled;
    bool in_body;       /* of a conditional node */
    uint32_t level;     /* GRAPH: its child's; CONDITIONAL: its first body's */
    uint32_t dep_first; /* into shape.deps */
    uint32_t dep_count;
} soft_exec_node;

/* One graph: the top one is level 0, child graphs and bodies follow. */
typedef struct soft_exec_level {
    uint32_t owner; /* flat node of the child graph, SOFT_NO_NODE at the top */
    uint32_t next;  /* the owner's next body */
    uint32_t member_first, member_count; /* into shape.members: flat nodes in order */
    uint32_t sink_first, sink_count;     /* into shape.sinks, in the order of R67 */
} soft_exec_level;

typedef struct soft_shape {
    soft_exec_node *nodes; /* by flat number */
    uint32_t node_count;
    uint32_t *deps;    /* flat nodes, in the order of each node's dependencies */
    uint8_t *dep_data; /* edge data of each, packed */
    uint32_t *members, *sinks;
    soft_exec_level *levels;
    uint32_t level_count;
} soft_shape;

/* References to user objects. They go with the last launch that may use them. */
typedef struct soft_object_set {
    atomic_uint references;
    soft_object_list list;
} soft_object_set;

/* exec.c: what `graph` and its child graphs hold; *out is NULL where that is nothing. */
CUresult soft_object_set_create(const soft_graph *graph, soft_object_set **out);
void soft_object_set_release(soft_object_set *set); /* takes NULL */

#define SOFT_VERSIONS_MAX 64u /* sets of parameters under way at once */
#define SOFT_JOURNAL 64u

struct soft_exec {
    soft_light mutex; /* of all below, and of the order of launches */
    bool
        plain; /* a launch takes no more than soft_exec_launch_plain() does, mostly; false
                   in a place that no executable has */
    struct soft_exec *next_free;
    atomic_uint
        references; /* the handle's, each launch's, each call's; this and all below is
                               zero at first */
    /* What each launch looks at, together: after a long graph none of it is in a cache. */
    soft_version *current;
    struct soft_trail *trail; /* trail.h; NULL: nobody reads how far launches are */
    struct soft_exec_memory *memory; /* memnode.h; NULL: no memory nodes */
    soft_point last;                 /* of the last launch */
    uint64_t flags;
    soft_device *device;
    soft_program *program;
    struct soft_object_set *objects; /* what it holds; launches hold it, too (R107) */
    soft_shape shape;
    uint32_t *costs; /* measured by the engine, by flat node */
    soft_version *versions[SOFT_VERSIONS_MAX];
    uint32_t version_count;
    uint64_t edits;
    uint32_t journal[SOFT_JOURNAL]; /* flat nodes edited last, by edit number */
    uint32_t *event_nodes;          /* flat nodes of event records and waits, batches */
    uint32_t event_count;
    soft_queue **fences; /* of event records: a launch's event is reached when its node
                             * runs; by event_nodes, NULL for waits */
    soft_conditions *conditions; /* values of conditional handles; NULL: none */
    struct soft_single *single;  /* conditional.h; NULL: the graph may have others */
    struct soft_side *side; /* deviceside.h; NULL: no kernel launches it, or from it */
    struct soft_updatables *updatables; /* updatable.h; NULL: none */
    struct soft_late *late;             /* late.c; NULL: no wait nodes */
    struct soft_watch *watch;           /* SOFTCUDA_CHECK=race; NULL: not asked for */
    struct soft_decision *decisions; /* device/noted.h, by flat number; NULL: no doctor */
    uint32_t decision_count;
};

/* A lock: between finding a handle and holding a reference nobody may end the executable. */
extern _Atomic uint32_t soft_exec_handles __attribute__((visibility("hidden")));

/* ---- plain.c */

/* Whether its launches are plain, as far as what it is made of and what the process asks for. */
bool soft_exec_is_plain(const soft_exec *exec);
/* One of them is over; `argument` is the version. */
void soft_exec_plain_done(void *argument, soft_worker *worker);
/* Whether one is under way. With the mutex. */
bool soft_plain_is_launched(const soft_exec *exec);
/* Lets go of a reference when `last` is reached; waits here only where memory is short. */
void soft_plain_release_after(soft_exec *exec, soft_point last);

/* ---- flat.c */

/* The graph, flat: what the program is made of, and the nodes of the shape. */
typedef struct soft_flat {
    soft_shape shape;  /* moves into the exec */
    soft_node **nodes; /* by flat number; NULL: entries and exits */
    soft_edge *edges;
    int *priorities;
    uint8_t *kinds;
    uint64_t edge_count;
    uint32_t has;         /* a bit a type of its nodes, and SOFT_HAS_* */
    size_t record_bytes;  /* of all records together */
    uint32_t *body_owner; /* by body: its conditional node */
    uint32_t *body_of;    /* by flat number: the body that it is in + 1 */
    uint32_t body_count;
} soft_flat;

/* What the engine knows of them; NULL if there are none. */
static inline const soft_bodies *soft_flat_bodies(const soft_flat *flat, soft_bodies *out)
{
    *out = (soft_bodies){flat->body_count, flat->body_owner, flat->body_of};
    return flat->body_count ? out : NULL;
}

/* A wait node does nothing in its place: the launch waits before it begins. */
static inline bool soft_flat_has_record(const soft_flat *flat, uint32_t at)
{
    return flat->nodes[at] && (flat->kinds[at] != SOFT_WORK_EMPTY ||
                               flat->nodes[at]->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT);
}

/* Nodes' `mark` is their flat number afterwards. */
CUresult soft_flat_init(soft_graph *graph, soft_flat *out);
void soft_flat_fini(soft_flat *flat); /* not the shape, if it was taken */

/* ---- decisions.c: what conditional nodes decide, where a doctor is attached */

CUresult soft_decisions_create(soft_exec *exec, const soft_flat *flat);
/* That of a flat node; NULL: nobody wants to know. */
struct soft_decision *soft_exec_decision(const soft_exec *exec, uint32_t flat);
/* A launch is over. */
void soft_decisions_end(const soft_exec *exec);
void soft_shape_fini(soft_shape *shape);
/* The flat node of a node, by what the exec was made from: an update does not change which (R69i);
 * SOFT_NO_NODE if it is not of it. */
uint32_t soft_shape_find(const soft_shape *shape, soft_node *node);
/* cycle.c: the node that a refusal names; NULL if there is no cycle, or no memory. */
soft_node *soft_graph_find_cycle(soft_graph *graph);
uint8_t soft_pack_edge(const CUgraphEdgeData *data);
/* A graph's sinks in the order in which they became sinks: each of its nodes is offered, then
 * they are ordered. `list` has room for all its nodes. */
typedef struct soft_sinks {
    soft_node **list;
    uint32_t count;
    bool mixed;
} soft_sinks;
void soft_sink_add(soft_sinks *sinks, soft_node *node);
void soft_sinks_order(soft_sinks *sinks);
uint32_t soft_graph_sinks(const soft_graph *graph, soft_node **out); /* how many */

/* ---- late.c */

typedef struct soft_late soft_late;
typedef struct soft_late_launch soft_late_launch;

/* What an executable with wait nodes needs for launches before their events; the flat
 * graph is as it was afterwards. */
CUresult soft_late_create(soft_exec *exec, soft_flat *flat, const int *priorities);
void soft_late_destroy(soft_late *late); /* takes NULL */
/* What a launch waits for, by the events as they are now: *first before it begins, and
 * *out at its nodes; NULL if there is no need. */
CUresult soft_late_prepare(const soft_exec *exec, soft_point *first,
                           soft_late_launch **out);
soft_program *soft_late_program(const soft_late *late);
const soft_work *soft_late_works(const soft_late_launch *launch);
soft_version *soft_late_end(soft_late_launch *launch); /* frees it */

/* ---- version.c */

/* What a node is to do. */
typedef struct soft_content {
    CUgraphNodeType type;
    uint64_t id; /* for messages */
    soft_context *context;
    const soft_task *task; /* KERNEL, MEMCPY, MEMSET, HOST and what is run as a call */
    soft_event *event;
    bool updatable; /* KERNEL: kernels change it */
} soft_content;

soft_content soft_content_of(const soft_node *node);
size_t soft_record_bytes(const soft_content *content);
/* A record, in a block of its own where `maker` is NULL. */
CUresult soft_exec_record_create(const soft_content *content, soft_record_maker *maker,
                                 soft_exec_record **out);
void soft_record_maker_fini(soft_record_maker *maker);
/* Asks for the lines of the record after the next SOFT_AHEAD ones, all as large as this. */
void soft_record_maker_fetch(const soft_record_maker *maker, size_t bytes);
/* Likewise all of a node, and its arguments, which were allocated right after it; and what
 * says whether it is a sink. */
static inline void soft_node_fetch(const soft_node *node)
{
    soft_fetch(node, offsetof(soft_node, copy) + sizeof(soft_arguments) + SOFT_LINE);
}
static inline void soft_node_fetch_ends(const soft_node *node)
{
    soft_fetch(node, offsetof(soft_node, dependents) + sizeof(uint64_t[2]));
}
/* What a copy's destination and source, or a fill's destination, refer to now. */
void soft_backing_of(soft_context *context, const soft_task *task, soft_backing out[2]);
/* Whether it is sure to be there still: nothing of the device was freed since. */
bool soft_backing_stays(const soft_task *task, const soft_backing backing[2]);
/* Whether launches of it are under way. */
bool soft_version_is_used(const soft_version *version);
/* One reference less. */
void soft_exec_record_release(soft_exec_record *record);
/* The first version, with a record for each node that does something; *offender is what
 * cannot be run. */
CUresult soft_version_first(soft_exec *exec, const soft_flat *flat, soft_node **offender);
void soft_versions_free(soft_exec *exec);

/* An edit, under the exec's mutex: a version equal to the current one that no launch
 * reads; it becomes the current one. */
soft_version *soft_version_open(soft_exec *exec);
/* Ties a fresh record to the executable: what node `at` runs with it, enabled as the exec's
 * node says. */
soft_work soft_version_bind(const soft_exec *exec, uint32_t at, soft_exec_record *record);
/* Node `at` has this record (taken) and its work from now on; both NULL: the record that it
 * has, and the work that it has by now. */
void soft_version_put(soft_exec *exec, soft_version *version, uint32_t at,
                      soft_exec_record *record, const soft_work *work);

/* Asks for what soft_version_put() will read and write. */
void soft_version_fetch(const soft_version *version, uint32_t at);

/* ---- pair.c */

/* Who is whose partner. */
typedef struct soft_pairing {
    const soft_shape *shape;
    soft_node **nodes; /* by flat number: the partner; `mark` of a node leads back */
    bool in_order; /* by the order of creation, as the setter of a child graph wants */
    CUgraphExecUpdateResult result; /* what did not fit, and where */
    soft_node *node, *from;
    /* What else two partners must agree on. Says why not in the pairing. */
    CUresult (*visit)(struct soft_pairing *pairing, uint32_t at, soft_node *node);
    /* Asks for what the visit of `at` will read. */
    void (*fetch)(const struct soft_pairing *pairing, uint32_t at);
} soft_pairing;

CUresult soft_pairing_init(soft_pairing *pairing, const soft_shape *shape);
void soft_pairing_fini(soft_pairing *pairing);
/* Notes why the update is refused: the node of the new graph, a dependency of it. */
CUresult soft_pairing_refuse(soft_pairing *pairing, CUgraphExecUpdateResult result,
                             soft_node *node, soft_node *from);
/* Pairs one graph with a level of the shape: GRAPH_EXEC_UPDATE_FAILURE if they differ. */
CUresult soft_pair_level(soft_pairing *pairing, uint32_t level, soft_graph *graph);

/* ---- update.c */

/* New parameters for a node. */
typedef struct soft_change {
    CUgraphNodeType type;
    uint64_t flags; /* of the instantiation */
    bool whole;     /* of a whole update, not of one node */
    bool launches;  /* its kernels may launch graphs: some did when it was made */
    const soft_exec_record *old, *new;
    CUgraphExecUpdateResult result; /* why not */
} soft_change;

/* change.c: whether the change may be made. */
CUresult soft_change_check(soft_change *change);
/* Whether the node wants what it has: most nodes of most updates. */
bool soft_change_is_none(soft_exec_record *old, const soft_node *node);
/* The parameters of a child graph's nodes. Both mutexes held. */
CUresult soft_exec_set_child(soft_exec *exec, uint32_t at, soft_graph *graph);

#endif
