// SPDX-License-Identifier: Apache-2.0
/* Runs many sequences through a fixed number of slots. A sequence that ends frees its
 * slot; when a quarter of the slots is free, the next prompts are prefilled into them
 * together. Steps are queued ahead of what the host has seen, at most `queue` of them.
 * The order of everything depends on the tokens alone, so every mode does the same work.
 */
#ifndef DECODE_BATCH_H
#define DECODE_BATCH_H

#include "decoder.h"

typedef struct sequence {
    const int *prompt;
    uint32_t prompt_count;
    uint32_t new_max; /* tokens to generate at most */
    int *out;         /* room for new_max */
    uint32_t out_count;
} sequence;

typedef enum decode_mode { MODE_EAGER, MODE_GRAPH, MODE_LOOP, MODE_COUNT } decode_mode;

typedef struct batch_stats {
    uint64_t steps, launches; /* of decode steps; calls of the driver */
    uint64_t tokens;          /* from decode steps; each prompt's first one not counted */
    uint64_t prompt_tokens, prefills;
    uint64_t decode_ns, prefill_ns; /* wall time */
    uint64_t host_ns;               /* of decode_ns: inside launch calls */
    uint64_t capture_ns;            /* capture, instantiate, upload: once */
    uint32_t nodes;                 /* launches a step */
    uint64_t loops,
        loop_cpu_ns;    /* MODE_LOOP: launches, and the host's CPU time in them */
    gph_loop_ways ways; /* and who starts the rounds */
} batch_stats;

/* How. */
typedef struct batch_options {
    decode_mode
        mode; /* MODE_GRAPH: a step is captured first and then replayed; MODE_LOOP:
                         and runs on the device until slots have to be filled again */
    gph_loop_way way; /* MODE_LOOP: who starts the rounds */
} batch_options;

/* Runs all sequences. */
GPH_CHECKED gph_status batch_run(decoder *m, const batch_options *how, sequence *list,
                                 size_t count, batch_stats *stats, gph_error *error);

#endif
