// SPDX-License-Identifier: Apache-2.0
/* Which node of one graph is which of another. */
#ifndef GPHI_GRAPH_MATCH_H
#define GPHI_GRAPH_MATCH_H
#include <gph/graph.h>
#include <stdbool.h>

/* Fills `partner`, an entry for each node of `a`: a node of `b`, or GPH_NODE_NONE.
 * *is_exact: the two have one topology, and their nodes kinds that agree. Fails with
 * GPH_E_NO_MEMORY. */
gph_status gphi_match(const gph_graph *a, const gph_graph *b, uint32_t *partner,
                      bool *is_exact);
#endif
