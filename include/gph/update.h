/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Gives an executable graph new contents in the cheapest way that is correct: nothing,
 *  single nodes, the whole graph, or a new instantiation; and reports why.
 *  Tier: stable. */
#ifndef GPH_UPDATE_H
#define GPH_UPDATE_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/graph.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The contents of a driver's graph, described once: nodes with their handles,
 *  parameters, and the memory of its copies. Constant, so any thread may use it;
 *  reference counted. */
typedef struct gph_snapshot gph_snapshot;

/** Describes a graph of the driver. This costs more than a whole update with that graph,
 *  so it pays if one graph is used for many updates, or if refusals are to be predicted.
 *
 *  runtime  borrowed until gph_snapshot_release().
 *  graph    borrowed for the call; not changed. The snapshot keeps its nodes' handles.
 *  out      owned by the caller on success: gph_snapshot_release(). Untouched on failure.
 *
 *  Fails as gph_graph_describe(). Thread: any; no other thread may use `graph`
 *  meanwhile (CUDA's rule). */
GPH_API GPH_CHECKED gph_status gph_snapshot_take(gph_runtime *runtime, CUgraph graph,
                                                 gph_snapshot **out, gph_error *error);

/** One more owner. Returns `snapshot`. Thread: any. */
GPH_API gph_snapshot *gph_snapshot_retain(gph_snapshot *snapshot);

/** One owner less; the last one destroys it. NULL is allowed. Thread: any. */
GPH_API void gph_snapshot_release(gph_snapshot *snapshot);

/** The graph as data. Lent until the last release; NULL for NULL. Thread: any. */
GPH_API const gph_graph *gph_snapshot_graph(const gph_snapshot *snapshot);

/** The ways to give an executable new contents, cheapest first. */
typedef enum gph_update_way {
    GPH_UPDATE_NOTHING = 1,      /**< it has these contents already */
    GPH_UPDATE_NODES = 2,        /**< some nodes, each by its setter */
    GPH_UPDATE_WHOLE = 3,        /**< cuGraphExecUpdate */
    GPH_UPDATE_REINSTANTIATE = 4 /**< the driver would refuse an update: a new
                                      executable */
} gph_update_way;

/** What an update did or would do, and why. In the caller's memory, valid from
 *  GPH_UPDATE_REPORT_INIT to gph_update_report_fini(). */
typedef struct gph_update_report {
    uint32_t size;          /**< sizeof(gph_update_report) */
    uint32_t way;           /**< a gph_update_way */
    uint32_t node_count;    /**< of the graph, child graphs included */
    uint32_t changed_count; /**< nodes that differ, if `diff` is not NULL */
    /** If `way` is GPH_UPDATE_REINSTANTIATE: the driver's CUgraphExecUpdateResult, or 0
     *  if it gave another error. Else 0. */
    uint32_t result;
    /** 0: something that no query shows could still make the driver refuse, see `text`.
     */
    uint32_t is_certain;
    /** In the new graph, the refused node, or the child node that contains it; -1:
     *  none. */
    int64_t node;
    int64_t node_before;     /**< its partner in the executable; -1: none or unknown */
    int64_t node_from;       /**< a dependency of it that has another partner; -1: none */
    CUgraphNode handle;      /**< the driver's handle of the refused node; NULL: none */
    CUgraphNode handle_from; /**< the driver's handle of the dependency */
    const char *rule;        /**< the rule by which it is refused (docs/conformance.md),
                                  or NULL */
    const char *field;       /**< the field that may not change in this way, or NULL */
    char before[96];         /**< its value in the executable */
    char after[96];          /**< and in the graph */
    char text[384];          /**< the reason in one sentence */
    uint64_t ns;             /**< host time of gph_exec_update() */
    gph_diff *diff; /**< owned by the report: every difference; NULL: not requested */
} gph_update_report;
/** Nothing yet. */
#define GPH_UPDATE_REPORT_INIT                                                           \
    GPH_INIT(sizeof(gph_update_report), 0, 0, 0, 0, 0, -1, -1, -1, NULL, NULL, NULL,     \
             NULL, "", "", "", 0, NULL)

/** Frees what it holds. Thread: one at a time. */
GPH_API void gph_update_report_fini(gph_update_report *report);

/** Start from GPH_TRACK_OPTIONS_INIT. */
typedef struct gph_track_options {
    uint32_t size; /**< sizeof(gph_track_options) */
    /** 1: a successful call takes `graph`, which is destroyed with the executable. */
    uint32_t takes_graph;
    gph_snapshot *snapshot; /**< borrowed: a snapshot of `graph`; NULL: it is made now */
    /** Borrowed: the context of the graph's copies and fills. NULL: the current
     *  context. */
    CUcontext context;
} gph_track_options;
/** All defaults. */
#define GPH_TRACK_OPTIONS_INIT GPH_SIZED(gph_track_options)

/** Makes an executable remember its contents, so that its nodes can be edited by name,
 *  updates can be predicted, and refusals can name both values.
 *
 *  exec     borrowed for the call: just made from `graph` by gph_exec_create().
 *  graph    borrowed until the executable is destroyed or re-instantiated, since the
 *           setters of single nodes need its handles; taken if the options say so.
 *  options  borrowed for the call; NULL means all defaults.
 *
 *  Changes made directly through the driver from now on are not noticed: use only
 *  gph_exec_update() and gph_exec_edit().
 *
 *  Fails with GPH_E_INVALID (NULL, a snapshot of another graph), GPH_E_STATE (it is
 *  tracked already), GPH_E_NO_MEMORY and what the driver's queries return; nothing has
 *  changed then. Thread: one at a time. */
GPH_API GPH_CHECKED gph_status gph_exec_track(gph_exec *exec, CUgraph graph,
                                              const gph_track_options *options,
                                              gph_error *error);

/** Predicts what an update with a graph would do, without touching the executable.
 *
 *  exec    borrowed for the call: tracked.
 *  graph   borrowed for the call; not changed.
 *  report  the caller's, from GPH_UPDATE_REPORT_INIT; what it held is freed. Untouched on
 *          failure.
 *
 *  Fails with GPH_E_INVALID (NULL), GPH_E_STATE (not tracked), GPH_E_NO_MEMORY and what
 *  the driver's queries return. A predicted refusal is not a failure. Thread: one at
 *  a time. */
GPH_API GPH_CHECKED gph_status gph_exec_compatible(gph_exec *exec, CUgraph graph,
                                                   gph_update_report *report,
                                                   gph_error *error);

/** gph_exec_compatible() for a graph that was described before: it queries the driver
 *  only about addresses that changed. Failures and threads as there. */
GPH_API GPH_CHECKED gph_status gph_exec_compatible_with(gph_exec *exec,
                                                        const gph_snapshot *snapshot,
                                                        gph_update_report *report,
                                                        gph_error *error);

/** Start from GPH_UPDATE_OPTIONS_INIT. */
typedef struct gph_update_options {
    uint32_t size; /**< sizeof(gph_update_options) */
    /** 1: if the driver refuses, a new executable is made; no other thread may launch it
     *  meanwhile. 0: the refusal is returned to the caller. */
    uint32_t may_reinstantiate;
    uint32_t wants_diff; /**< 1: the report lists every difference (slow) */
    /** 1: if a new executable is made for a tracked one (report->way says so), `graph` is
     *  taken, as by gph_exec_track(); 0: it is then borrowed. */
    uint32_t takes_graph;
    /** Borrowed: a snapshot of `graph`, which has not changed since. With it, only the
     *  nodes of a tracked executable that differ are changed, if that is cheaper. The
     *  executable then keeps the user objects of its previous graph, so keep those of
     *  `graph` alive. */
    gph_snapshot *snapshot;
    /** Borrowed for the call: where a new executable is uploaded. NULL means the
     *  per-thread default stream. */
    CUstream upload_stream;
} gph_update_options;
/** All defaults. */
#define GPH_UPDATE_OPTIONS_INIT GPH_SIZED(gph_update_options)

/** Gives an executable the contents of a graph in the cheapest way that is correct. Later
 *  launches have them; launches in flight do not.
 *
 *  exec     borrowed for the call; need not be tracked.
 *  graph    borrowed for the call; see options.takes_graph.
 *  options  borrowed for the call; NULL means all defaults.
 *  report   may be NULL; the caller's, from GPH_UPDATE_REPORT_INIT. Filled in on a
 *           refusal too.
 *
 *  Fails with GPH_E_INVALID (NULL, a snapshot of another graph), GPH_E_NO_MEMORY,
 *  CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE or other errors with which the driver refuses,
 *  and what instantiating returns; the executable then has its previous contents and can
 *  be launched. Thread: one at a time; others may launch it meanwhile unless it may be
 *  re-instantiated. */
GPH_API GPH_CHECKED gph_status gph_exec_update(gph_exec *exec, CUgraph graph,
                                               const gph_update_options *options,
                                               gph_update_report *report,
                                               gph_error *error);

/** What to change in a node. */
typedef enum gph_edit_what {
    GPH_EDIT_ARG = 1,    /**< argument `index`: `data`, `bytes` of it, as declared */
    GPH_EDIT_GRID = 2,   /**< `size` */
    GPH_EDIT_BLOCK = 3,  /**< `size` */
    GPH_EDIT_SHARED = 4, /**< `value`: dynamic shared memory */
    GPH_EDIT_DST = 5,    /**< `value`: where a copy or a fill writes */
    GPH_EDIT_SRC = 6,    /**< `value`: where a copy reads */
    GPH_EDIT_WIDTH = 7,  /**< `value`: bytes of a copy of one row, elements of a fill */
    GPH_EDIT_VALUE = 8,  /**< `value`: the value of a fill's elements */
    GPH_EDIT_EVENT = 9,  /**< `value`: CUevent that is recorded or waited for */
    GPH_EDIT_FUNCTION = 10, /**< `value`: a host node's function */
    GPH_EDIT_USER = 11,     /**< `value`: a host node's argument */
    GPH_EDIT_ENABLED = 12   /**< `value`: 0 switches a kernel, copy or fill off, 1 on */
} gph_edit_what;

/** One edit of one node. Layout frozen: each step passes an array of it; `what` says how
 *  it is read. */
typedef struct gph_edit {
    /** Index among the nodes of the graph that it was made from; those of child graphs
     *  come after, in the order of their nodes. */
    uint32_t node;
    uint32_t what;    /**< a gph_edit_what */
    uint32_t index;   /**< GPH_EDIT_ARG: which */
    uint32_t bytes;   /**< GPH_EDIT_ARG: size of `data` */
    const void *data; /**< GPH_EDIT_ARG: borrowed for the call */
    uint64_t value;   /**< where `what` needs it */
    uint32_t size[3]; /**< where `what` needs it, x y z */
} gph_edit;

/** Edits single nodes by the driver's setters: all of the edits, or none. Edits of one
 *  node that follow each other cost one call. Later launches have them.
 *
 *  exec   borrowed for the call: tracked.
 *  edits  borrowed for the call; `count` of them.
 *
 *  Fails with GPH_E_INVALID (no such node, argument or field; a wrong size), GPH_E_STATE
 *  (not tracked; a whole update without a snapshot came before, or one with a graph that
 *  has several last nodes, so that the contents of the nodes are not known),
 *  GPH_E_NO_MEMORY, and what the driver's setters return. Thread: one at a time; others
 *  may launch it meanwhile, and those launches may see some of the edits. */
GPH_API GPH_CHECKED gph_status gph_exec_edit(gph_exec *exec, const gph_edit *edits,
                                             size_t count, gph_error *error);

/** Finds a node to edit.
 *
 *  name  borrowed for the call: a node's name, or its kernel's function.
 *  nth   which of several with that name, in the order of the nodes, counting from 0.
 *  out   the caller's: the index. Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (NULL, no such node) and GPH_E_STATE (not tracked). */
GPH_API GPH_CHECKED gph_status gph_exec_node_find(const gph_exec *exec, const char *name,
                                                  uint32_t nth, uint32_t *out,
                                                  gph_error *error);

/** The same by the driver's handle, of the graph that the executable was made from.
 *  Failures as gph_exec_node_find(). */
GPH_API GPH_CHECKED gph_status gph_exec_node_index(const gph_exec *exec, CUgraphNode node,
                                                   uint32_t *out, gph_error *error);

/** What updates did so far. */
typedef struct gph_update_stats {
    uint32_t size;                /**< sizeof(gph_update_stats) */
    uint64_t nothing_count;       /**< updates that found nothing to do */
    uint64_t nodes_count;         /**< updates by setters of single nodes */
    uint64_t node_set_count;      /**< calls of setters, those of edits included */
    uint64_t whole_count;         /**< whole updates */
    uint64_t reinstantiate_count; /**< new executables */
    uint64_t refused_count;       /**< refusals that were returned to the caller */
    uint64_t edit_count;          /**< calls of gph_exec_edit() that succeeded */
    uint64_t ns;                  /**< host time of all of them except edits */
    uint64_t node_ns;             /**< what one setter costs, as measured last */
    uint64_t whole_ns;            /**< what a whole update costs, as measured last */
    uint32_t last_way;            /**< a gph_update_way; 0: none yet */
    uint32_t crossover;    /**< number of nodes from which a whole update is assumed to be
                                cheaper */
    char last_reason[384]; /**< reason of the last re-instantiation or refusal, or why the
                                last way was taken */
} gph_update_stats;

/** Fills in the figures of an executable's updates; zeros if there were none. Thread: one
 *  at a time. */
GPH_API void gph_exec_update_stats_get(const gph_exec *exec, gph_update_stats *out);

#ifdef __cplusplus
}
#endif
#endif
