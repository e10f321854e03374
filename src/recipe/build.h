// SPDX-License-Identifier: Apache-2.0
/* From the arrays of a recipe to graphs of the driver. */
#ifndef GPHI_RECIPE_BUILD_H
#define GPHI_RECIPE_BUILD_H
#include "recipe/recipe.h"

/* A kernel of the recipe in this process. */
struct gphi_found {
    CUfunction function; /* NULL: see status and why */
    gph_status status;
    char why[256];
};

/* Finds every kernel of a bundle; one that is not there is not a failure. `found` has an
 * entry a kernel. Fails with what is wrong beyond one kernel. */
gph_status gphi_find_kernels(gph_runtime *runtime, const gphi_bundle *bundle,
                             const gph_resolver *resolver, struct gphi_found *found,
                             gph_error *error);

/* What building takes. */
typedef struct gphi_build {
    gph_runtime *runtime;
    const gphi_bundle *bundle;
    struct gphi_found *found; /* an entry a kernel */
    uint64_t *shift;          /* of each range: where it lies now minus where it lay */
    gph_error *error;
} gphi_build;

/* Makes a graph of the driver. `out` is the caller's: cuGraphDestroy(). */
gph_status gphi_build_graph(const gphi_build *build,
                            const struct gphi_bundle_graph *graph, CUgraph *out);

/* What must be equal for executables to be shared, as a hash. */
void gphi_topology_hash(const struct gphi_bundle_graph *graph,
                        unsigned char out[GPHI_BUNDLE_HASH_BYTES]);

/* Where a word that is an address stands, in these arrays of the graph or copies of them:
 * 8 bytes, aligned or not. */
void *gphi_word_place(const struct gphi_bundle_graph *graph,
                      const struct gphi_bundle_word *word, unsigned char *data,
                      gph_memcpy_params *copies, gph_memset_params *fills);
#endif
