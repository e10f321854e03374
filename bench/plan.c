// SPDX-License-Identifier: Apache-2.0
/* bench_plan [SECONDS]: address planning on public instances: how low, how fast. Each
 * challenge is asked to fit the capacity it was published with; the recorded traces to be
 * as low as they can be in a second. Greedy by size, as TFLite, XLA and XNNPACK lay out
 * memory, is beside: the first plan of ours, with no search after it. */
#include <gph/plan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gph_plan_table *load(const char *path)
{
    FILE *file = fopen(path, "rb");
    static char text[1 << 20];
    gph_plan_table *table = NULL;
    gph_error error = {0};
    const size_t bytes = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file == NULL ||
        gph_plan_table_read(text, bytes, NULL, &table, &error) != GPH_OK) {
        fprintf(stderr, "bench_plan: %s: %s\n", path, file ? error.message : "not there");
        exit(1);
    }
    fclose(file);
    return table;
}

static void row(const char *name, const char *path, uint64_t capacity, double seconds)
{
    gph_plan_table *table = load(path);
    const size_t count = gph_plan_table_count(table);
    const gph_plan_buffer *buffers = gph_plan_table_buffers(table);
    uint64_t *offsets = calloc(count, sizeof(*offsets));
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_plan_result greedy = GPH_SIZED(gph_plan_result);
    gph_plan_result best = GPH_SIZED(gph_plan_result);
    gph_error error = {0};
    options.time_limit_s = seconds;
    options.step_limit = 1;
    gph_status status =
        gph_plan_addresses(buffers, count, &options, offsets, &greedy, &error);
    options.step_limit = 0;
    options.capacity = capacity;
    if (status == GPH_OK)
        status = gph_plan_addresses(buffers, count, &options, offsets, &best, &error);
    if (status != GPH_OK)
        printf("%-9s %7zu  %s\n", name, count, error.message);
    else
        printf("%-9s %7zu %12llu %12llu %8.4f %8.4f %10llu %9.2f\n", name, count,
               (unsigned long long)best.lower_bound, (unsigned long long)best.height,
               (double)greedy.height / (double)best.lower_bound,
               (double)best.height / (double)best.lower_bound,
               (unsigned long long)best.steps, best.elapsed_s);
    fflush(stdout);
    free(offsets);
    gph_plan_table_destroy(table);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 60;
    const char *const challenges = "ABCDEFGHIJK";
    printf("%-9s %7s %12s %12s %8s %8s %10s %9s\n", "", "buffers", "bound", "height",
           "greedy", "ours", "steps", "seconds");
    for (const char *c = challenges; *c; c++) {
        const char name[2] = {*c, '\0'};
        char path[512];
        snprintf(path, sizeof(path), BENCH_TRACES "/minimalloc/%c.1048576.csv", *c);
        row(name, path, 1048576, seconds);
    }
    row("resnet50", BENCH_TRACES "/resnet50/resnet50.csv", 0, 1);
    row("decode", BENCH_TRACES "/examples/decode.csv", 0, 1);
    row("train", BENCH_TRACES "/examples/train.csv", 0, 1);
    return 0;
}
