// SPDX-License-Identifier: Apache-2.0
/* Who depends on whom, in the order by which the driver pairs nodes at an update, and the
 * pairing itself.
 *
 *   first graph    s1 s2 s3      1. the nodes without dependents, from the last one back
 *   second graph   t1 t2 t3      2. pair by pair, first come first served: as many
 *                                   dependencies? what else the visitor asks? then their
 *                                   dependencies are partners, in the order of the edges
 *
 * (R64 to R68 and docs/conformance.md; the driver orders nodes without dependents by when
 * they became that, which no query reports: here it is their order in the graph, which is
 * the same unless edges were removed.) */
#ifndef GPHI_GRAPH_TOPOLOGY_H
#define GPHI_GRAPH_TOPOLOGY_H
#include <gph/graph.h>
#include <stdbool.h>

typedef struct gphi_topology {
    gph_allocator heap;
    const gph_graph *graph;
    uint32_t count;      /* nodes */
    uint32_t edges;      /* at most 2^32 - 1 */
    uint32_t sink_count; /* nodes without dependents */
    uint32_t *first;     /* count + 1: where node i's dependencies begin */
    uint32_t *deps;      /* `edges`: nodes, in the order of the graph's edges */
    uint32_t *sinks;     /* `sink_count`, by index */
    uint8_t *data;       /* `edges`: ports and type in one byte */
} gphi_topology;

/* The graph must live, and not change, as long. */
gph_status gphi_topology_init(gphi_topology *topology, const gph_graph *graph);
/* Takes a zeroed one. */
void gphi_topology_fini(gphi_topology *topology);

/* Byte for byte the same: node i's partner is node i. */
bool gphi_topology_same(const gphi_topology *a, const gphi_topology *b);

/* Why two graphs could not be paired. */
typedef enum gphi_mismatch {
    GPHI_MATCH = 0,
    GPHI_MISMATCH_COUNT,      /* another number of nodes */
    GPHI_MISMATCH_SINKS,      /* another number of nodes without dependents */
    GPHI_MISMATCH_DEGREE,     /* a node has another number of dependencies */
    GPHI_MISMATCH_DEPENDENCY, /* a dependency's partner is another, or its data is */
    GPHI_MISMATCH_CYCLE,
    GPHI_MISMATCH_VISIT /* the visitor refused */
} gphi_mismatch;

typedef struct gphi_pairing {
    const gphi_topology *a, *b;
    uint32_t *partner; /* a's node i is b's node partner[i] */
    uint32_t *back;    /* b's node i is a's node back[i] */
    /* What else two partners must agree on; false ends the pairing. NULL: nothing. */
    bool (*visit)(void *user, const struct gphi_pairing *pairing, uint32_t a, uint32_t b);
    void *user;
    bool any_data; /* edges of other data are as good */
    gphi_mismatch mismatch;
    uint32_t node_a, node_b, from_b; /* where; GPH_NODE_NONE: nowhere in particular */
} gphi_pairing;

/* Pairs; GPH_OK whether they fit or not, GPH_E_NO_MEMORY. gphi_pairing_fini() in each
 * case. */
gph_status gphi_pairing_run(gphi_pairing *pairing);
void gphi_pairing_fini(gphi_pairing *pairing);

/* The nodes in the order in which the pairing comes by them, sinks first: as many as it
 * reaches, all unless there is a cycle. `order` has an entry a node. */
gph_status gphi_topology_order(const gphi_topology *topology, uint32_t *order,
                               uint32_t *reached);
#endif
