// SPDX-License-Identifier: Apache-2.0
/* Divides: where few buffers live across a border in time, these become walls, stacked on
 * the floor or hung from the ceiling, longest first; then what lives before the border
 * and what lives after it have nothing to do with each other.
 *
 *      ceiling ┌───────────┬──hung─────────┐
 *              │           │               │
 *              │  before   │   after       │
 *              │         ┌─┴───────┐       │
 *      floor   ├─────────┴─────────┴───────┤
 *              └────── stacked ────────────┘
 *
 * Each side gets restarts of its own, so that a good half is not lost with a bad one.
 * That such a plan exists is a guess: where it does not, nothing is proven. */
#include <stdlib.h>
#include <string.h>

#include "plan/search.h"

#define CROSSING_MAX 10u /* buffers across a border: 2^10 ways to hang them */
#define BORDERS_MAX 12u
#define KEPT_MAX 4u /* ways a border */
#define WAYS_MAX (BORDERS_MAX * KEPT_MAX)
#define SIDE_MIN 16u       /* a side has at least a 16th of the buffers */
#define WORK_MAX 50000000u /* looks at a buffer in a section, to choose ways */
#define TRY_STEPS 50000u   /* that a part gets on the first try of a way */
#define PART_STEPS 2000u   /* of a restart of a part */

struct border {
    uint32_t section; /* the first one after it */
    uint32_t crossing, larger;
    uint64_t bytes;
};

struct way {
    uint32_t section, hung; /* a bit for each that crosses, longest first */
    uint32_t hard;          /* where the part begins that was not solved last time */
    double badness;
};

struct gphi_divide {
    gphi_search *s;
    gphi_keyed *keyed; /* borrowed; room for all buffers */
    struct border borders[BORDERS_MAX];
    struct way ways[WAYS_MAX];
    uint32_t border_count, way_count;
    uint32_t crossing[CROSSING_MAX], crossing_count; /* of the border at hand */
    uint32_t tries;
    uint64_t random, work;
};

/* ---- borders ---- */

static bool crosses(const gphi_problem *p, uint32_t buffer, uint32_t section)
{
    return p->first[buffer] < section && section <= p->last[buffer];
}

/* The narrowest borders are kept, narrowest first. */
static void add_border(gphi_divide *d, struct border fresh)
{
    uint32_t at = d->border_count;
    for (uint32_t i = 0; i < d->border_count; i++) /* the same buffers cross, likely */
        if (d->borders[i].bytes == fresh.bytes &&
            d->borders[i].crossing == fresh.crossing) {
            if (fresh.larger < d->borders[i].larger)
                d->borders[i] = fresh;
            return;
        }
    while (at > 0 && d->borders[at - 1].bytes > fresh.bytes)
        at--;
    if (at == BORDERS_MAX)
        return;
    const uint32_t moved = d->border_count - at - (d->border_count == BORDERS_MAX);
    memmove(&d->borders[at + 1], &d->borders[at], moved * sizeof(*d->borders));
    d->borders[at] = fresh;
    d->border_count += d->border_count < BORDERS_MAX;
}

/* Lives that end, begin and go on at each border, in one pass over all borders. */
static gph_status find_borders(gphi_divide *d)
{
    const gphi_problem *p = d->s->problem;
    const size_t room = (size_t)p->section_count + 1;
    struct border *all = gphi_heap_array(p->heap, room, sizeof(*all));
    if (!all)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < p->count; i++) {
        const uint64_t size = p->buffers[i].size;
        all[p->first[i] + 1].crossing++; /* from this border on, it crosses */
        all[p->first[i] + 1].bytes += size;
        all[p->last[i] + 1].crossing--; /* modulo 2^32 and 2^64 */
        all[p->last[i] + 1].bytes -= size;
        all[p->last[i] + 1].larger++; /* it lies before this border */
    }
    for (uint32_t section = 1; section < p->section_count; section++) {
        struct border *b = &all[section];
        b->crossing += b[-1].crossing;
        b->bytes += b[-1].bytes;
        b->larger += b[-1].larger;
        struct border fresh = *b;
        const uint32_t after = p->count - fresh.larger - fresh.crossing;
        const uint32_t smaller = after < fresh.larger ? after : fresh.larger;
        fresh.section = section;
        fresh.larger = after < fresh.larger ? fresh.larger : after;
        if (fresh.crossing <= CROSSING_MAX && smaller >= p->count / SIDE_MIN &&
            smaller != 0)
            add_border(d, fresh);
    }
    gphi_heap_free(p->heap, all, room * sizeof(*all));
    return GPH_OK;
}

/* ---- walls ---- */

static void find_crossing(gphi_divide *d, uint32_t section)
{
    const gphi_problem *p = d->s->problem;
    gphi_keyed items[CROSSING_MAX];
    d->crossing_count = 0;
    for (uint32_t i = 0; i < p->count && d->crossing_count < CROSSING_MAX; i++)
        if (crosses(p, i, section))
            items[d->crossing_count++] =
                (gphi_keyed){(double)(p->last[i] - p->first[i]), i};
    qsort(items, d->crossing_count, sizeof(*items), gphi_plan_by_key);
    for (uint32_t i = 0; i < d->crossing_count; i++)
        d->crossing[i] = items[i].buffer;
}

static bool build(gphi_divide *d, uint32_t hung)
{
    gphi_search *s = d->s;
    gphi_search_clear(s);
    for (uint32_t i = 0; i < d->crossing_count; i++) {
        uint32_t from = i;
        while (s->list[from] != d->crossing[i])
            from++;
        if (!gphi_search_wall(s, i, from, hung >> i & 1))
            return false;
    }
    return true;
}

/* How much of what sections have to spare the walls waste, summed up; below 0 if a
 * section cannot hold what is left. */
static double waste_of(gphi_divide *d)
{
    const gphi_search *s = d->s;
    const gphi_problem *p = s->problem;
    double waste = 0;
    for (uint32_t i = 0; i < p->section_count; i++) {
        uint64_t floor = s->ceiling[i];
        const uint32_t end = s->members.begin[i + 1];
        for (uint32_t k = s->members.begin[i]; k < end; k++) {
            const uint32_t buffer = s->members.items[k];
            if (!s->placed[buffer] && s->lowest[buffer] < floor)
                floor = s->lowest[buffer];
        }
        if (s->left[i] > s->ceiling[i] - floor)
            return -1;
        const double spare = (double)(s->capacity - p->live[i]);
        const double still = (double)(s->ceiling[i] - floor - s->left[i]);
        if (s->left[i] != 0)
            waste += (spare - still) / (spare + 1);
    }
    return waste / p->section_count;
}

/* Among the last `kept` ways, or in place of the worst of them. */
static void add_way(gphi_divide *d, struct way fresh, uint32_t *kept)
{
    struct way *ways = &d->ways[d->way_count - *kept];
    uint32_t at = *kept;
    for (uint32_t i = 0; i < *kept; i++)
        if (ways[i].badness == fresh.badness) /* it hangs what lives all the time, say */
            return;
    while (at > 0 && ways[at - 1].badness > fresh.badness)
        at--;
    if (at == KEPT_MAX)
        return;
    const uint32_t moved = *kept - at - (*kept == KEPT_MAX);
    memmove(&ways[at + 1], &ways[at], moved * sizeof(*ways));
    ways[at] = fresh;
    d->way_count += *kept < KEPT_MAX;
    *kept += *kept < KEPT_MAX;
}

static void find_ways(gphi_divide *d, const struct border *border)
{
    const gphi_search *s = d->s;
    const double share = (double)border->larger / (double)s->problem->count;
    uint32_t kept = 0;
    find_crossing(d, border->section);
    for (uint32_t hung = 0; hung >> d->crossing_count == 0; hung++) {
        d->work += s->members.item_count + s->problem->count;
        if (d->work > WORK_MAX || gphi_plan_is_over(s->clock))
            return;
        const double waste = build(d, hung) ? waste_of(d) : -1;
        if (waste >= 0)
            add_way(d, (struct way){border->section, hung, 0, share * (1 + waste)},
                    &kept);
    }
}

static void sort_ways(gphi_divide *d)
{
    for (uint32_t i = 1; i < d->way_count; i++) {
        const struct way way = d->ways[i];
        uint32_t at = i;
        for (; at > 0 && d->ways[at - 1].badness > way.badness; at--)
            d->ways[at] = d->ways[at - 1];
        d->ways[at] = way;
    }
}

/* ---- tries ---- */

/* All orders on the first try of a way; then that by trouble, disturbed, many times:
 * short restarts found plans three times as fast as those that grow with the steps. */
static bool solve_part(gphi_divide *d, uint32_t lo, uint32_t hi, uint64_t steps)
{
    gphi_search *s = d->s;
    const uint64_t end = s->clock->steps + steps;
    for (uint32_t i = 0; s->clock->steps < end; i++) {
        const bool first = d->tries < d->way_count && i < GPHI_SEARCH_ORDERS;
        gphi_search_rank(s, d->keyed, lo, hi, first ? i : GPHI_SEARCH_BY_TROUBLE,
                         first ? NULL : &d->random);
        if (gphi_search_solve(s, lo, hi, PART_STEPS))
            return true;
        if (!s->out_of_steps || s->clock->over || s->out_of_memory)
            return false;
    }
    return false;
}

/* Part after part; that which was not solved last time comes first. */
static bool solve_parts(gphi_divide *d, struct way *way, uint64_t steps)
{
    const uint32_t count = d->s->problem->count, hard = way->hard;
    uint32_t hard_end = 0; /* solving changes the order that ends are found by */
    if (hard != 0) {
        hard_end = gphi_search_part_end(d->s, hard, count);
        if (!solve_part(d, hard, hard_end, steps))
            return false;
    }
    for (uint32_t lo = d->crossing_count; lo < count;) {
        const bool is_solved = hard != 0 && lo == hard;
        const uint32_t end = is_solved ? hard_end : gphi_search_part_end(d->s, lo, count);
        if (!is_solved && !solve_part(d, lo, end, steps)) {
            way->hard = lo;
            return false;
        }
        lo = end;
    }
    return true;
}

bool gphi_divide_try(gphi_divide *d)
{
    if (d->way_count == 0)
        return false;
    struct way *way = &d->ways[d->tries % d->way_count];
    const uint32_t round = d->tries / d->way_count;
    const uint64_t steps = (uint64_t)TRY_STEPS << (round < 20 ? round : 20);
    find_crossing(d, way->section);
    const bool solved = build(d, way->hung) && solve_parts(d, way, steps);
    d->tries++;
    return solved;
}

gph_status gphi_divide_create(gphi_search *s, gphi_keyed *keyed, gphi_divide **out)
{
    gphi_divide *d = gphi_heap_alloc(s->problem->heap, sizeof(*d));
    if (!d)
        return GPH_E_NO_MEMORY;
    d->s = s;
    d->keyed = keyed;
    d->random = GPHI_PLAN_SEED;
    if (find_borders(d) != GPH_OK) {
        gphi_divide_destroy(d);
        return GPH_E_NO_MEMORY;
    }
    for (uint32_t i = 0; i < d->border_count; i++)
        find_ways(d, &d->borders[i]);
    sort_ways(d);
    *out = d;
    return GPH_OK;
}

void gphi_divide_destroy(gphi_divide *d)
{
    if (d)
        gphi_heap_free(d->s->problem->heap, d, sizeof(*d));
}
