// SPDX-License-Identifier: Apache-2.0
/* Serving: requests come and go, so that each step has another number of rows (cache), or
 * the host decides between two graphs by what the last one computed (tree). */
#ifndef DECODE_SERVE_H
#define DECODE_SERVE_H

#include "batch.h"

#include <gph/cache_figures.h>

typedef enum serve_mode {
    SERVE_EAGER, /* steps over the live requests, launch by launch */
    SERVE_CACHE, /* the same, in buckets of 1, 2, 4, ... rows */
    SERVE_TREE   /* one request at a time; guesses are verified, see rows.h */
} serve_mode;

typedef struct serve_options {
    serve_mode mode;
    const char *trace; /* a file for what the largest bucket allocates; or NULL */
} serve_options;

typedef struct serve_stats {
    uint64_t steps, tokens, prompt_tokens, prefills;
    uint64_t decode_ns, prefill_ns; /* wall time */
    uint64_t host_ns;               /* inside the calls that put a step into the stream */
    uint32_t rows_max;              /* most requests at a time */
    uint64_t rows;                  /* of all steps, padding not counted */
    uint64_t guessed, held; /* tokens guessed, and those that the model confirmed */
    uint64_t short_looks;   /* steps that verified GUESSES tokens, not twice that */
    gph_cache_stats cache;
    gph_tree_stats tree;
    char text[4096]; /* the cache's table, or the tree in its short form */
} serve_stats;

/* Runs all sequences. They arrive in bursts, at moments that depend on their number and
 * on the count of steps alone. SERVE_TREE needs a decoder of one slot. */
GPH_CHECKED gph_status serve_run(decoder *m, const serve_options *options, sequence *list,
                                 size_t count, serve_stats *stats, gph_error *error);

#endif
