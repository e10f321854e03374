// SPDX-License-Identifier: Apache-2.0
/* What decode prints. */
#ifndef DECODE_REPORT_H
#define DECODE_REPORT_H

#include "batch.h"
#include "online.h"
#include "options.h"
#include "serve.h"
#include "tokens.h"

/* The runs of one mode. */
typedef struct mode_result {
    const char *name;
    uint32_t batch;
    batch_stats stats; /* of the run that took the median time */
    batch_stats runs[REPEAT_MAX];
    uint32_t run_count; /* 0: this mode was not asked for */
    sequence *list;
    size_t count;
    size_t exact; /* answers; only with problems */
} mode_result;

/* All runs with one size of batch. */
typedef struct leg {
    mode_result result[MODE_COUNT]; /* by decode_mode */
    size_t logit_bytes;             /* compared */
    bool alike;                     /* every token and byte, in every turn */
} leg;

/* What the run was about. */
typedef struct report {
    const char *program; /* argv[0] */
    const char *model;   /* folder */
    const options *o;
    const device *d;
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

/* The table, a row a batch and mode. */
void report_table(const report *r, const leg *legs, size_t count);

/* What else there is to say of a leg: how its modes compare. */
void report_leg(const report *r, const leg *l);

/* One way of serving. */
typedef struct serve_result {
    const char *name;
    serve_stats stats;
    sequence *list;
    size_t count, exact;
} serve_result;

/* Eager and recorded serving side by side; `alike`: they gave the same tokens. */
void report_serve(const report *r, const serve_result *eager,
                  const serve_result *recorded, bool alike);

/* Who launches the graphs of arriving requests. */
typedef struct online_result {
    const char *name;
    online_stats stats;
    sequence *list;
    size_t count, exact;
} online_result;

/* The host and the device side by side; `alike`: they gave the same tokens. */
void report_online(const report *r, const online_result *host,
                   const online_result *served, bool alike);

void report_next(const report *r);

#endif
