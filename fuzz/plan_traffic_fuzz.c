// SPDX-License-Identifier: Apache-2.0
/* A histogram of whatever bytes: refused, or read; and what was read is refused, or gets
 * a ladder that covers it and costs what the judge says. */
#include <gph/plan.h>
#include <gph/plan_ladder.h>

#include <stdlib.h>
#include <string.h>

enum { RUNGS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plan(const gph_plan_traffic *traffic, gph_plan_ladder_options *options)
{
    const gph_plan_histogram histogram = gph_plan_traffic_histogram(traffic);
    gph_plan_ladder_result planned = GPH_SIZED(gph_plan_ladder_result);
    gph_plan_ladder_result judged = GPH_SIZED(gph_plan_ladder_result);
    gph_error error = {0};
    uint64_t rungs[RUNGS];
    if (gph_plan_ladder(&histogram, options, rungs, RUNGS, &planned, &error) != GPH_OK)
        return;
    if (planned.rung_count > RUNGS ||
        gph_plan_ladder_judge(&histogram, options, rungs, planned.rung_count, &judged,
                              &error) != GPH_OK)
        abort();
    planned.exact = 0;
    if (memcmp(&planned, &judged, sizeof(planned)) != 0)
        abort();
    if (options->byte_budget != 0 && planned.bytes > (double)options->byte_budget)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gph_plan_traffic *traffic = NULL;
    gph_error error = {0};
    if (size > 2000) /* more sizes only take longer */
        return 0;
    if (gph_plan_traffic_read((const char *)data, size, NULL, &traffic, &error) !=
        GPH_OK) {
        if (traffic != NULL || error.message[0] == '\0')
            abort();
        return 0;
    }
    gph_plan_ladder_options options = GPH_PLAN_LADDER_OPTIONS_INIT;
    gph_plan_traffic_curves(traffic, &options);
    plan(traffic, &options);
    options.byte_budget = 1000;
    options.multiple = 3;
    options.byte_weight = 0.5;
    plan(traffic, &options);
    gph_plan_traffic_destroy(traffic);
    return 0;
}
