// SPDX-License-Identifier: Apache-2.0
/* What decode prints. */
#ifndef DECODE_REPORT_H
#define DECODE_REPORT_H

#include "batch.h"
#include "options.h"
#include "tokens.h"

/* A mode's run. */
typedef struct mode_result {
    const char *name;
    batch_stats stats;
    sequence *list;
    size_t count;
    size_t exact; /* answers; only with problems */
} mode_result;

/* What the run was about. */
typedef struct report {
    const char *program; /* argv[0] */
    const char *model;   /* folder */
    const options *o;
    const device *d;
    const decoder *m;
    const weights *w;
    const problem *problems; /* NULL with --tokens */
    size_t problem_count;
    size_t prompt_count; /* tokens of --tokens */
} report;

/* On a terminal: one line that is overwritten, and taken away by report_progress_end().
 */
void report_progress(const char *what, size_t done, size_t all);
void report_progress_end(void);

void report_head(const report *r);

/* A few problems as they were answered, or the tokens that were generated. */
void report_answers(const report *r, const mode_result *result);

/* The table, a row a mode. */
void report_table(const report *r, const mode_result *results, size_t count);

/* How the modes compare, of which `alike` says that every token and byte is equal. */
void report_comparison(const mode_result *eager, const mode_result *graph,
                       size_t logit_bytes, bool alike);

void report_next(const report *r);

#endif
