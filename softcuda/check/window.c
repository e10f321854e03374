// SPDX-License-Identifier: Apache-2.0
/* The lives of allocations that a race check knows, by base. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "softcuda/check/touched.h"

static int by_base(const void *left, const void *right)
{
    const soft_race_window *a = left, *b = right;
    if (a->base != b->base)
        return a->base < b->base ? -1 : 1;
    return (a->alloc > b->alloc) - (a->alloc < b->alloc);
}

gph_status soft_race_set_windows(soft_race *race, const soft_race_options *options,
                                 gph_error *error)
{
    const uint32_t count = options->window_count;
    if (count == 0)
        return GPH_OK;
    race->windows = gphi_heap_array(race->heap, count, sizeof(*race->windows));
    GPHI_TRY(gphi_made(error, race->windows, "the lives of %u allocations", count));
    memcpy(race->windows, options->windows, count * sizeof(*race->windows));
    qsort(race->windows, count, sizeof(*race->windows), by_base);
    race->window_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (race->windows[i].bytes > race->window_bytes)
            race->window_bytes = race->windows[i].bytes;
    return GPH_OK;
}

/* The first window whose base is not below `address`. */
static uint32_t first_from(const soft_race *race, uint64_t address)
{
    size_t low;
    GPHI_HALVE(low, race->window_count, at, race->windows[at].base < address);
    return (uint32_t)low;
}

void soft_race_find_windows(const soft_race *race, uint64_t start, uint64_t end,
                            uint32_t *first, uint32_t *last)
{
    *first =
        first_from(race, start > race->window_bytes ? start - race->window_bytes : 0);
    *last = first_from(race, end);
}
