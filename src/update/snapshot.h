// SPDX-License-Identifier: Apache-2.0
/* A graph of the driver, described: its nodes in one row, those of child graphs after
 * those of the graph itself.
 *
 *   graph    0 kernel   1 child   2 kernel        child of 1    0 memset   1 kernel
 *   flat     0          1         2                             3          4
 *            ^ level 0, from 0                                  ^ level 1, from 3 */
#ifndef GPHI_UPDATE_SNAPSHOT_H
#define GPHI_UPDATE_SNAPSHOT_H
#include "base/vec.h"
#include "cuda/runtime.h"
#include "graph/topology.h"
#include "graph/update_rules.h"
#include <gph/update.h>
#include <stdatomic.h>
#include <stdbool.h>

/* One node of the row. */
typedef struct gphi_place {
    const gph_node *node;
    CUgraphNode handle;
    gphi_operand dst, src; /* of copies and fills */
    uint32_t level;        /* whose node it is */
    uint32_t child;        /* the level of its child graph; GPH_NODE_NONE */
    bool is_kern;          /* a kernel's handle is a CUkernel */
} gphi_place;

typedef struct gphi_level {
    const gph_graph *graph;
    gphi_topology topology;
    uint32_t first; /* flat number of its node 0 */
    uint32_t count;
    uint32_t parent; /* flat number of the child node; GPH_NODE_NONE */
} gphi_level;

struct gph_snapshot {
    atomic_uint references;
    gph_runtime *runtime;
    CUgraph source;
    CUcontext context; /* the current one: taken to be that of copies and fills, of which
                        * the driver does not report it */
    gph_graph *graph;
    uint32_t count; /* of the row */
    uint32_t level_count;
    gphi_place *places; /* `count` */
    gphi_level *levels; /* `level_count` */
    bool has_memory;    /* alloc or free nodes */
    bool has_unknown;   /* conditional nodes, of which nothing can be asked */
    bool has_bodies;    /* conditional nodes that libgph made: kernels hold handles */
};

/* A copy that its owner may change: places[i].node is not shared. */
gph_status gphi_snapshot_copy(const gph_snapshot *from, gph_snapshot **out,
                              gph_error *error);

/* The node of a copy, to be changed. */
gph_node *gphi_snapshot_node(gph_snapshot *copy, uint32_t flat);

/* A snapshot that the caller gave in its options: GPH_E_INVALID if it is of another graph,
 * whose handles setters would refuse (R69i); retained otherwise. */
gph_status gphi_snapshot_given(gph_snapshot *given, const gph_runtime *runtime,
                               CUgraph graph, gph_snapshot **out, gph_error *error);

/* Asks the driver what memory an operand refers to now. */
CUresult gphi_operands_ask(const gph_snapshot *snapshot, gphi_place *place);

/* "2/0": indices from the graph down to the node. */
void gphi_place_path(const gph_snapshot *snapshot, uint32_t flat, char *out,
                     size_t bytes);

/* The node of level 0 that it is, or is inside of. */
uint32_t gphi_place_top(const gph_snapshot *snapshot, uint32_t flat);
#endif
