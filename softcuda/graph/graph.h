// SPDX-License-Identifier: Apache-2.0
/* CUgraph and its nodes, as the program edits them; and CUgraphExec, what is launched.
 *
 *   soft_graph ── nodes in creation order
 *      node ── dependencies (incoming edges), dependents (outgoing), in the order in
 *           │  which they came
 *           ├─ kernel, memcpy, memset, host: a soft_task with its own copy of what it borrows
 *           ├─ event record, event wait:      the event, retained
 *           └─ child graph:                   a soft_graph of its own, owned by the node
 *
 *   soft_exec ── program of the engine (flat: child graphs are resolved)
 *            └─ version: works and records of one set of parameters, immutable while a
 *               launch reads it
 *
 * CUDA leaves it to the caller to serialize the use of one graph (R1..R69); one mutex
 * over all graph calls keeps a program that does not from crashing. */
#ifndef SOFT_GRAPH_GRAPH_H
#define SOFT_GRAPH_GRAPH_H

#include "softcuda/device/stream.h"

typedef struct soft_node soft_node;
typedef struct soft_graph soft_graph;
typedef struct soft_exec soft_exec;
typedef struct soft_object soft_object; /* CUuserObject */
typedef struct soft_condition soft_condition;

typedef struct soft_edge_end {
    soft_node *node;
    CUgraphEdgeData data;
} soft_edge_end;

/* It is not moved: `ends` may be its own. */
typedef struct soft_edge_list {
    soft_edge_end *ends; /* `one`, or of the heap */
    uint32_t count, capacity;
    soft_edge_end one; /* most nodes have an edge each way, or none */
} soft_edge_list;

/* References to user objects that a graph, or an executable one, holds. */
typedef struct soft_object_hold {
    soft_object *object;
    uint64_t count;
} soft_object_hold;
typedef struct soft_object_list {
    soft_object_hold *holds;
    uint32_t count, capacity;
} soft_object_list;

/* A kernel node's own arguments: `packed` in the kernel's layout, `pointers` into it, as
 * cuGraphKernelNodeGetParams() gives them out (R19). One block, which begins with the pointers;
 * all NULL without arguments. */
typedef struct soft_arguments {
    void **pointers;
    void *packed;
    void **extra; /* not NULL: given as `extra`, and so given out: SOFT_EXTRA_WORDS */
} soft_arguments;
#define SOFT_EXTRA_WORDS                                                                 \
    6u /* the list of five, and the bytes that one of them points to */

/* Of a kernel node, those that were set; priority and cooperative are in its launch. */
typedef struct soft_node_attributes {
    uint32_t set; /* a bit an id */
    CUlaunchAttributeValue values[CU_LAUNCH_ATTRIBUTE_MAX];
} soft_node_attributes;

struct soft_node {
    soft_graph *graph;
    CUgraphNodeType type;
    uint32_t place;          /* in graph->nodes */
    uint64_t id;             /* unique in the process */
    uint32_t mark, mark_out; /* scratch of whoever walks, under the mutex */
    soft_edge_list dependencies, dependents;
    uint64_t root_serial;   /* when it last became a root: rises */
    uint64_t sink_serial;   /* when it last became a sink: rises (R67) */
    uint64_t behind_serial; /* when it last got its first dependency: rises (cycle.c) */
    soft_context *context;
    soft_task task;      /* KERNEL, MEMCPY, MEMSET, HOST */
    soft_event *event;   /* EVENT_RECORD, WAIT_EVENT; retained */
    soft_graph *child;   /* GRAPH; owned */
    soft_graph **bodies; /* CONDITIONAL; owned, task.u.conditional.size of them */
    uint64_t origin;     /* id of the node that it was cloned from, or 0 */
    soft_node_attributes *attributes; /* KERNEL; NULL while none is set */
    struct soft_updatable *updatable; /* KERNEL that kernels change: updatable.h */
    struct soft_node_memory *memory;  /* MEM_ALLOC, MEM_FREE: memnode.c */
    struct soft_reach *reach;         /* likewise: the frees that come before it */
    /* The last member: a node has as much of it as its type needs (node.c). */
    union {
        soft_arguments arguments;     /* KERNEL */
        CUDA_MEMCPY3D copy;           /* MEMCPY, as given or as captured */
        CUDA_MEMSET_NODE_PARAMS fill; /* MEMSET */
        CUstreamBatchMemOpParams
            *operations; /* soft_is_batch(); owned, task.u.batch has them */
    };
};

/* What a graph has, or had once: so that nobody walks over it for what is not there. A bit a
 * type of nodes, and: */
#define SOFT_HAS(type) (UINT32_C(1) << CU_GRAPH_NODE_TYPE_##type)
#define SOFT_HAS_UPDATABLE (UINT32_C(1) << 30) /* kernels that kernels change */
#define SOFT_HAS_LAUNCHES (UINT32_C(1) << 31)  /* kernels that launch graphs */
#define SOFT_HAS_INNER (SOFT_HAS(GRAPH) | SOFT_HAS(CONDITIONAL))

struct soft_graph {
    uint64_t id;
    uint64_t number;   /* of graphs alone, from 1: what DOT calls it */
    soft_node **nodes; /* in creation order */
    uint32_t node_count, node_capacity;
    uint32_t has; /* SOFT_HAS_*; not of the graphs in it */
    bool ready;   /* its kernels have machine code */
    uint64_t edge_count;
    soft_node *parent;                /* the child-graph node that owns it, or NULL */
    bool moved;                       /* it was a graph of the program's before */
    uint64_t origin;                  /* id of the graph that it was cloned from, or 0 */
    soft_object_list objects;         /* object.c: references that it holds */
    struct soft_capture *capture;     /* captures into it now: not destroyable */
    struct soft_graph_memory *memory; /* memnode.c; NULL: no memory nodes in it */
    soft_condition *conditions; /* conditional.h: of a graph without parent, by handle */
    uint32_t condition_count, condition_capacity;
    struct soft_single *single; /* NULL: it has never been asked */
};

/* The graphs that a node owns, one after the other; NULL: no more. */
static inline soft_graph *soft_node_inner(const soft_node *node, uint32_t i)
{
    if (node->child)
        return i == 0 ? node->child : NULL;
    return node->bodies && i < node->task.u.conditional.size ? node->bodies[i] : NULL;
}

/* Every entry point of graphs and captures holds it. */
void soft_graph_lock(void);
void soft_graph_unlock(void);

/* graph.c, edge.c, node.c: all with the mutex held. */
CUresult soft_graph_create(soft_graph **out);
void soft_graph_destroy(soft_graph *graph); /* its nodes and child graphs too */
CUresult soft_graph_find(CUgraph handle, soft_graph **out);
CUresult soft_node_find(CUgraphNode handle, soft_node **out);
/* A copy, child graphs too; nodes keep their order. */
CUresult soft_graph_clone(const soft_graph *graph, soft_graph **out);

/* What a node is to be: `task` is copied with all it borrows. */
typedef struct soft_node_params {
    CUgraphNodeType type;
    soft_context *context;
    const soft_task *task;
    const CUDA_MEMCPY3D *copy;           /* MEMCPY; NULL: made from the task */
    const CUDA_MEMSET_NODE_PARAMS *fill; /* MEMSET; NULL: made from the task */
    soft_event *event;                   /* EVENT_RECORD, WAIT_EVENT */
    soft_graph *child;                   /* GRAPH: cloned, or taken if `move` */
    bool move;
    bool by_extra;                          /* KERNEL: arguments came as `extra` */
    const soft_node_attributes *attributes; /* KERNEL; may be NULL */
    struct soft_updatable *updatable; /* KERNEL: a copy has this one, too; may be NULL */
    bool captured; /* its edges are what the capture made: half edges of any kind */
    const struct soft_memory_params *memory; /* MEM_ALLOC, MEM_FREE: memnode.h */
} soft_node_params;

/* Adds a node after `dependencies` (nodes of the same graph, no duplicates, R1-R3).
 * Nothing is changed on failure. */
CUresult soft_node_add(soft_graph *graph, const soft_node_params *params,
                       const soft_edge_end *dependencies, uint32_t count,
                       soft_node **out);
/* Replaces a node's parameters; its type stays. Nothing is changed on failure. */
CUresult soft_node_set(soft_node *node, const soft_node_params *params);
void soft_node_destroy(soft_node *node); /* severs its edges (R9) */
/* The copy of a node in a clone of its graph (R24). */
CUresult soft_node_find_in_clone(const soft_node *node, const soft_graph *clone,
                                 soft_node **out);

/* attribute.c: of kernel nodes. */
CUresult soft_node_attribute_get(const soft_node *node, CUlaunchAttributeID id,
                                 CUlaunchAttributeValue *out);
CUresult soft_node_attribute_set(soft_node *node, CUlaunchAttributeID id,
                                 CUlaunchAttributeValue *value);
/* Adds what a kernel node has of its own: not priority and cooperative. */
void soft_node_attributes_add(soft_node_attributes *to, CUlaunchAttributeID id,
                              const CUlaunchAttributeValue *value);
CUresult soft_node_attributes_copy(soft_node *to, const soft_node *from);

/* Edges (R4-R6, R10-R14). `data` may be NULL: all zero. */
CUresult soft_edges_add(soft_graph *graph, soft_node *const *from, soft_node *const *to,
                        const CUgraphEdgeData *data, size_t count);
CUresult soft_edges_remove(soft_graph *graph, soft_node *const *from,
                           soft_node *const *to, size_t count);
/* Whether edge data between two types is allowed; INVALID_VALUE with the reason. */
CUresult soft_edge_check(const soft_node *from, CUgraphNodeType to,
                         const CUgraphEdgeData *data);
/* Room for more ends; nothing is changed on failure. */
CUresult soft_edge_list_reserve(soft_edge_list *list, uint32_t more);
CUresult soft_edge_list_push(soft_edge_list *list, soft_node *node,
                             const CUgraphEdgeData *data);
void soft_edge_list_fini(soft_edge_list *list);

/* object.c: user objects. Any thread; what takes a graph wants its mutex held. */
CUresult soft_object_create(void *pointer, CUhostFn destroy, unsigned count,
                            soft_object **out);
CUresult soft_object_find(CUuserObject handle, soft_object **out);
CUresult soft_object_retain(soft_object *object, unsigned count);
CUresult soft_object_release(soft_object *object, unsigned count);
CUresult soft_graph_retain_object(soft_graph *graph, soft_object *object, unsigned count,
                                  bool move);
CUresult soft_graph_release_object(soft_graph *graph, soft_object *object,
                                   unsigned count);
/* Adds what `graph` holds to `list`, with references of its own; child graphs' too if
 * `deep` (what an executable graph holds). Nothing is changed on failure. */
CUresult soft_objects_hold(soft_object_list *list, const soft_graph *graph, bool deep);
/* Lets all of them go, and the list's memory; destructors run on the host thread. */
void soft_objects_drop(soft_object_list *list);

/* exec.c */
CUresult soft_exec_create(soft_graph *graph, uint64_t flags, soft_exec **out,
                          CUDA_GRAPH_INSTANTIATE_PARAMS *result);
/* The same without a word where it is none: NULL. */
soft_exec *soft_exec_hold(CUgraphExec handle);
/* A reference, so that another thread cannot end it meanwhile; soft_exec_release(). */
CUresult soft_exec_acquire(CUgraphExec handle, soft_exec **out);
void soft_exec_release(soft_exec *exec);
uint64_t soft_exec_flags(const soft_exec *exec);
/* In flight: freed on completion (R37). */
CUresult soft_exec_destroy(CUgraphExec handle);
CUresult soft_exec_launch(soft_exec *exec, soft_stream *stream);
/* The same where that is a submission and no more: nothing watches, no memory, no events, the
 * stream waits for nobody. False: nothing was done. The handle need not be one. */
bool soft_exec_launch_plain(CUgraphExec handle, soft_stream *stream);
CUresult soft_exec_upload(soft_exec *exec, soft_stream *stream);
/* gph_softcuda_trail(): INVALID_VALUE where `count` is wrong. */
CUresult soft_exec_trail(soft_exec *exec, uint32_t *words, uint32_t count);
/* Returns when an edit of the executable graph would not have to wait for launches; to be
 * called before the graph mutex is taken. */
void soft_exec_reserve(soft_exec *exec);

/* update.c, setters.c: all with the graph mutex held; they affect later launches only
 * (R34), and change nothing where they fail. */
CUresult soft_exec_update(soft_exec *exec, soft_graph *graph,
                          CUgraphExecUpdateResultInfo *out);
CUresult soft_exec_set_node(soft_exec *exec, soft_node *node,
                            const soft_node_params *params);
CUresult soft_exec_set_enabled(soft_exec *exec, soft_node *node, bool enabled);
CUresult soft_exec_get_enabled(soft_exec *exec, soft_node *node, bool *out);

/* dot.c */
CUresult soft_graph_write_dot(const soft_graph *graph, const char *path, uint32_t flags);

/* capture_work.c */
void soft_capture_install(void); /* the hooks of device/stream.h */

#endif
