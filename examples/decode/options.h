// SPDX-License-Identifier: Apache-2.0
/* The command line of decode. */
#ifndef DECODE_OPTIONS_H
#define DECODE_OPTIONS_H

#include <gph/gph.h>
#include <stdbool.h>

enum { REPEAT_MAX = 15 };
enum {
    RUN_EAGER = 1,
    RUN_GRAPH = 2,
    RUN_LOOP = 4,
    RUN_MODES = 7, /* all of those */
    RUN_CACHE = 8,
    RUN_TREE = 9,
    RUN_DISPATCH = 10
};

typedef struct options {
    unsigned modes;                 /* a RUN_ value; the first three are bits */
    gph_loop_way way;               /* of loops */
    uint32_t batch[2], batch_count; /* sizes to run with */
    uint32_t limit, new_tokens, queue, expect, repeat, gap_us;
    const char *problems, *model, *tokens, *kernels, *trace;
    double top_p, temperature;
    uint64_t seed;
    gph_driver driver;
    bool help;
} options;

/* Fills *out from the command line. Fails with GPH_E_INVALID, naming option and value. */
GPH_CHECKED gph_status options_read(int count, char **words, options *out,
                                    gph_error *error);
void options_help(void);

#endif
