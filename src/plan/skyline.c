// SPDX-License-Identifier: Apache-2.0
/* A tree of maxima, from the leaves up. A raise marks the nodes that cover its range and
 * leaves those below them alone: heights only grow, so a mark never has to be taken back. */
#include "plan/skyline.h"

#include <string.h>

gph_status gphi_skyline_init(gphi_skyline *s, const gphi_problem *p)
{
    *s = (gphi_skyline){.heap = p->heap, .leaf_count = 1};
    while (s->leaf_count < p->section_count)
        s->leaf_count *= 2;
    s->most = gphi_heap_array(p->heap, (size_t)s->leaf_count * 2, sizeof(*s->most));
    s->all = gphi_heap_array(p->heap, (size_t)s->leaf_count * 2, sizeof(*s->all));
    if (!s->most || !s->all)
        return GPH_E_NO_MEMORY;
    gphi_skyline_clear(s);
    return GPH_OK;
}

void gphi_skyline_fini(gphi_skyline *s)
{
    gphi_heap_free(s->heap, s->most, (size_t)s->leaf_count * 2 * sizeof(*s->most));
    gphi_heap_free(s->heap, s->all, (size_t)s->leaf_count * 2 * sizeof(*s->all));
}

void gphi_skyline_clear(gphi_skyline *s)
{
    memset(s->most, 0, (size_t)s->leaf_count * 2 * sizeof(*s->most));
    memset(s->all, 0, (size_t)s->leaf_count * 2 * sizeof(*s->all));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What the nodes above say of everything below them. */
static uint64_t above(const gphi_skyline *s, uint32_t node)
{
    uint64_t most = 0;
    for (; node != 0; node /= 2)
        most = larger(most, s->all[node]);
    return most;
}

uint64_t gphi_skyline_most(const gphi_skyline *s, uint32_t first, uint32_t last)
{
    uint32_t low = first + s->leaf_count, high = last + s->leaf_count;
    uint64_t most = larger(above(s, low), above(s, high));
    for (; low <= high; low /= 2, high /= 2) {
        if (low % 2 == 1)
            most = larger(most, s->most[low++]);
        if (high % 2 == 0)
            most = larger(most, s->most[high--]);
    }
    return most;
}

static void lift(gphi_skyline *s, uint32_t node)
{
    for (node /= 2; node != 0; node /= 2)
        s->most[node] =
            larger(s->most[node], larger(s->most[2 * node], s->most[2 * node + 1]));
}

static void mark(gphi_skyline *s, uint32_t node, uint64_t to)
{
    s->all[node] = larger(s->all[node], to);
    s->most[node] = larger(s->most[node], to);
    lift(s, node);
}

void gphi_skyline_raise(gphi_skyline *s, uint32_t first, uint32_t last, uint64_t to)
{
    for (uint32_t low = first + s->leaf_count, high = last + s->leaf_count; low <= high;
         low /= 2, high /= 2) {
        if (low % 2 == 1)
            mark(s, low++, to);
        if (high % 2 == 0)
            mark(s, high--, to);
    }
}
