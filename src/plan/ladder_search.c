// SPDX-License-Identifier: Apache-2.0
/* The cheapest ladder with at most so many rungs.
 *
 * With best(i) for the cheapest way to a rung i, the way over i to j costs
 *     best(i) + (calls(j) - calls(i)) x cost(j) + own(j):
 * for each i a line in cost(j) that falls by calls(i). The lowest line is found on the
 * hull of all of them, so a layer of n rungs takes n log n steps. */
#include <math.h>

#include "base/fail.h"
#include "base/heap.h"
#include "plan/ladder.h"

#define CELLS_MAX ((size_t)1 << 26) /* of a table: 256 MiB, a second */
#define RAISES 300                  /* of a price, which becomes 16 times as high */
#define HALVINGS 100                /* as many as a double has bits, and some */

#define START UINT32_MAX /* where paths begin: the parent of a first rung */

/* Where a way over `from` is the best: from this cost on, until the next one's. */
struct line {
    double begin, best, calls;
    uint32_t from;
};

struct hull {
    struct line *lines;
    uint32_t count;
};

/* Lines come in order of calls, which do not fall. */
static void add_line(struct hull *h, double best, double calls, uint32_t from)
{
    struct line fresh = {0, best, calls, from};
    if (!isfinite(best))
        return;
    while (h->count != 0) {
        const struct line *top = &h->lines[h->count - 1];
        if (top->calls == calls) {
            if (top->best <= best)
                return;
        } else {
            fresh.begin = (best - top->best) / (calls - top->calls);
            if (fresh.begin > top->begin)
                break;
        }
        h->count--;
    }
    if (h->count == 0)
        fresh.begin = -INFINITY;
    h->lines[h->count++] = fresh;
}

static const struct line *find_line(const struct hull *h, double cost)
{
    uint32_t lo = 0, hi = h->count;
    while (hi - lo > 1) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (h->lines[middle].begin <= cost)
            lo = middle;
        else
            hi = middle;
    }
    return &h->lines[lo];
}

struct gphi_ladder_table {
    struct hull hull;
    double *before, *best; /* a rung: the cheapest way there, in this layer */
    uint32_t *parents;     /* a layer and rung */
    size_t room, cells;    /* rungs, and layers x rungs, that there is memory for */
    uint32_t layers; /* as many as there may be rungs, or one that refers to itself */
    bool limited;
};

/* The best ways to each rung; by way of `before`, or, without, of the same layer. */
static void fill_layer(const gphi_ladder *l, struct gphi_ladder_table *t, uint32_t layer)
{
    uint32_t *parents = t->parents + (size_t)layer * l->count;
    t->hull.count = 0;
    if (layer == 0)
        add_line(&t->hull, 0, 0, START);
    for (uint32_t j = 0; j < l->count; j++) {
        const gphi_rung *r = &l->rungs[j];
        t->best[j] = INFINITY;
        if (t->hull.count != 0) {
            const struct line *line = find_line(&t->hull, r->cost);
            t->best[j] = line->best + (r->calls - line->calls) * r->cost + r->own;
            parents[j] = line->from;
        }
        if (!t->limited)
            add_line(&t->hull, t->best[j], r->calls, j);
        else if (layer != 0)
            add_line(&t->hull, t->before[j], r->calls, j);
    }
}

static void follow(gphi_ladder *l, const struct gphi_ladder_table *t, uint32_t layer,
                   uint32_t last)
{
    uint32_t count = 0;
    for (uint32_t at = last; at != START;) {
        l->chosen[count++] = at;
        at = t->parents[(size_t)layer * l->count + at];
        layer -= layer != 0;
    }
    l->chosen_count = count;
    for (uint32_t i = 0; i < count / 2; i++) {
        const uint32_t swap = l->chosen[i];
        l->chosen[i] = l->chosen[count - 1 - i];
        l->chosen[count - 1 - i] = swap;
    }
}

static void walk(gphi_ladder *l, struct gphi_ladder_table *t)
{
    double least = l->rest;
    uint32_t layer_of = 0, last = START;
    for (uint32_t layer = 0; layer < t->layers; layer++) {
        fill_layer(l, t, layer);
        for (uint32_t j = 0; j < l->count; j++)
            if (t->best[j] + l->rungs[j].rest < least) {
                least = t->best[j] + l->rungs[j].rest;
                layer_of = layer;
                last = j;
            }
        double *swap = t->before;
        t->before = t->best;
        t->best = swap;
    }
    follow(l, t, layer_of, last);
}

void gphi_ladder_drop_table(gphi_ladder *l)
{
    struct gphi_ladder_table *t = l->table;
    if (!t)
        return;
    gphi_heap_free(l->heap, t->hull.lines, (t->room + 1) * sizeof(struct line));
    gphi_heap_free(l->heap, t->before, t->room * sizeof(double));
    gphi_heap_free(l->heap, t->best, t->room * sizeof(double));
    gphi_heap_free(l->heap, t->parents, t->cells * sizeof(uint32_t));
    gphi_heap_free(l->heap, t, sizeof(*t));
    l->table = NULL;
}

static gph_status make_table(gphi_ladder *l, size_t cells)
{
    const size_t n = l->count;
    if (l->table && l->table->room >= n && l->table->cells >= cells)
        return GPH_OK;
    gphi_ladder_drop_table(l);
    struct gphi_ladder_table *t = gphi_heap_alloc(l->heap, sizeof(*t));
    if (!t)
        return GPH_E_NO_MEMORY;
    *t = (struct gphi_ladder_table){.room = n, .cells = cells};
    l->table = t;
    t->hull.lines = gphi_heap_array(l->heap, n + 1, sizeof(struct line));
    t->before = gphi_heap_array(l->heap, n, sizeof(double));
    t->best = gphi_heap_array(l->heap, n, sizeof(double));
    t->parents = gphi_heap_array(l->heap, cells, sizeof(uint32_t));
    return t->hull.lines && t->before && t->best && t->parents ? GPH_OK : GPH_E_NO_MEMORY;
}

static gph_status shortest(gphi_ladder *l, uint32_t layers, bool limited)
{
    const gph_status status = make_table(l, (size_t)l->count * layers);
    if (status != GPH_OK) {
        gphi_ladder_drop_table(l);
        return status;
    }
    l->table->layers = layers;
    l->table->limited = limited;
    walk(l, l->table);
    return GPH_OK;
}

/* At a price for each rung. */
static gph_status at_price(gphi_ladder *l, double price, const double *own)
{
    for (uint32_t i = 0; i < l->count; i++)
        l->rungs[i].own = own[i] + price;
    return shortest(l, 1, false);
}

/* The lowest price, nearly, at which no more rungs are taken. What has as many is the
 * cheapest of all that do; with fewer that is not proven. */
static gph_status price_rungs(gphi_ladder *l, uint32_t most, const double *own)
{
    double low = 0, high = 1;
    gph_status status = at_price(l, high, own);
    for (int i = 0; i < RAISES && status == GPH_OK && l->chosen_count > most; i++) {
        low = high;
        high *= 16;
        status = at_price(l, high, own);
    }
    for (int i = 0; i < HALVINGS && status == GPH_OK && l->chosen_count != most; i++) {
        const double middle = low + (high - low) / 2;
        status = at_price(l, middle, own);
        *(l->chosen_count > most ? &low : &high) = middle;
    }
    if (status == GPH_OK && l->chosen_count != most)
        status = at_price(l, high, own);
    l->exact = l->chosen_count == most;
    return status;
}

/* Where a table of all layers would take too much memory and time. */
static gph_status shortest_priced(gphi_ladder *l, uint32_t most)
{
    double *own = gphi_heap_array(l->heap, l->count, sizeof(*own));
    if (!own)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < l->count; i++)
        own[i] = l->rungs[i].own;
    const gph_status status = price_rungs(l, most, own);
    for (uint32_t i = 0; i < l->count; i++)
        l->rungs[i].own = own[i];
    gphi_heap_free(l->heap, own, l->count * sizeof(*own));
    return status;
}

gph_status gphi_ladder_shortest(gphi_ladder *l, uint32_t most)
{
    l->exact = true;
    GPHI_TRY(shortest(l, 1, false));
    if (l->chosen_count <= most)
        return GPH_OK;
    return (size_t)l->count * most > CELLS_MAX ? shortest_priced(l, most)
                                               : shortest(l, most, true);
}
