// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes in a recipe: a graph and its bodies are parts, one row of nodes each.
 *
 *   nodes   a b IF c │ d WHILE │ e f │ g
 *   parts   0        │ 1 then  │ 2 else   3 body of the WHILE
 */
#ifndef GPHI_RECIPE_PARTS_H
#define GPHI_RECIPE_PARTS_H
#include "recipe/recipe.h"
#include "replay/query.h"

/* A part that is to be read, in the order of the parts. */
typedef struct gphi_part {
    CUgraph graph;
    const gph_graph *described; /* lent by the graph around it */
} gphi_part;

/* Reads a conditional node: its flow gets its handle, its bodies become parts at the end.
 * One that libgph did not make is refused. */
gph_status gphi_parts_read(const gphi_survey *survey, struct gphi_bundle_graph *out,
                           uint32_t index, CUgraphNode node, const gph_node *from,
                           gphi_vec *parts);

/* Notes which kernels of the caller's set handles; `nodes`: the driver's, of all parts. */
void gphi_parts_find_set(struct gphi_bundle_graph *out, const gphi_vec *nodes);

/* What a graph in a file is described as, bodies and all, from that part on. */
gph_status gphi_parts_describe(const gphi_bundle *bundle,
                               const struct gphi_bundle_graph *graph, uint32_t part,
                               const char *name, gph_graph **out, gph_error *error);

/* ---- building ---- */

/* Conditional nodes of a graph while it is built. */
typedef struct gphi_flows_built {
    gph_recording *known; /* describes the nodes afterwards; NULL: there are none */
    CUgraph *graphs;      /* by part; of bodies once their node is there */
    CUgraphConditionalHandle *handles; /* by flow; 0: its part has not begun */
} gphi_flows_built;

/* Makes room; gphi_flows_end() also after a failure. */
gph_status gphi_flows_begin(gphi_flows_built *flows, gph_runtime *runtime,
                            const struct gphi_bundle_graph *graph, CUgraph root,
                            gph_error *error);
/* All but `known`. */
void gphi_flows_end(gphi_flows_built *flows, gph_runtime *runtime,
                    const struct gphi_bundle_graph *graph);

/* A part begins: handles of the nodes in it are made, and put into `data` wherever kernels
 * have them. */
gph_status gphi_flows_enter(gphi_flows_built *flows, gph_runtime *runtime,
                            const struct gphi_bundle_graph *graph, uint32_t part,
                            unsigned char *data, gph_error *error);

/* Adds a conditional node after others. */
gph_status gphi_flows_add(gphi_flows_built *flows, gph_runtime *runtime,
                          const struct gphi_bundle_graph *graph, uint32_t index,
                          const CUgraphNode *before, size_t count, CUgraphNode *out,
                          gph_error *error);
#endif
