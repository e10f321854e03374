// SPDX-License-Identifier: Apache-2.0
/* Which nodes get a sentinel. */
#ifndef GPHI_SENTINEL_SPOTS_H
#define GPHI_SENTINEL_SPOTS_H
#include "base/vec.h"
#include "graph/topology.h"

/* Their indices (uint32_t), rising; `every` as in gph_sentinel_options, the nodes' names
 * are regions. */
gph_status gphi_spots_find(const gph_graph *graph, const gphi_topology *topology,
                           uint32_t every, gphi_vec *out, gph_error *error);
#endif
