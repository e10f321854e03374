// SPDX-License-Identifier: Apache-2.0
/* Repairs: a plan is made lower bit by bit where there are too many buffers for the exact search.
 *
 * What sticks out above the height that is aimed at is taken out and put where it drives out
 * the least; what was driven out is put the same way, and weighs more from then on, so that a
 * chain does not go round in a circle. When nothing is out any more the plan is lower.
 *
 *       aim ------------- c ----     c sticks out: it goes where it drives out b alone, and b
 *           |   a   |     b    |     fits above a
 *           |       |----------|                                                          */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "plan/placed.h"

#define LOOK 65536u /* neighbors looked at between looks at the clock */
#define HEAVIER 1.3 /* what was driven out, the next time */
#define LATELY 64u  /* driven out: the largest of them goes first */

struct repair {
    const gphi_problem *problem;
    gphi_plan_clock *clock;
    gphi_placed placed;
    uint64_t *offsets;
    double *base,
        *weight; /* a buffer: how hard it is to place; what driving it out costs */
    uint32_t *out, out_count; /* not placed, the last one is next */
    gphi_levels *by_top;
    const gphi_level *low; /* neighbors by their begin, by their end */
    gphi_level *high;
    uint64_t random, looked, aim;
};

static uint64_t top_of(const struct repair *r, uint32_t buffer)
{
    return r->offsets[buffer] + r->problem->buffers[buffer].size;
}

/* Those placed that live together with it, in both orders. */
static uint32_t find_neighbours(struct repair *r, uint32_t buffer)
{
    gphi_placed_meet(&r->placed, buffer);
    r->low = r->placed.found;
    const uint32_t count = r->placed.found_count;
    if (r->placed.crowded[buffer])
        gphi_levels_meet(r->by_top, buffer, r->high);
    else {
        for (uint32_t i = 0; i < count; i++)
            r->high[i] = (gphi_level){top_of(r, r->low[i].buffer), r->low[i].buffer};
        qsort(r->high, count, sizeof(*r->high), gphi_by_first);
    }
    r->looked += count + 1;
    return count;
}

struct choice {
    uint64_t offset;
    double cost;
    uint32_t ties;
};

static void consider(struct repair *r, struct choice *best, uint64_t offset, double cost)
{
    if (cost > best->cost)
        return;
    if (cost == best->cost) {
        if (cost == 0 ? offset >= best->offset
                      : gphi_plan_random(&r->random) * ++best->ties >= 1)
            return;
    } else
        best->ties = 1;
    best->offset = offset;
    best->cost = cost;
}

/* Where it drives out the least: right above a neighbor, right below one, on the floor or
 * under the aim. */
static struct choice choose(struct repair *r, uint32_t buffer, uint32_t count)
{
    const gph_plan_buffer *b = &r->problem->buffers[buffer];
    struct choice best = {UINT64_MAX, INFINITY, 0};
    const uint64_t last = r->aim - b->size;
    double begun = 0,
           ended = 0; /* weights of those that begin below the end, end below */
    uint32_t low = 0, high = 0;
    /* Right above a neighbor, in rising order; the floor first. */
    for (uint32_t i = 0; i <= count; i++) {
        const uint64_t offset = gphi_plan_align(b, i == 0 ? 0 : r->high[i - 1].key);
        if (offset > last)
            break;
        while (low < count && r->low[low].key < offset + b->size)
            begun += r->weight[r->low[low++].buffer];
        while (high < count && r->high[high].key <= offset)
            ended += r->weight[r->high[high++].buffer];
        consider(r, &best, offset, low == high ? 0 : begun - ended);
        if (low == high)
            return best; /* the lowest place that is free */
    }
    begun = ended = 0;
    low = high = 0;
    /* Right below a neighbor; last, under the aim. */
    for (uint32_t i = 0; i <= count; i++) {
        const uint64_t end = i < count ? r->low[i].key : r->aim;
        if (end < b->size || end > r->aim)
            continue;
        uint64_t offset = end - b->size;
        if (b->alignment > 1)
            offset -= offset % b->alignment;
        while (low < count && r->low[low].key < offset + b->size)
            begun += r->weight[r->low[low++].buffer];
        while (high < count && r->high[high].key <= offset)
            ended += r->weight[r->high[high++].buffer];
        consider(r, &best, offset, low == high ? 0 : begun - ended);
    }
    return best;
}

static void put(struct repair *r, uint32_t buffer, uint64_t offset)
{
    r->offsets[buffer] = offset;
    gphi_placed_add(&r->placed, buffer, offset);
    if (r->by_top)
        gphi_levels_add(r->by_top, buffer, top_of(r, buffer));
}

static void take_out(struct repair *r, uint32_t buffer)
{
    gphi_placed_drop(&r->placed, buffer);
    if (r->by_top)
        gphi_levels_drop(r->by_top, buffer, top_of(r, buffer));
    r->out[r->out_count++] = buffer;
}

static bool put_one(struct repair *r)
{
    uint32_t pick = r->out_count - 1;
    for (uint32_t i = r->out_count; i-- > 0 && i + LATELY > r->out_count;)
        if (r->base[r->out[i]] > r->base[r->out[pick]])
            pick = i;
    const uint32_t buffer = r->out[pick];
    const uint32_t count = find_neighbours(r, buffer);
    const struct choice best = choose(r, buffer, count);
    if (best.offset == UINT64_MAX)
        return false;
    r->out[pick] = r->out[--r->out_count];
    const uint64_t end = best.offset + r->problem->buffers[buffer].size;
    for (uint32_t i = 0; i < count && r->low[i].key < end; i++) {
        const uint32_t other = r->low[i].buffer;
        if (top_of(r, other) > best.offset) {
            take_out(r, other);
            r->weight[other] *= HEAVIER;
        }
    }
    put(r, buffer, best.offset);
    return true;
}

/* From the plan in `from`: what ends above the aim is placed again. Whether all was, before the
 * steps or the time were over. */
static bool lower(struct repair *r, const uint64_t *from, uint64_t aim, uint64_t steps)
{
    const gphi_problem *p = r->problem;
    r->aim = aim;
    r->out_count = 0;
    memcpy(r->offsets, from, p->count * sizeof(*from));
    memcpy(r->weight, r->base, p->count * sizeof(*r->base));
    gphi_placed_clear(&r->placed);
    if (r->by_top)
        gphi_levels_clear(r->by_top);
    for (uint32_t i = 0; i < p->count; i++)
        if (top_of(r, i) > aim)
            r->out[r->out_count++] = i;
        else
            put(r, i, from[i]);
    for (const uint64_t end = r->clock->steps + steps; r->out_count != 0;
         r->clock->steps++) {
        if (r->clock->steps >= end || !put_one(r))
            return false;
        if (r->looked > LOOK) {
            r->looked = 0;
            if (gphi_plan_is_over(r->clock))
                return false;
        }
    }
    return true;
}

static gph_status start(struct repair *r, const gphi_problem *p, gphi_plan_clock *clock)
{
    *r = (struct repair){.problem = p, .clock = clock, .random = GPHI_PLAN_SEED};
    const gph_status status = gphi_placed_init(&r->placed, p);
    r->offsets = gphi_heap_array(p->heap, p->count, sizeof(*r->offsets));
    r->base = gphi_heap_array(p->heap, p->count, sizeof(*r->base));
    r->weight = gphi_heap_array(p->heap, p->count, sizeof(*r->weight));
    r->out = gphi_heap_array(p->heap, p->count, sizeof(*r->out));
    const bool crowded = r->placed.by_offset != NULL;
    r->by_top = crowded ? gphi_levels_create(p) : NULL;
    r->high = gphi_heap_array(p->heap, p->count, sizeof(*r->high));
    if (status != GPH_OK || !r->offsets || !r->base || !r->weight || !r->out ||
        (crowded && !r->by_top) || !r->high)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < p->count; i++)
        r->base[i] =
            pow((double)p->buffers[i].size * (p->last[i] - p->first[i] + 1.0), 0.7);
    return GPH_OK;
}

static void finish(struct repair *r)
{
    const gphi_problem *p = r->problem;
    gphi_placed_fini(&r->placed);
    gphi_heap_free(p->heap, r->offsets, p->count * sizeof(*r->offsets));
    gphi_heap_free(p->heap, r->base, p->count * sizeof(*r->base));
    gphi_heap_free(p->heap, r->weight, p->count * sizeof(*r->weight));
    gphi_heap_free(p->heap, r->out, p->count * sizeof(*r->out));
    gphi_levels_destroy(r->by_top);
    gphi_heap_free(p->heap, r->high, p->count * sizeof(*r->high));
}

/* How high the plan is that was made, which becomes the best one. */
static uint64_t keep(const struct repair *r, uint64_t *offsets)
{
    uint64_t height = 0;
    for (uint32_t i = 0; i < r->problem->count; i++)
        height = top_of(r, i) > height ? top_of(r, i) : height;
    memcpy(offsets, r->offsets, r->problem->count * sizeof(*offsets));
    return height;
}

/* Half way down to what is enough; where that fails, half as far, and so on; then again from
 * the start, with more steps. */
gph_status gphi_plan_repair(const gphi_problem *p, gphi_plan_clock *clock,
                            uint64_t enough, uint64_t *offsets, uint64_t *height)
{
    struct repair r;
    if (*height <= enough || gphi_plan_is_over(clock))
        return GPH_OK; /* to start takes a while, too */
    const gph_status status = start(&r, p, clock);
    uint64_t steps = (uint64_t)p->count + 1000;
    uint64_t low = enough; /* nothing lower is tried at present */
    while (status == GPH_OK && *height > enough && !gphi_plan_is_over(clock)) {
        const uint64_t aim = low + (*height - low) / 2;
        if (lower(&r, offsets, aim, steps))
            *height = keep(&r, offsets);
        else if (*height - low > (*height - enough) / 64 + 1)
            low = aim;
        else {
            low = enough;
            steps *= 4;
        }
        low = low > *height ? *height : low;
        if (*height < clock->now.height)
            clock->now.height = *height;
    }
    finish(&r);
    return status;
}
