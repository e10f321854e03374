// SPDX-License-Identifier: Apache-2.0
/* Writes what a recording allocated, and when, as `gph plan` reads it. */
#ifndef EXAMPLES_TRACE_H
#define EXAMPLES_TRACE_H
#include <gph/plan.h>
#include <stdbool.h>
#include <stdio.h>

/* False if the file could not be written. */
static inline bool trace_save(const char *path, const gph_plan_buffer *buffers,
                              size_t count)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fprintf(file, "id,lower,upper,size\n");
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%zu,%llu,%llu,%llu\n", i, (unsigned long long)buffers[i].lower,
                (unsigned long long)buffers[i].upper,
                (unsigned long long)buffers[i].size);
    const bool is_whole = ferror(file) == 0;
    return fclose(file) == 0 && is_whole;
}

#endif
