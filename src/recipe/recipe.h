// SPDX-License-Identifier: Apache-2.0
/* What recording and loading share. */
#ifndef GPHI_RECIPE_RECIPE_H
#define GPHI_RECIPE_RECIPE_H
#include "base/map.h"
#include "base/sha256.h"
#include "cuda/runtime.h"
#include "file/bundle.h"
#include <gph/recipe.h>
#include <gph/recipe_load.h>

enum { GPHI_RECIPE_KEY_MAX = 64 }; /* numbers of a caller */

struct gph_recipe {
    gphi_bundle bundle;
};

static inline struct gphi_bundle_range *gphi_recipe_range(const gphi_bundle *bundle,
                                                          size_t index)
{
    return GPHI_BUNDLE_AT(&bundle->ranges, range, index);
}

/* The range that holds [address, address + bytes), or GPHI_BUNDLE_NONE. One past the end
 * of a range is in it, for 0 bytes, unless another one begins there. */
uint32_t gphi_range_of(const gphi_bundle *bundle, uint64_t address, uint64_t bytes);

/* entry.c: how far the arrays of a bundle reach, and back to there: graphs added since,
 * with their kernels and eager memory, are gone. */
typedef struct gphi_bundle_mark {
    size_t graphs, text, args, kernels, eager;
} gphi_bundle_mark;
gphi_bundle_mark gphi_recipe_mark(const gphi_bundle *bundle);
void gphi_recipe_go_back(gphi_bundle *bundle, gphi_bundle_mark mark);

/* What recording a graph needs all the way. */
typedef struct gphi_survey {
    gph_runtime *runtime;
    gphi_bundle *bundle;
    const gph_resolver *resolver; /* or NULL */
    gph_error *error;
    bool unset; /* words that nobody set are kept: gph_recipe_entry.unset */
} gphi_survey;

/* Keeps a reason why a graph cannot be kept; those beyond the 64th are dropped.
 * GPH_E_NO_MEMORY. `offset` -1: no word; `node` -1: the whole graph. */
gph_status gphi_refuse(const gphi_survey *survey, struct gphi_bundle_graph *graph,
                       int64_t node, uint32_t kind, int64_t offset, const char *format,
                       ...) GPH_PRINTF(6, 7);

/* survey.c: reads a graph of the driver into `out`: nodes, edges, kernels, attributes.
 * What cannot be kept becomes refusals. */
gph_status gphi_survey_graph(const gphi_survey *survey, CUgraph graph,
                             struct gphi_bundle_graph *out);

/* "then" and "else", "body", "case 2": what a part is, not the graph's own. */
void gphi_body_name(const struct gphi_bundle_graph *graph, uint32_t part, char out[24]);

/* words.c: finds the words that are addresses, or handles of conditional nodes. `shifted` (or NULL): the same work with
 * the ranges at their shifted addresses. */
gph_status gphi_find_words(const gphi_survey *survey, struct gphi_bundle_graph *graph,
                           const struct gphi_bundle_graph *shifted);

/* tensors.c */
gph_tensor gphi_tensor_at(const struct gphi_bundle_tensor *tensor, uint64_t base);
gph_status gphi_add_tensors(const gphi_survey *survey, struct gphi_bundle_graph *graph,
                            const gph_tensor *tensors, uint32_t count, const char *what);

/* loaded.c: takes a graph out of a load with GPH_RECIPE_LAZY: it has to be captured from
 * then on, as far as the load is concerned. Graph and recording are the caller's. */
void gphi_loaded_take(gph_loaded *loaded, uint32_t index, CUgraph *graph,
                      gph_recording_id *recording);
/* Undoes it. */
void gphi_loaded_give(gph_loaded *loaded, uint32_t index, CUgraph graph,
                      gph_recording_id recording);

/* A replay of an executable with given inputs, whose outputs are hashed. Tensors:
 * `inputs` of them, then `outputs`, at their addresses now. */
typedef struct gphi_check {
    gph_runtime *runtime;
    gph_exec *exec;
    const gph_tensor *tensors;
    uint32_t inputs, outputs;
    CUstream stream;
} gphi_check;
enum { GPHI_CHECK_BYTES_MAX = 16 << 20 };

/* tensors.c: bytes of all inputs, or UINT64_MAX if they are too many. */
uint64_t gphi_check_input_bytes(const gph_tensor *tensors, uint32_t inputs);
/* Copies what the inputs hold, one after the other, to or from `bytes`. */
gph_status gphi_check_copy(const gphi_check *check, void *bytes, bool to_device,
                           gph_error *error);
gph_status gphi_check_replay(const gphi_check *check,
                             unsigned char out[GPHI_BUNDLE_HASH_BYTES], gph_error *error);

/* What memory the driver knows at an address: a CUmemorytype, 0 if none. `known` has what
 * was asked before. */
gph_status gphi_memory_kind(gph_runtime *runtime, gphi_map *known, uint64_t address,
                            uint64_t *out, gph_error *error);
#endif
