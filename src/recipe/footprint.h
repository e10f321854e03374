// SPDX-License-Identifier: Apache-2.0
/* What recordings used of a pool: kept with their graphs, and laid out again.
 *
 *   recipe   eager    [arena + 0x000, 4096)  [arena + 0x2000, 512)
 *            graph 0  recording 3: temporary, output, ...
 *   pool     the same blocks at the arena's base now; recording 3 has another number */
#ifndef GPHI_RECIPE_FOOTPRINT_H
#define GPHI_RECIPE_FOOTPRINT_H
#include "base/map.h"
#include "recipe/recipe.h"

/* Notes what a graph's recording used, and what is allocated besides. */
gph_status gphi_footprint_keep(const gphi_survey *survey, gph_pool *pool,
                               gph_recording_id recording,
                               struct gphi_bundle_graph *graph);

/* What was laid out in a pool. */
typedef struct gphi_footprint {
    gph_pool *pool; /* retained, or NULL: nothing */
    const gphi_bundle *bundle;
    const uint64_t *shift; /* of each range */
    gphi_vec eager;        /* CUdeviceptr: allocated here */
    gphi_map ids;          /* from numbers of recordings then to now */
} gphi_footprint;

void gphi_footprint_init(gphi_footprint *footprint, gph_allocator heap);
/* Frees what was allocated; recordings are their graphs'. */
void gphi_footprint_fini(gphi_footprint *footprint);

/* Allocates the eager memory of a bundle. On failure some of it is: end it all the same.
 * `bundle` and `shift` are used until the last gphi_footprint_restore(). */
gph_status gphi_footprint_begin(gphi_footprint *footprint, gph_pool *pool,
                                const gphi_bundle *bundle, const uint64_t *shift,
                                gph_error *error);

/* Makes a graph's recording again; makers of what it reads come first. */
gph_status gphi_footprint_restore(gphi_footprint *footprint,
                                  const struct gphi_bundle_graph *graph, const char *name,
                                  gph_recording_id *out, gph_error *error);
#endif
