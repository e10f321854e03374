// SPDX-License-Identifier: Apache-2.0
/* The commands, one file each. They return the exit status. Indices of options are those
 * of the table in main.c: an enum and its options are changed together, in one order.
 *
 * What is below the commands are their helpers in files of their own. */
#ifndef COMMANDS_H
#define COMMANDS_H
#include "option.h"
#include <gph/gph.h>

enum { RUN_DRIVER, RUN_SUMMARY };
int cmd_run(const command_line *line);

enum {
    DOCTOR_DRIVER,
    DOCTOR_TIER,
    DOCTOR_NODES,
    DOCTOR_KERNELS,
    DOCTOR_ADVISE,
    DOCTOR_CAPTURABLE,
    DOCTOR_JSON,
    DOCTOR_SAVE,
    DOCTOR_EVENTS,
    DOCTOR_LANG,
    DOCTOR_QUIET,
    DOCTOR_REPORT,
    DOCTOR_TRACE,
    DOCTOR_SUMMARY,
    DOCTOR_GRACE,
    DOCTOR_WATCH,
    DOCTOR_SENTINELS,
    DOCTOR_LEAVE,
    DOCTOR_CHECK
};
int cmd_doctor(const command_line *line);

enum { ENV_DRIVER };
int cmd_env(const command_line *line);

enum {
    INSPECT_DOT,
    INSPECT_PTX,
    INSPECT_IR,
    INSPECT_ASM,
    INSPECT_SLOW,
    INSPECT_QUICK,
    INSPECT_JSON
};
int cmd_inspect(const command_line *line);

enum { DIFF_HANDLES, DIFF_QUIET };
int cmd_diff(const command_line *line);

enum { BENCH_DRIVER, BENCH_NODES, BENCH_LAUNCHES };
int cmd_bench(const command_line *line);

enum { PLAN_CAPACITY, PLAN_TIME, PLAN_OUT, PLAN_LADDER, PLAN_BUCKETS, PLAN_MULTIPLE };
int cmd_plan(const command_line *line);

enum { EXPLAIN_LANG, EXPLAIN_JSON, EXPLAIN_LIST, EXPLAIN_MARKDOWN };
int cmd_explain(const command_line *line);

int cmd_version(const command_line *line);

enum { HELP_SCDOC, HELP_COMPLETION };
int cmd_help(const command_line *line);

/* gph plan --ladder: its options, false after a message, and the ladder for a table's
 * text, whose curves are put into the options. */
bool plan_ladder_read_options(const command_line *line, gph_plan_ladder_options *out);
int plan_ladder(gph_plan_ladder_options *options, const char *path, const char *text,
                size_t bytes);

/* gph inspect of a recipe, and whether a file begins as one. */
int inspect_recipe(const char *path, const char *named);
bool is_recipe(const char *path);

/* gph inspect --ptx: `flags` as gph_softcuda_report_write() takes them. */
int inspect_ptx(const char *path, unsigned int flags);
#endif
