// SPDX-License-Identifier: Apache-2.0
/* Greedy plans: buffers in some order, each into a gap between those placed. No order is
 * the best on all inputs, so several are tried. How long one takes depends on how many
 * buffers live together; the first of all, in order of time, does not, and is there
 * however little time there is. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/vec.h"
#include "plan/gaps.h"
#include "plan/placed.h"
#include "plan/skyline.h"

#define LOOK 65536u /* gaps looked at between looks at the clock */

typedef enum order {
    BY_SIZE,     /* large first */
    BY_DURATION, /* long first */
    BY_AREA,     /* size x duration, large first */
    BY_BEGIN,    /* in the order of allocation */
    BY_PRESSURE, /* those first that begin or end where most bytes live */
    ORDERS
} order;

struct greedy {
    const gphi_problem *problem;
    gphi_placed placed;
    gphi_skyline skyline;
    double *keys[ORDERS];
    gphi_keyed *items;
    uint64_t *offsets, height; /* of the plan under way */
    uint64_t random;
    uint64_t looked; /* at so many gaps since the last look at the clock */
};

static void compute_keys(struct greedy *g)
{
    const gphi_problem *p = g->problem;
    for (uint32_t i = 0; i < p->count; i++) {
        const gph_plan_buffer *b = &p->buffers[i];
        const double duration = (double)(b->upper - b->lower), size = (double)b->size;
        g->keys[BY_SIZE][i] = size;
        g->keys[BY_DURATION][i] = duration;
        g->keys[BY_AREA][i] = size * duration;
        g->keys[BY_BEGIN][i] = (double)(p->section_count - p->first[i]);
        const uint64_t begin = p->live[p->first[i]], end = p->live[p->last[i]];
        g->keys[BY_PRESSURE][i] =
            (double)(begin > end ? begin : end) + size / ((double)p->bound + 1);
    }
}

/* The lowest gap that holds the buffer, or with `best` the tightest one. */
static uint64_t find_gap(struct greedy *g, uint32_t buffer, bool best)
{
    const gph_plan_buffer *buffers = g->problem->buffers, *b = &buffers[buffer];
    gphi_placed_meet(&g->placed, buffer);
    const gphi_level *found = g->placed.found; /* what lives together with it */
    const uint32_t count = g->placed.found_count;
    uint64_t end = 0, chosen = UINT64_MAX, slack = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t at = gphi_plan_align(b, end), next = found[i].key;
        if (next >= at && next - at >= b->size && next - at - b->size < slack) {
            chosen = at;
            slack = next - at - b->size;
            if (!best)
                break;
        }
        const uint64_t top = next + buffers[found[i].buffer].size;
        if (top > end)
            end = top;
    }
    return chosen != UINT64_MAX ? chosen : gphi_plan_align(b, end);
}

static void put(struct greedy *g, uint32_t buffer, uint64_t offset)
{
    g->offsets[buffer] = offset;
    gphi_placed_add(&g->placed, buffer, offset);
    const uint64_t top = offset + g->problem->buffers[buffer].size;
    if (top > g->height)
        g->height = top;
}

/* In order of time, as an allocator would that knows nothing of the future; above what is
 * pinned, which may begin while a buffer lives. */
static bool begin(void *user, gphi_gaps *gaps, uint32_t buffer)
{
    struct greedy *g = user;
    const gph_plan_buffer *b = &g->problem->buffers[buffer];
    g->offsets[buffer] = gphi_gaps_place(gaps, b);
    const uint64_t top = g->offsets[buffer] + b->size;
    g->height = top > g->height ? top : g->height;
    return true;
}

static gph_status plan_through_time(struct greedy *g)
{
    const gphi_problem *p = g->problem;
    g->height = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const gph_plan_buffer *b = &p->buffers[i];
        g->offsets[i] = b->offset;
        if (b->pinned && b->offset + b->size > g->height)
            g->height = b->offset + b->size;
    }
    return gphi_gaps_walk(p, g->offsets, g->height, false, begin, g);
}

static void sort_items(struct greedy *g, order by, double disturb)
{
    const gphi_problem *p = g->problem;
    for (uint32_t i = 0; i < p->count; i++) {
        const double factor =
            disturb > 0 ? 1 + disturb * (2 * gphi_plan_random(&g->random) - 1) : 1;
        g->items[i] = (gphi_keyed){g->keys[by][i] * factor, i};
    }
    qsort(g->items, p->count, sizeof(*g->items), gphi_plan_by_key);
}

/* Each above all that lives while it does: quick whatever lives together. */
static void plan_skyline(struct greedy *g, order by)
{
    const gphi_problem *p = g->problem;
    sort_items(g, by, 0);
    gphi_skyline_clear(&g->skyline);
    g->height = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t buffer = g->items[i].buffer;
        const uint32_t first = p->first[buffer], last = p->last[buffer];
        const gph_plan_buffer *b = &p->buffers[buffer];
        const uint64_t above = gphi_skyline_most(&g->skyline, first, last);
        const uint64_t top = gphi_plan_align(b, above) + b->size;
        g->offsets[buffer] = top - b->size;
        gphi_skyline_raise(&g->skyline, first, last, top);
        g->height = top > g->height ? top : g->height;
    }
}

/* False: the time was over before the plan was made; without a clock it never is. */
static bool plan(struct greedy *g, gphi_plan_clock *clock, order by, bool best,
                 double disturb)
{
    const gphi_problem *p = g->problem;
    sort_items(g, by, disturb);
    gphi_placed_clear(&g->placed);
    g->height = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->buffers[i].pinned)
            put(g, i, p->buffers[i].offset);
    for (uint32_t i = 0; i < p->count; i++) {
        const uint32_t buffer = g->items[i].buffer;
        if (!p->buffers[buffer].pinned)
            put(g, buffer, find_gap(g, buffer, best));
        g->looked += g->placed.found_count + 1;
        if (g->looked > LOOK) {
            g->looked = 0;
            if (clock && gphi_plan_is_over(clock))
                return false;
        }
    }
    return true;
}

static gph_status start(struct greedy *g, const gphi_problem *p)
{
    *g = (struct greedy){.problem = p, .random = GPHI_PLAN_SEED};
    bool there = gphi_placed_init(&g->placed, p) == GPH_OK;
    there &= gphi_skyline_init(&g->skyline, p) == GPH_OK;
    for (int i = 0; i < ORDERS; i++) {
        g->keys[i] = gphi_heap_array(p->heap, p->count, sizeof(double));
        there &= g->keys[i] != NULL;
    }
    g->items = gphi_heap_array(p->heap, p->count, sizeof(*g->items));
    g->offsets = gphi_heap_array(p->heap, p->count, sizeof(*g->offsets));
    if (!there || !g->items || !g->offsets)
        return GPH_E_NO_MEMORY;
    compute_keys(g);
    return GPH_OK;
}

static void finish(struct greedy *g)
{
    const gphi_problem *p = g->problem;
    gphi_placed_fini(&g->placed);
    gphi_skyline_fini(&g->skyline);
    for (int i = 0; i < ORDERS; i++)
        gphi_heap_free(p->heap, g->keys[i], p->count * sizeof(double));
    gphi_heap_free(p->heap, g->items, p->count * sizeof(*g->items));
    gphi_heap_free(p->heap, g->offsets, p->count * sizeof(*g->offsets));
}

/* The lowest so far. */
static void keep(const struct greedy *g, gphi_plan_clock *clock, uint64_t *offsets,
                 uint64_t *lowest)
{
    if (g->height >= *lowest)
        return;
    *lowest = clock->now.height = g->height;
    memcpy(offsets, g->offsets, g->problem->count * sizeof(*offsets));
}

gph_status gphi_plan_greedy(const gphi_problem *p, gphi_plan_clock *clock,
                            uint64_t enough, bool more, uint64_t *offsets,
                            uint64_t *first, uint64_t *height)
{
    struct greedy g;
    gph_status status = start(&g, p);
    const uint64_t from = gphi_clock_ns();
    uint64_t lowest = UINT64_MAX;
    const uint32_t rules = ORDERS * 2;
    /* Where cases share memory, a range may be taken by several at a time, which gaps
     * cannot say: the first plan is then one by begin. */
    if (status == GPH_OK && p->bodies.has_choice)
        plan(&g, NULL, BY_BEGIN, false, 0);
    else if (status == GPH_OK)
        status = plan_through_time(&g); /* as the check does */
    clock->check_ns += gphi_clock_ns() - from;
    if (status == GPH_OK)
        keep(&g, clock, offsets, &lowest);
    if (status == GPH_OK && first)
        memcpy(first, offsets, p->count * sizeof(*first));
    for (uint32_t i = 0; status == GPH_OK && lowest > enough && i < ORDERS &&
                         !p->pinned && !gphi_plan_is_over(clock);
         i++) {
        plan_skyline(&g, (order)i);
        keep(&g, clock, offsets, &lowest);
    }
    for (uint32_t i = 0; status == GPH_OK && lowest > enough && (i < rules || more);
         i++) {
        if ((i > 0 && gphi_plan_is_over(clock)) ||
            !plan(&g, clock, (order)(i % rules / 2), i % 2 == 0, i < rules ? 0 : 0.1))
            break;
        keep(&g, clock, offsets, &lowest);
    }
    finish(&g);
    if (status == GPH_OK)
        *height = lowest;
    return status;
}
