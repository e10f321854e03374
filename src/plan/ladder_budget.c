// SPDX-License-Identifier: Apache-2.0
/* The cheapest ladder within budgets that bind.
 *
 * First the budgets become prices: a rung costs what it takes of each, times its price.
 * For any prices the cheapest ladder costs no more than the one looked for, and with
 * prices raised until it keeps the limits it is near that one; with a number of rungs
 * prescribed as well, nearer. Then paths are followed
 * from the smallest rung on, each a label at its last rung; a label goes no further if
 * another one there is nowhere worse, or if even the rest at those prices cannot make it
 * cheaper than the best ladder so far. */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "plan/ladder.h"

#define NONE UINT32_MAX
#define ROUNDS 3             /* over all limits, since a price changes what others do */
#define HALVINGS 40          /* of a price's range */
#define NEAR 3u              /* rungs more or less than prices alone give */
#define LABELS_MAX 1000000u  /* 56 MB */
#define STEPS_MAX 100000000u /* a second */
#define HAIR 1e-12           /* what two sums in another order may differ by */

struct label {
    double cost, use[GPHI_USES];
    uint32_t parent, next; /* next: of the same rung */
    uint32_t rung;
};

struct budget {
    gphi_ladder *l;
    double price[GPHI_USES], best_price[GPHI_USES];
    double bound;  /* no ladder within the limits costs less */
    double upper;  /* what the best one so far costs */
    double *to_go; /* at the prices, from a rung on; [count]: from the start */
    uint32_t *next;
    double *own; /* what rungs cost without prices */
    uint32_t *path, *best;
    uint32_t best_count;
    gphi_vec labels;
    uint32_t *first; /* of a rung's labels */
    uint64_t steps;
};

static bool is_limited(const gphi_ladder *l, int use)
{
    return isfinite(l->limit[use]);
}

static double priced(const struct budget *b, const double *use)
{
    double sum = 0;
    for (int u = 0; u < GPHI_USES; u++)
        sum += b->price[u] * use[u];
    return sum;
}

/* The cheapest way on from a rung, or, from `count`, from the start. */
static double price_from(struct budget *b, uint32_t from)
{
    const gphi_ladder *l = b->l;
    const bool is_start = from == l->count;
    const double calls = is_start ? 0 : l->rungs[from].calls;
    double best = is_start ? l->rest : l->rungs[from].rest;
    b->next[from] = NONE;
    for (uint32_t j = is_start ? 0 : from + 1; j < l->count; j++) {
        const gphi_rung *r = &l->rungs[j];
        const double way = (r->calls - calls) * r->cost + b->to_go[j];
        if (way < best) {
            best = way;
            b->next[from] = j;
        }
    }
    return best;
}

/* The cheapest ways to the end, at the prices, with what the rung itself costs. */
static void price_all(struct budget *b)
{
    const gphi_ladder *l = b->l;
    for (uint32_t i = l->count; i-- > 0;)
        b->to_go[i] = price_from(b, i) + l->rungs[i].own + priced(b, l->rungs[i].use);
    b->to_go[l->count] = price_from(b, l->count);
}

/* Whether path[0, count) keeps the limits; what it takes; if it is better, it is kept. */
static bool weigh_path(struct budget *b, uint32_t count, double use[GPHI_USES])
{
    const gphi_ladder *l = b->l;
    double cost = 0, calls = 0, rest = l->rest;
    bool fits = true;
    memset(use, 0, GPHI_USES * sizeof(*use));
    for (uint32_t i = 0; i < count; i++) {
        const gphi_rung *r = &l->rungs[b->path[i]];
        cost += (r->calls - calls) * r->cost + b->own[b->path[i]];
        calls = r->calls;
        rest = r->rest;
        for (int u = 0; u < GPHI_USES; u++)
            use[u] += r->use[u];
    }
    cost += rest;
    for (int u = 0; u < GPHI_USES; u++)
        fits &= use[u] <= l->limit[u];
    if (fits && cost < b->upper) {
        b->upper = cost;
        memcpy(b->best, b->path, count * sizeof(*b->path));
        b->best_count = count;
    }
    return fits;
}

/* What the ladder at hand takes; its cost at the prices bounds all others. */
static void look_at_path(struct budget *b, double use[GPHI_USES])
{
    const gphi_ladder *l = b->l;
    uint32_t count = 0;
    for (uint32_t at = b->next[l->count]; at != NONE; at = b->next[at])
        b->path[count++] = at;
    (void)weigh_path(b, count, use);
    double bound = b->to_go[l->count];
    for (int u = 0; u < GPHI_USES; u++)
        bound -= is_limited(l, u) ? b->price[u] * l->limit[u] : 0;
    if (bound > b->bound) {
        b->bound = bound;
        memcpy(b->best_price, b->price, sizeof(b->price));
    }
}

/* Raises one price until the ladder keeps that limit, and no more than it takes. */
static void find_price(struct budget *b, int use)
{
    gphi_ladder *l = b->l;
    double taken[GPHI_USES], low = 0, high = 1;
    for (int i = 0; i < 2 * HALVINGS; i++, low = high, high *= 4) {
        b->price[use] = high * 1e-9;
        price_all(b);
        look_at_path(b, taken);
        if (taken[use] <= l->limit[use])
            break;
    }
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        b->price[use] = middle * 1e-9;
        price_all(b);
        look_at_path(b, taken);
        if (taken[use] <= l->limit[use])
            high = middle;
        else
            low = middle;
    }
    b->price[use] = high * 1e-9;
}

static void find_prices(struct budget *b)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int u = 0; u < GPHI_USES; u++)
            if (is_limited(b->l, u))
                find_price(b, u);
    memcpy(b->price, b->best_price, sizeof(b->price));
    price_all(b);
}

/* ---- with so many rungs ---- */

/* The cheapest ladder of at most so many rungs at a multiple of the prices. */
static gph_status try_count(struct budget *b, uint32_t count, double factor, bool *fits)
{
    gphi_ladder *l = b->l;
    double use[GPHI_USES];
    for (uint32_t i = 0; i < l->count; i++)
        l->rungs[i].own = b->own[i] + factor * priced(b, l->rungs[i].use);
    const gph_status status = gphi_ladder_shortest(l, count);
    for (uint32_t i = 0; i < l->count; i++)
        l->rungs[i].own = b->own[i];
    if (status != GPH_OK)
        return status;
    memcpy(b->path, l->chosen, l->chosen_count * sizeof(*b->path));
    *fits = weigh_path(b, l->chosen_count, use);
    return GPH_OK;
}

/* Prices alone leave some of a budget unused, since a rung more takes too much: a little
 * more or less than the price, for each number of rungs near by, uses it up. */
static gph_status polish(struct budget *b)
{
    const uint32_t near = b->best_count, least = near > NEAR ? near - NEAR : 1;
    for (uint32_t count = least; count <= near + NEAR && count <= b->l->count; count++) {
        double low = 0, high = 1;
        bool fits = false;
        for (int i = 0; i < HALVINGS && !fits; i++, high *= fits ? 1 : 4)
            GPHI_TRY(try_count(b, count, high, &fits));
        for (int i = 0; i < HALVINGS / 2; i++) {
            const double middle = low + (high - low) / 2;
            GPHI_TRY(try_count(b, count, middle, &fits));
            *(fits ? &high : &low) = middle;
        }
    }
    return GPH_OK;
}

/* ---- labels ---- */

static struct label *label_at(const struct budget *b, uint32_t index)
{
    return gphi_vec_at(&b->labels, index);
}

static bool is_no_better(const struct budget *b, const struct label *x,
                         const struct label *than)
{
    bool worse = x->cost >= than->cost;
    for (int u = 0; u < GPHI_USES && worse; u++)
        worse = !is_limited(b->l, u) || x->use[u] >= than->use[u];
    return worse;
}

static bool is_hopeless(struct budget *b, const struct label *x)
{
    const gphi_ladder *l = b->l;
    const gphi_rung *r = &l->rungs[x->rung];
    /* to_go has the rung's own part, which the label has paid already */
    double least = x->cost + b->to_go[x->rung] - r->own - priced(b, r->use);
    for (int u = 0; u < GPHI_USES; u++) {
        if (!is_limited(l, u))
            continue;
        if (x->use[u] > l->limit[u])
            return true;
        least += b->price[u] * (x->use[u] - l->limit[u]);
    }
    if (least >= b->upper - HAIR * fabs(b->upper))
        return true;
    for (uint32_t i = b->first[x->rung]; i != NONE; i = label_at(b, i)->next) {
        b->steps++;
        if (is_no_better(b, x, label_at(b, i)))
            return true;
    }
    return false;
}

static void keep_path(struct budget *b, const struct label *last)
{
    uint32_t count = 1;
    for (const struct label *at = last; at->parent != NONE; at = label_at(b, at->parent))
        count++;
    b->best_count = count;
    for (const struct label *at = last; count > 0;) {
        b->best[--count] = at->rung;
        if (count > 0)
            at = label_at(b, at->parent);
    }
}

/* Goes from a label, or from the start, to every larger rung. */
static gph_status extend(struct budget *b, uint32_t from)
{
    const gphi_ladder *l = b->l;
    struct label at = {.parent = NONE};
    if (from != NONE)
        at = *label_at(b, from);
    const double calls = from != NONE ? l->rungs[at.rung].calls : 0;
    for (uint32_t j = from != NONE ? at.rung + 1 : 0; j < l->count; j++) {
        const gphi_rung *r = &l->rungs[j];
        struct label to = {.cost = at.cost + (r->calls - calls) * r->cost + r->own,
                           .parent = from,
                           .rung = j};
        for (int u = 0; u < GPHI_USES; u++)
            to.use[u] = at.use[u] + r->use[u];
        b->steps++;
        if (is_hopeless(b, &to))
            continue;
        if (to.cost + r->rest < b->upper) {
            b->upper = to.cost + r->rest;
            keep_path(b, &to);
        }
        to.next = b->first[j];
        if (gphi_vec_push(&b->labels, &to) != GPH_OK)
            return GPH_E_NO_MEMORY;
        b->first[j] = (uint32_t)(b->labels.count - 1);
    }
    return GPH_OK;
}

static gph_status follow_labels(struct budget *b)
{
    for (uint32_t i = 0; i < b->l->count; i++)
        b->first[i] = NONE;
    GPHI_TRY(extend(b, NONE));
    for (uint32_t i = 0; i < b->l->count; i++)
        for (uint32_t at = b->first[i]; at != NONE; at = label_at(b, at)->next) {
            if (b->labels.count > LABELS_MAX || b->steps > STEPS_MAX) {
                b->l->exact = false;
                return GPH_OK;
            }
            GPHI_TRY(extend(b, at));
        }
    return GPH_OK;
}

/* A single rung, or none: what there is within the limits at the least. */
static void start_with_one(struct budget *b)
{
    gphi_ladder *l = b->l;
    double use[GPHI_USES];
    b->upper = l->rest;
    for (uint32_t i = 0; i < l->count; i++) {
        b->own[i] = l->rungs[i].own;
        b->path[0] = i;
        (void)weigh_path(b, 1, use);
    }
}

static gph_status search(struct budget *b)
{
    gphi_ladder *l = b->l;
    start_with_one(b);
    find_prices(b);
    GPHI_TRY(polish(b));
    l->exact = true;
    GPHI_TRY(follow_labels(b));
    memcpy(l->chosen, b->best, b->best_count * sizeof(*b->best));
    l->chosen_count = b->best_count;
    return GPH_OK;
}

gph_status gphi_ladder_within(gphi_ladder *l)
{
    const size_t n = l->count;
    struct budget b = {.l = l, .bound = -INFINITY};
    gph_status status = GPH_E_NO_MEMORY;
    gphi_vec_init(&b.labels, l->heap, sizeof(struct label));
    b.to_go = gphi_heap_array(l->heap, n + 1, sizeof(double));
    b.own = gphi_heap_array(l->heap, n, sizeof(double));
    b.next = gphi_heap_array(l->heap, n + 1, sizeof(uint32_t));
    b.path = gphi_heap_array(l->heap, n, sizeof(uint32_t));
    b.best = gphi_heap_array(l->heap, n, sizeof(uint32_t));
    b.first = gphi_heap_array(l->heap, n, sizeof(uint32_t));
    if (b.to_go && b.own && b.next && b.path && b.best && b.first)
        status = search(&b);
    gphi_heap_free(l->heap, b.to_go, (n + 1) * sizeof(double));
    gphi_heap_free(l->heap, b.own, n * sizeof(double));
    gphi_heap_free(l->heap, b.next, (n + 1) * sizeof(uint32_t));
    gphi_heap_free(l->heap, b.path, n * sizeof(uint32_t));
    gphi_heap_free(l->heap, b.best, n * sizeof(uint32_t));
    gphi_heap_free(l->heap, b.first, n * sizeof(uint32_t));
    gphi_vec_fini(&b.labels);
    return status;
}
