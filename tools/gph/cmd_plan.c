// SPDX-License-Identifier: Apache-2.0
/* gph plan: addresses for buffers of known lifetimes; buckets are ladder.c's.
 *
 * The table may come from and go to a pipe, so what is for people never goes to standard
 * output when rows do, and progress goes to standard error, if that is a terminal. */
#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "output.h"
#include "seems.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30 };

/* One line that is written over; plan() clears it. */
static int show_progress(void *user, const gph_plan_progress *now)
{
    (void)user;
    fprintf(stderr, "\r%5.1f of %g s: lowest plan %llu, bound %llu, %llu steps ",
            now->elapsed_s, now->limit_s, (unsigned long long)now->height,
            (unsigned long long)now->lower_bound, (unsigned long long)now->steps);
    fflush(stderr);
    return 0;
}

/* Writes the rows; true unless that failed, after a message. */
static bool put_rows(const char *path, const gph_plan_table *table,
                     const uint64_t *offsets)
{
    gph_error error = {0};
    if (strcmp(path, "-") != 0) {
        if (gph_plan_table_save(table, offsets, path, &error) == GPH_OK)
            return true;
        fail(&error);
        return false;
    }
    const gph_status status =
        gph_plan_table_write(table, offsets, gph_write_file, stdout, &error);
    return output_end() && status == GPH_OK;
}

/* False after a message. Options of the other half of the command are refused, not
 * ignored: who gives them expects them to do something. */
static bool read_options(const command_line *line, gph_plan_options *options)
{
    long capacity = 0, seconds = 60;
    if (line->values[PLAN_BUCKETS] || line->values[PLAN_MULTIPLE]) {
        fprintf(stderr, "gph plan: --%s needs --ladder\n",
                line->values[PLAN_BUCKETS] ? "buckets" : "multiple");
        return false;
    }
    if (!option_number("capacity", line->values[PLAN_CAPACITY], 1, 1L << 62, &capacity) ||
        !option_number("time-limit", line->values[PLAN_TIME], 1, 1000000, &seconds))
        return false;
    options->capacity = (uint64_t)capacity;
    options->time_limit_s = (double)seconds;
    if (has_terminal())
        options->progress = show_progress;
    return true;
}

/* The bound is a bound: a plan above it may be the lowest that there is all the same. */
static void put_result(const gph_plan_table *table, const gph_plan_result *r)
{
    put_row(stdout, "buffers", "%zu", gph_plan_table_count(table));
    size_t bodies = 0;
    gph_plan_table_bodies(table, &bodies);
    if (bodies != 0)
        put_row(stdout, "bodies", "%zu; cases of one choice share memory", bodies);
    put_row(stdout, "height", "%llu bytes (%s)", (unsigned long long)r->height,
            bytes_text((double)r->height));
    put_row(stdout, "lower bound", "%llu bytes, all that lives at one time",
            (unsigned long long)r->lower_bound);
    put_row(stdout, "height / bound", "%.4f%s",
            r->lower_bound ? (double)r->height / (double)r->lower_bound : 1.0,
            r->optimal ? ", proven lowest" : "");
    put_row(stdout, "time", "%.2f s, %llu steps", r->elapsed_s,
            (unsigned long long)r->steps);
}

static int plan(const gph_plan_table *table, gph_plan_options *options, const char *out)
{
    gph_plan_result result = GPH_SIZED(gph_plan_result);
    gph_error error = {0};
    const size_t count = gph_plan_table_count(table);
    uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
    if (!offsets) {
        fputs("gph: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    options->bodies = gph_plan_table_bodies(table, &options->body_count);
    const gph_status status = gph_plan_addresses(gph_plan_table_buffers(table), count,
                                                 options, offsets, &result, &error);
    if (options->progress)
        fputs("\r\033[K", stderr);
    int code = status == GPH_OK ? EXIT_OK : fail(&error);
    if (code == EXIT_OK && out && !put_rows(out, table, offsets))
        code = EXIT_FAILED;
    if (code == EXIT_OK && (!out || strcmp(out, "-") != 0))
        put_result(table, &result);
    free(offsets);
    return code;
}

int cmd_plan(const command_line *line)
{
    if (line->operand_count != 1) {
        fprintf(stderr, "gph plan: needs one file, got %d\ntry: gph help plan\n",
                line->operand_count);
        return EXIT_USAGE;
    }
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_plan_ladder_options ladder = GPH_PLAN_LADDER_OPTIONS_INIT;
    const bool is_ladder = line->values[PLAN_LADDER];
    if (is_ladder ? !plan_ladder_read_options(line, &ladder)
                  : !read_options(line, &options))
        return EXIT_USAGE;
    if (is_same_file(line->operands[0], line->values[PLAN_OUT])) {
        fputs("gph plan: --out names the file that is read\n", stderr);
        return EXIT_USAGE;
    }
    size_t bytes = 0;
    char *text = read_file(line->operands[0], FILE_BYTES_MAX, &bytes);
    gph_plan_table *table = NULL;
    gph_error error = {0};
    int code = EXIT_FAILED;
    if (text) {
        if (is_ladder)
            code = plan_ladder(&ladder, line->operands[0], text, bytes);
        else if (gph_plan_table_read(text, bytes, NULL, &table, &error) == GPH_OK)
            code = plan(table, &options, line->values[PLAN_OUT]);
        else
            code = fail_read(text, bytes, line->operands[0], FILE_TABLE, &error);
    }
    gph_plan_table_destroy(table);
    free(text);
    return code;
}
