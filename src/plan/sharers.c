// SPDX-License-Identifier: Apache-2.0
/* gph_plan_share(): which graphs keep an executable of their own.
 *
 * Classes are independent but for the limits. In a class either all graphs have their
 * own, or the cold ones share one of B bytes, for some B of a graph there: then whoever
 * needs more than B is hot, and each of the others is hot or cold. All of these are
 * followed at once, graph by graph, as a front of labels (bytes, executables, cost) of
 * which none is worse than another in all three. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "plan/front.h"

#include <gph/plan_ladder.h>

#define GRAPHS_MAX 4096u
#define WAYS_MAX 128u /* sizes of a shared executable that are tried in a class */
#define BYTES_MAX (UINT64_C(1) << 62)

struct share {
    const gph_plan_sharer *graphs;
    uint32_t count, class_count;
    uint32_t *order;       /* graphs by class, then by what their updates cost */
    uint32_t *class_begin; /* in `order`; class_count + 1 of them */
    gphi_front_limits limits;
};

static double update_cost(const gph_plan_sharer *g)
{
    return g->frequency * g->update_cost;
}

/* ---- classes ---- */

struct keyed {
    const gph_plan_sharer *graph;
    uint32_t index;
};

static int by_class(const void *a, const void *b)
{
    const struct keyed *x = (const struct keyed *)a, *y = (const struct keyed *)b;
    if (x->graph->topology != y->graph->topology)
        return x->graph->topology < y->graph->topology ? -1 : 1;
    const double p = update_cost(x->graph), q = update_cost(y->graph);
    if (p != q)
        return p > q ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static gph_status find_classes(struct share *s, gph_allocator heap)
{
    struct keyed *keyed = gphi_heap_array(heap, s->count, sizeof(*keyed));
    if (!keyed)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; i < s->count; i++)
        keyed[i] = (struct keyed){&s->graphs[i], i};
    qsort(keyed, s->count, sizeof(*keyed), by_class);
    for (uint32_t i = 0; i < s->count; i++) {
        s->order[i] = keyed[i].index;
        if (i == 0 || keyed[i].graph->topology != keyed[i - 1].graph->topology)
            s->class_begin[s->class_count++] = i;
    }
    s->class_begin[s->class_count] = s->count;
    gphi_heap_free(heap, keyed, s->count * sizeof(*keyed));
    return GPH_OK;
}

static uint64_t largest_of(const struct share *s, uint32_t class)
{
    uint64_t most = 0;
    for (uint32_t i = s->class_begin[class]; i < s->class_begin[class + 1]; i++) {
        const uint64_t bytes = s->graphs[s->order[i]].bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* The next size of an executable in a class that is below `below` by at least `by`;
 * `below` if there is none. */
static uint64_t next_smaller(const struct share *s, uint32_t class, uint64_t below,
                             uint64_t by)
{
    uint64_t most = 0;
    bool found = false;
    for (uint32_t i = s->class_begin[class]; i < s->class_begin[class + 1]; i++) {
        const uint64_t bytes = s->graphs[s->order[i]].bytes;
        if (bytes < below && below - bytes >= by && (!found || bytes > most)) {
            most = bytes;
            found = true;
        }
    }
    return found ? most : below;
}

/* How far sizes that are tried lie apart: 1 if all of a class can be. */
static uint64_t apart_by(const struct share *s, uint32_t class)
{
    const uint64_t largest = largest_of(s, class);
    uint64_t bytes = largest;
    for (uint32_t ways = 0; ways < WAYS_MAX; ways++) {
        const uint64_t next = next_smaller(s, class, bytes, 1);
        if (next == bytes)
            return 1;
        bytes = next;
    }
    return largest / WAYS_MAX + 1;
}

/* ---- the front ---- */

/* A class in which the cold share `bytes`; or with `apart` all have their own. */
static gph_status add_way(gphi_front *front, const struct share *s, uint32_t class,
                          uint64_t bytes, bool apart)
{
    GPHI_TRY(gphi_front_branch(front, apart ? 0 : bytes, apart ? 0 : 1));
    for (uint32_t i = s->class_begin[class]; i < s->class_begin[class + 1]; i++) {
        const uint32_t graph = s->order[i];
        const gph_plan_sharer *g = &s->graphs[graph];
        const bool must = apart || g->bytes > bytes;
        GPHI_TRY(gphi_front_step(front, graph, g->bytes, update_cost(g), must));
    }
    return gphi_front_join(front);
}

static gph_status walk_class(gphi_front *front, const struct share *s, uint32_t class)
{
    const bool single = s->class_begin[class + 1] - s->class_begin[class] == 1;
    const uint64_t by = apart_by(s, class);
    uint64_t bytes = largest_of(s, class), next = bytes;
    GPHI_TRY(add_way(front, s, class, 0, true));
    front->exact = front->exact && by == 1;
    do {
        bytes = next;
        if (!single)
            GPHI_TRY(add_way(front, s, class, bytes, false));
        next = next_smaller(s, class, bytes, by);
    } while (next != bytes);
    gphi_front_advance(front);
    return GPH_OK;
}

/* How many steps the front takes: they share the room for labels. */
static uint64_t count_steps(const struct share *s)
{
    uint64_t steps = 0;
    for (uint32_t c = 0; c < s->class_count; c++) {
        const uint64_t members = s->class_begin[c + 1] - s->class_begin[c];
        const uint64_t by = apart_by(s, c);
        uint64_t bytes, next = largest_of(s, c), ways = 1;
        do {
            bytes = next;
            next = next_smaller(s, c, bytes, by);
            ways++;
        } while (next != bytes);
        steps += members * ways;
    }
    return steps;
}

static gph_status walk(struct share *s, gph_allocator heap, bool *own, bool *exact)
{
    gphi_front front;
    gph_status status = gphi_front_init(&front, heap, &s->limits, count_steps(s));
    for (uint32_t c = 0; c < s->class_count && status == GPH_OK; c++) {
        s->limits.later_bytes -= largest_of(s, c);
        s->limits.later_execs -= 1;
        status = walk_class(&front, s, c);
    }
    if (status == GPH_OK)
        gphi_front_best(&front, own);
    *exact = front.exact;
    gphi_front_fini(&front);
    return status;
}

/* ---- what comes out ---- */

/* The graph of a class whose executable the cold ones share; `count` if none is cold. A
 * single cold one shares with nobody. */
static uint32_t host_of(const struct share *s, uint32_t class, bool *own)
{
    uint32_t host = s->count, cold = 0;
    for (uint32_t i = s->class_begin[class]; i < s->class_begin[class + 1]; i++) {
        const uint32_t graph = s->order[i];
        if (own[graph])
            continue;
        cold++;
        if (host == s->count || s->graphs[graph].frequency > s->graphs[host].frequency ||
            (s->graphs[graph].frequency == s->graphs[host].frequency && graph < host))
            host = graph;
    }
    if (cold != 1)
        return host;
    own[host] = true;
    return s->count;
}

static void hand_over(const struct share *s, bool *own, uint32_t *owners,
                      gph_plan_share_result *r)
{
    for (uint32_t c = 0; c < s->class_count; c++) {
        const uint32_t host = host_of(s, c, own);
        uint64_t shared = 0;
        r->exec_count += host != s->count;
        for (uint32_t i = s->class_begin[c]; i < s->class_begin[c + 1]; i++) {
            const uint32_t graph = s->order[i];
            const gph_plan_sharer *g = &s->graphs[graph];
            owners[graph] = own[graph] ? graph : host;
            r->own_count += own[graph];
            r->exec_count += own[graph];
            r->bytes += own[graph] ? g->bytes : 0;
            r->bytes_apart += g->bytes;
            if (!own[graph] && g->bytes > shared)
                shared = g->bytes;
        }
        r->bytes += shared;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        const gph_plan_sharer *g = &s->graphs[i];
        r->cost_apart += g->frequency * g->launch_cost;
        r->cost += g->frequency * g->launch_cost + (own[i] ? 0 : update_cost(g));
    }
}

static gph_status check_limits(struct share *s, gph_error *error)
{
    gphi_front_limits *l = &s->limits;
    for (uint32_t c = 0; c < s->class_count; c++)
        l->later_bytes += largest_of(s, c);
    l->later_execs = s->class_count;
    if (l->later_bytes > l->bytes)
        return gphi_fail(error, GPH_E_STATE,
                         "%u classes take %llu bytes with one executable each, and %llu "
                         "are allowed",
                         s->class_count, (unsigned long long)l->later_bytes,
                         (unsigned long long)l->bytes);
    if (l->later_execs > l->execs)
        return gphi_fail(error, GPH_E_STATE,
                         "%u classes take an executable each, and %u are allowed",
                         s->class_count, l->execs);
    return GPH_OK;
}

static gph_status check_graphs(const gph_plan_sharer *graphs, size_t count,
                               gph_error *error)
{
    uint64_t sum = 0;
    if (count == 0 || count > GRAPHS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%zu graphs, not 1 to %u", count,
                         GRAPHS_MAX);
    for (size_t i = 0; i < count; i++) {
        const gph_plan_sharer *g = &graphs[i];
        const double values[] = {g->frequency, g->launch_cost, g->update_cost};
        static const char *const names[] = {"frequency", "launch cost", "update cost"};
        for (size_t k = 0; k < 3; k++)
            if (!isfinite(values[k]) || values[k] < 0)
                return gphi_fail(error, GPH_E_INVALID,
                                 "graph %zu: %s %g is not finite and >= 0", i, names[k],
                                 values[k]);
        if (g->bytes > BYTES_MAX - sum)
            return gphi_fail(error, GPH_E_INVALID,
                             "graph %zu: the executables have more than 2^62 bytes", i);
        sum += g->bytes;
    }
    return GPH_OK;
}

static gph_status solve(struct share *s, const gph_plan_share_options *o,
                        gph_allocator heap, bool *own, bool *exact, gph_error *error)
{
    GPHI_TRY(gphi_made(error, find_classes(s, heap) == GPH_OK, "planning %u graphs",
                       s->count));
    s->limits.bytes = o->byte_budget != 0 ? o->byte_budget : UINT64_MAX;
    s->limits.execs = o->exec_max != 0 ? o->exec_max : UINT32_MAX;
    GPHI_TRY(check_limits(s, error));
    GPHI_TRY(gphi_made(error, walk(s, heap, own, exact) == GPH_OK, "planning %u graphs",
                       s->count));
    return GPH_OK;
}

gph_status gph_plan_share(const gph_plan_sharer *graphs, size_t count,
                          const gph_plan_share_options *options, uint32_t *owners,
                          gph_plan_share_result *result, gph_error *error)
{
    gph_plan_share_options o;
    GPHI_TRY(gphi_options_read(&o, sizeof(o), "gph_plan_share_options", options, error));
    GPHI_TRY(gphi_need(error, graphs, owners));
    GPHI_TRY(check_graphs(graphs, count, error));
    const gph_allocator heap = gphi_heap(o.allocator);
    struct share s = {.graphs = graphs, .count = (uint32_t)count};
    gph_plan_share_result r = {0};
    bool exact = false, *own = gphi_heap_array(heap, count, sizeof(*own));
    gph_status status;
    s.order = gphi_heap_array(heap, count, sizeof(*s.order));
    s.class_begin = gphi_heap_array(heap, count + 1, sizeof(uint32_t));
    if (own && s.order && s.class_begin)
        status = solve(&s, &o, heap, own, &exact, error);
    else
        status = gphi_fail(error, GPH_E_NO_MEMORY, "planning %zu graphs", count);
    if (status == GPH_OK) {
        hand_over(&s, own, owners, &r);
        r.exact = exact;
        if (result)
            gphi_struct_write(result, &r, sizeof(r));
    }
    gphi_heap_free(heap, own, count * sizeof(*own));
    gphi_heap_free(heap, s.order, count * sizeof(*s.order));
    gphi_heap_free(heap, s.class_begin, (count + 1) * sizeof(uint32_t));
    return status;
}
