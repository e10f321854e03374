// SPDX-License-Identifier: Apache-2.0
/* gph plan --ladder: the buckets for a histogram of sizes, beside the ladders that others
 * use, judged by the same costs: a plan is worth what it is better than those. */
#include "commands.h"
#include "output.h"
#include "seems.h"

#include <stdlib.h>

/* vLLM captures some 70; what a command line may ask for is bounded all the same. */
enum { RUNGS_MAX = 65536 };

bool plan_ladder_read_options(const command_line *line, gph_plan_ladder_options *o)
{
    long bytes = 0, buckets = 0, multiple = 0; /* 0: no limit, any size */
    if (line->values[PLAN_OUT] || line->values[PLAN_TIME]) {
        fprintf(stderr, "gph plan: --%s cannot be combined with --ladder\n",
                line->values[PLAN_OUT] ? "out" : "time-limit");
        return false;
    }
    if (!option_number("capacity", line->values[PLAN_CAPACITY], 1, 1L << 53, &bytes) ||
        !option_number("buckets", line->values[PLAN_BUCKETS], 1, RUNGS_MAX, &buckets) ||
        !option_number("multiple", line->values[PLAN_MULTIPLE], 1, 1L << 32, &multiple))
        return false;
    o->byte_budget = (uint64_t)bytes;
    o->bucket_max = (uint32_t)buckets;
    o->multiple = (uint64_t)multiple;
    return true;
}

/* What a ladder means, in a row. */
static void put_meaning(const char *name, const gph_plan_ladder_result *r)
{
    put_row(stdout, name, "%zu buckets, padding %.1f %%, cost %.6g (%.3f of the least)",
            r->rung_count, 100 * r->padding, r->cost,
            r->cost_unbounded > 0 ? r->cost / r->cost_unbounded : 1.0);
}

/* One of the usual ladders beside: from 1 to the largest size. */
static void put_usual(const char *name, uint32_t kind, uint64_t top,
                      const gph_plan_histogram *histogram,
                      const gph_plan_ladder_options *options)
{
    static uint64_t rungs[RUNGS_MAX];
    const gph_plan_ladder_rule rule = {.kind = kind, .from = 1, .to = top};
    gph_plan_ladder_result result = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    size_t count = 0;
    if (gph_plan_ladder_make(&rule, rungs, RUNGS_MAX, &count, &error) == GPH_OK &&
        gph_plan_ladder_judge(histogram, options, rungs, count, &result, &error) ==
            GPH_OK)
        put_meaning(name, &result);
    else
        put_row(stdout, name, "%s", error.message);
}

static void put_rungs(const uint64_t *rungs, size_t count)
{
    fputs("ladder", stdout);
    int column = 6;
    for (size_t i = 0; i < count; i++) {
        char text[32];
        const int bytes =
            snprintf(text, sizeof(text), " %llu", (unsigned long long)rungs[i]);
        if (column + bytes > 79)
            column = printf("\n      ") - 1;
        column += bytes;
        fputs(text, stdout);
    }
    putchar('\n');
}

static void put_ladder(const gph_plan_histogram *histogram,
                       const gph_plan_ladder_options *o, const uint64_t *rungs,
                       const gph_plan_ladder_result *r)
{
    uint64_t calls = 0, top = 0;
    for (size_t i = 0; i < histogram->count; i++) {
        calls += histogram->sizes[i].count;
        top = histogram->sizes[i].size > top ? histogram->sizes[i].size : top;
    }
    put_rungs(rungs, r->rung_count);
    put_row(stdout, "calls", "%llu, of sizes up to %llu", (unsigned long long)calls,
            (unsigned long long)top);
    put_meaning(r->exact ? "planned" : "planned (not proven)", r);
    put_usual("powers of two", GPH_PLAN_LADDER_POWERS, top, histogram, o);
    put_usual("as vLLM", GPH_PLAN_LADDER_SERVING, top, histogram, o);
    if (o->eager.count != 0)
        put_row(stdout, "without a graph", "%llu calls",
                (unsigned long long)r->eager_count);
    if (o->bytes.count != 0)
        put_row(stdout, "bytes", "%.0f (%s)", r->bytes, bytes_text(r->bytes));
    if (o->seconds.count != 0)
        put_row(stdout, "start-up", "%.2f s", r->seconds);
}

int plan_ladder(gph_plan_ladder_options *options, const char *path, const char *text,
                size_t bytes)
{
    gph_plan_traffic *traffic = NULL;
    gph_plan_ladder_result result = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    if (gph_plan_traffic_read(text, bytes, NULL, &traffic, &error) != GPH_OK)
        return fail_read(text, bytes, path, FILE_SIZES, &error);
    gph_plan_traffic_curves(traffic, options);
    const gph_plan_histogram histogram = gph_plan_traffic_histogram(traffic);
    static uint64_t rungs[RUNGS_MAX];
    int code = EXIT_OK;
    if (gph_plan_ladder(&histogram, options, rungs, RUNGS_MAX, &result, &error) == GPH_OK)
        put_ladder(&histogram, options, rungs, &result);
    else
        code = fail(&error);
    gph_plan_traffic_destroy(traffic);
    return code;
}
