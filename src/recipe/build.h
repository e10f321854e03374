// SPDX-License-Identifier: Apache-2.0
/* From the arrays of a recipe to graphs of the driver. */
#ifndef GPHI_RECIPE_BUILD_H
#define GPHI_RECIPE_BUILD_H
#include "device/setters.h"
#include "recipe/recipe.h"

#include <gph/recipe_load.h>

/* A kernel of the recipe in this process. */
struct gphi_found {
    CUfunction function; /* NULL: see status and why */
    gph_status status;
    char why[256];
};

/* What building takes. */
typedef struct gphi_build {
    gph_runtime *runtime;
    const gphi_bundle *bundle;
    struct gphi_found *found; /* an entry a kernel */
    uint64_t *shift;          /* of each range: where it lies now minus where it lay */
    gphi_kernels *setters;    /* of libgph's own kernels, or NULL */
    gph_error *error;
} gphi_build;

/* Finds every kernel of the bundle; one that is not there is not a failure. Fails with what
 * is wrong beyond one kernel. */
gph_status gphi_find_kernels(const gphi_build *build, const gph_resolver *resolver);

/* Makes a graph of the driver. `out` is the caller's: cuGraphDestroy(). `known` describes
 * its conditional nodes, and keeps the kernels that set them: gphi_recording_release() after
 * the graph and its executables; NULL: it has none. */
gph_status gphi_build_graph(const gphi_build *build,
                            const struct gphi_bundle_graph *graph, CUgraph *out,
                            gph_recording **known);

/* For the attached library: ranges that stay where they were recorded, where the caller has
 * placed others. */
void gphi_tell_unplaced(const gphi_build *build, const gph_loaded_options *options,
                        const void *loaded);

/* What must be equal for executables to be shared, as a hash. */
void gphi_topology_hash(const struct gphi_bundle_graph *graph,
                        unsigned char out[GPHI_BUNDLE_HASH_BYTES]);

/* Where a word that is an address is, in these arrays of the graph or copies of them:
 * 8 bytes, aligned or not. */
void *gphi_word_place(const struct gphi_bundle_graph *graph,
                      const struct gphi_bundle_word *word, unsigned char *data,
                      gph_memcpy_params *copies, gph_memset_params *fills);
#endif
