// SPDX-License-Identifier: Apache-2.0
/* The command line of ranks, and what it prints. */
#ifndef RANKS_OPTIONS_H
#define RANKS_OPTIONS_H

#include <gph/gph.h>
#include <stdbool.h>

enum {
    RUN_EAGER = 1, /* a launch a kernel */
    RUN_GRAPH = 2, /* a graph a token, sums by NCCL */
    RUN_OWN = 4,   /* a graph a token, sums by libgph's own kernel */
    RUN_ALL = 7    /* those that can be here */
};

typedef struct options {
    unsigned modes; /* RUN_ bits */
    uint32_t requests, tokens, ahead, repeat, width, layers;
    bool check, times; /* times: --repeat was given */
    const char *model;
} options;

/* Fails with GPH_E_INVALID, naming option and value. */
GPH_CHECKED gph_status options_read(int count, char **words, options *out,
                                    gph_error *error);
/* All that must be the same on every rank, in words. */
void options_text(const options *o, char *out, size_t bytes);

void options_print_mode(const options *o, const char *name, double us, double first);
void options_print_tokens(const options *o, uint32_t request, const int *token);

#endif
