// SPDX-License-Identifier: Apache-2.0
/* The lives of allocations that a race check knows, by base. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/check/touched.h"

static int by_base(const void *left, const void *right)
{
    const soft_race_window *a = left, *b = right;
    if (a->base != b->base)
        return a->base < b->base ? -1 : 1;
    return (a->alloc > b->alloc) - (a->alloc < b->alloc);
}

gph_status soft_race_set_windows(soft_race *race, const soft_race_window *windows,
                                 uint32_t count, gph_error *error)
{
    soft_race_window *fresh = NULL;
    uint64_t most = 0;
    if (count > 0) {
        fresh = gphi_heap_array(race->heap, count, sizeof(*fresh));
        if (fresh == NULL)
            return gphi_fail(error, GPH_E_NO_MEMORY, "the lives of %u allocations",
                             count);
        memcpy(fresh, windows, count * sizeof(*fresh));
        qsort(fresh, count, sizeof(*fresh), by_base);
        for (uint32_t i = 0; i < count; i++)
            most = fresh[i].bytes > most ? fresh[i].bytes : most;
    }
    pthread_mutex_lock(&race->lives);
    gphi_heap_free(race->heap, race->windows,
                   race->window_count * sizeof(*race->windows));
    race->windows = fresh;
    race->window_count = count;
    race->window_bytes = most;
    pthread_mutex_unlock(&race->lives);
    return GPH_OK;
}

/* The first window whose base is not below `address`. */
static uint32_t first_from(const soft_race *race, uint64_t address)
{
    uint32_t low = 0, high = race->window_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (race->windows[middle].base < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void soft_race_find_windows(const soft_race *race, uint64_t start, uint64_t end,
                            uint32_t *first, uint32_t *last)
{
    *first =
        first_from(race, start > race->window_bytes ? start - race->window_bytes : 0);
    *last = first_from(race, end);
}
