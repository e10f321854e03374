// SPDX-License-Identifier: Apache-2.0
/* A table of whatever bytes: refused, or read; and what was read is refused, or planned
 * so that no two buffers overlap. */
#include <gph/plan.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gph_plan_table *table = NULL;
    gph_plan_options options = GPH_PLAN_OPTIONS_INIT;
    gph_error error = {0};
    options.step_limit = 500;
    options.time_limit_s = 0.01; /* for pinned buffers, which are not searched */
    if (gph_plan_table_read((const char *)data, size, NULL, &table, &error) != GPH_OK) {
        if (table != NULL || error.message[0] == '\0')
            abort();
        return 0;
    }
    const size_t count = gph_plan_table_count(table);
    const gph_plan_buffer *buffers = gph_plan_table_buffers(table);
    uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
    options.bodies = gph_plan_table_bodies(table, &options.body_count);
    if (offsets != NULL &&
        gph_plan_addresses(buffers, count, &options, offsets, NULL, &error) == GPH_OK &&
        gph_plan_check_bodies(buffers, count, options.bodies, options.body_count, offsets,
                              NULL, &error) != GPH_OK)
        abort();
    free(offsets);
    gph_plan_table_destroy(table);
    return 0;
}
