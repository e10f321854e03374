// SPDX-License-Identifier: Apache-2.0
/* gph_plan_ladder() and gph_plan_ladder_judge(): from histograms and curves to rungs that
 * may be chosen, and from those chosen to what they mean. */
#include "plan/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/heap.h"
#include "base/vec.h"
#include "plan/curve.h"

#include <gph/plan_ladder.h>

#define SIZES_MAX 65536u
#define NUMBER_MAX (UINT64_C(1) << 53) /* doubles are exact up to here */
#define BUDGET_RUNGS_MAX 1024u         /* between which gphi_ladder_within() chooses */

/* What was asked for, in order. */
struct traffic {
    gph_allocator heap;
    gph_plan_ladder_options options;
    gph_plan_size *sizes; /* different ones, rising */
    size_t count, room;
};

static uint64_t round_up(const gph_plan_ladder_options *o, uint64_t size)
{
    return o->multiple < 2 ? size : (size + o->multiple - 1) / o->multiple * o->multiple;
}

static double cost_at(const gph_plan_ladder_options *o, uint64_t size)
{
    return gphi_curve_at(&o->cost, size, (double)size);
}

/* ---- what is asked ---- */

static gph_status check_number(double value, const char *name, gph_error *error)
{
    if (!isfinite(value) || value < 0)
        return gphi_fail(error, GPH_E_INVALID, "%s is %g: not finite and >= 0", name,
                         value);
    return GPH_OK;
}

static gph_status check_options(const gph_plan_ladder_options *o, gph_error *error)
{
    GPHI_TRY(gphi_curve_check(&o->cost, "cost", error));
    GPHI_TRY(gphi_curve_check(&o->eager, "eager", error));
    GPHI_TRY(gphi_curve_check(&o->bytes, "bytes", error));
    GPHI_TRY(gphi_curve_check(&o->seconds, "seconds", error));
    GPHI_TRY(check_number(o->second_budget, "the budget of seconds", error));
    GPHI_TRY(check_number(o->byte_weight, "the weight of a byte", error));
    GPHI_TRY(check_number(o->second_weight, "the weight of a second", error));
    if (o->multiple > NUMBER_MAX)
        return gphi_fail(error, GPH_E_INVALID, "the multiple is %llu, beyond 2^53",
                         (unsigned long long)o->multiple);
    return GPH_OK;
}

static gph_status check_sizes(const gph_plan_histogram *h, gph_error *error)
{
    uint64_t calls = 0;
    if (!h || h->count == 0 || !h->sizes)
        return gphi_fail(error, GPH_E_INVALID, "the histogram has no sizes%s",
                         !h              ? ": it is NULL"
                         : h->count != 0 ? ": they are NULL"
                                         : "");
    for (size_t i = 0; i < h->count; i++) {
        const gph_plan_size *s = &h->sizes[i];
        if (s->size == 0 || s->size > NUMBER_MAX)
            return gphi_fail(error, GPH_E_INVALID, "entry %zu: size %llu, not 1 to 2^53",
                             i, (unsigned long long)s->size);
        if (s->count > NUMBER_MAX - calls)
            return gphi_fail(error, GPH_E_INVALID, "entry %zu: more than 2^53 calls", i);
        calls += s->count;
    }
    return GPH_OK;
}

/* `t` needs end_traffic() also after a failure. */
static gph_status read_traffic(struct traffic *t, const gph_plan_histogram *h,
                               const gph_plan_ladder_options *options, gph_error *error)
{
    t->options = (gph_plan_ladder_options)GPH_PLAN_LADDER_OPTIONS_INIT;
    GPHI_TRY(gphi_options_read(&t->options, sizeof(t->options), "gph_plan_ladder_options",
                               options, error));
    GPHI_TRY(check_options(&t->options, error));
    GPHI_TRY(check_sizes(h, error));
    t->heap = gphi_heap(t->options.allocator);
    t->sizes = gphi_heap_array(t->heap, h->count, sizeof(*t->sizes));
    GPHI_TRY(gphi_made(error, t->sizes, "planning %zu sizes", h->count));
    t->room = h->count;
    memcpy(t->sizes, h->sizes, h->count * sizeof(*t->sizes));
    qsort(t->sizes, h->count, sizeof(*t->sizes), gphi_by_first);
    for (size_t i = 0; i < h->count; i++) {
        if (t->count != 0 && t->sizes[t->count - 1].size == t->sizes[i].size)
            t->sizes[t->count - 1].count += t->sizes[i].count;
        else
            t->sizes[t->count++] = t->sizes[i];
    }
    if (t->count > SIZES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "%zu different sizes, more than %u",
                         t->count, SIZES_MAX);
    return GPH_OK;
}

static void end_traffic(struct traffic *t)
{
    gphi_heap_free(t->heap, t->sizes, t->room * sizeof(*t->sizes));
}

/* ---- rungs that may be chosen ---- */

static bool falls(const gph_plan_curve *curve)
{
    for (size_t i = 1; i < curve->count; i++)
        if (curve->points[i].value < curve->points[i - 1].value)
            return true;
    return false;
}

static void add_points(gphi_ladder *l, const struct traffic *t,
                       const gph_plan_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        const uint64_t size = round_up(&t->options, curve->points[i].size);
        if (size >= t->sizes[0].size && size <= NUMBER_MAX)
            l->rungs[l->count++].size = size;
    }
}

/* The sizes that were asked for; where a curve falls, a larger rung may be cheaper, so
 * its points are there as well. */
static gph_status list_rungs(gphi_ladder *l, const struct traffic *t)
{
    const gph_plan_ladder_options *o = &t->options;
    const bool more = falls(&o->cost) || falls(&o->bytes) || falls(&o->seconds);
    const size_t room =
        t->count + (more ? o->cost.count + o->bytes.count + o->seconds.count : 0);
    if (room > UINT32_MAX / 2)
        return GPH_E_NO_MEMORY;
    l->room = (uint32_t)room;
    l->rungs = gphi_heap_array(l->heap, room, sizeof(*l->rungs));
    if (!l->rungs)
        return GPH_E_NO_MEMORY;
    for (size_t i = 0; i < t->count; i++)
        l->rungs[l->count++].size = round_up(o, t->sizes[i].size);
    if (more) {
        add_points(l, t, &o->cost);
        add_points(l, t, &o->bytes);
        add_points(l, t, &o->seconds);
        qsort(l->rungs, l->count, sizeof(*l->rungs), gphi_by_first);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (count == 0 || l->rungs[count - 1].size != l->rungs[i].size)
            l->rungs[count++] = l->rungs[i];
    l->count = count;
    return GPH_OK;
}

static void measure_rungs(gphi_ladder *l, const struct traffic *t)
{
    const gph_plan_ladder_options *o = &t->options;
    double calls = 0, rest = 0;
    size_t at = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        gphi_rung *r = &l->rungs[i];
        for (; at < t->count && t->sizes[at].size <= r->size; at++)
            calls += (double)t->sizes[at].count;
        const double bytes = gphi_curve_at(&o->bytes, r->size, 0);
        const double seconds = gphi_curve_at(&o->seconds, r->size, 0);
        r->calls = calls;
        r->cost = cost_at(o, r->size);
        r->own = o->byte_weight * bytes + o->second_weight * seconds;
        r->use[GPHI_USE_RUNGS] = 1;
        r->use[GPHI_USE_BYTES] = bytes;
        r->use[GPHI_USE_SECONDS] = seconds;
        r->rest = at == t->count ? 0 : INFINITY;
    }
    l->rest = INFINITY;
    if (o->eager.count == 0)
        return;
    for (uint32_t i = l->count; i-- > 0;) {
        for (; at > 0 && t->sizes[at - 1].size > l->rungs[i].size; at--)
            rest += (double)t->sizes[at - 1].count *
                    gph_plan_curve_at(&o->eager, t->sizes[at - 1].size);
        l->rungs[i].rest = rest;
    }
    for (; at > 0; at--)
        rest += (double)t->sizes[at - 1].count *
                gph_plan_curve_at(&o->eager, t->sizes[at - 1].size);
    l->rest = rest;
}

/* ---- limits ---- */

/* Where every rung takes as much, a budget is a number of rungs. */
static void limit_use(gphi_ladder *l, int use, double limit)
{
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        const double u = l->rungs[i].use[use];
        least = u < least ? u : least;
        most = u > most ? u : most;
    }
    if (most == 0)
        return;
    if (least != most)
        l->limit[use] = limit;
    else if (floor(limit / most) < l->limit[GPHI_USE_RUNGS])
        l->limit[GPHI_USE_RUNGS] = floor(limit / most);
}

static void set_limits(gphi_ladder *l, const gph_plan_ladder_options *o, size_t room)
{
    for (int u = 0; u < GPHI_USES; u++)
        l->limit[u] = INFINITY;
    l->limit[GPHI_USE_RUNGS] = (double)(room < l->count ? room : l->count);
    if (o->bucket_max != 0 && o->bucket_max < l->limit[GPHI_USE_RUNGS])
        l->limit[GPHI_USE_RUNGS] = o->bucket_max;
    if (o->byte_budget != 0)
        limit_use(l, GPHI_USE_BYTES, (double)o->byte_budget);
    if (o->second_budget != 0)
        limit_use(l, GPHI_USE_SECONDS, o->second_budget);
}

static bool is_within(const gphi_ladder *l, const uint32_t *chosen, uint32_t count)
{
    for (int u = 0; u < GPHI_USES; u++) {
        double sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += l->rungs[chosen[i]].use[u];
        if (sum > l->limit[u])
            return false;
    }
    return true;
}

/* Some ladder keeps the limits if one of a single rung does, or of none. */
static gph_status check_limits(const gphi_ladder *l, gph_error *error)
{
    double bytes = INFINITY, seconds = INFINITY;
    bool fits = isfinite(l->rest);
    for (uint32_t i = 0; i < l->count && !fits; i++) {
        const gphi_rung *r = &l->rungs[i];
        if (!isfinite(r->rest))
            continue;
        fits = is_within(l, &i, 1);
        bytes = fmin(bytes, r->use[GPHI_USE_BYTES]);
        seconds = fmin(seconds, r->use[GPHI_USE_SECONDS]);
    }
    if (fits)
        return GPH_OK;
    return gphi_fail(error, GPH_E_STATE,
                     "no ladder fits the budgets: one rung that covers all sizes "
                     "takes at least %.0f bytes and %g seconds",
                     bytes, seconds);
}

/* Sums of what the curves say are numbers: lines go on beyond their last points. */
static gph_status check_rungs(const gphi_ladder *l, gph_error *error)
{
    const double calls = l->rungs[l->count - 1].calls;
    for (uint32_t i = 0; i < l->count; i++) {
        const gphi_rung *r = &l->rungs[i];
        double most = calls * r->cost + r->own * l->count;
        for (int u = 0; u < GPHI_USES; u++)
            most += r->use[u] * l->count;
        if (!isfinite(most))
            return gphi_fail(
                error, GPH_E_INVALID,
                "the curves say of size %llu: cost %g, %g bytes, %g seconds, "
                "which add up to more than a double holds",
                (unsigned long long)r->size, r->cost, r->use[GPHI_USE_BYTES],
                r->use[GPHI_USE_SECONDS]);
    }
    return GPH_OK;
}

/* Leaves at most so many, the largest among them. */
static bool thin_out(gphi_ladder *l, uint32_t most)
{
    const uint32_t every = (l->count + most - 1) / most;
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->count; i++)
        if (i % every == (l->count - 1) % every)
            l->rungs[count++] = l->rungs[i];
    const bool thinner = count < l->count;
    l->count = count;
    return thinner;
}

static gph_status choose(gphi_ladder *l, gph_error *error)
{
    GPHI_TRY(check_limits(l, error));
    const uint32_t most = (uint32_t)l->limit[GPHI_USE_RUNGS];
    gph_status status = GPH_OK;
    l->exact = true;
    l->chosen = gphi_heap_array(l->heap, l->room, sizeof(*l->chosen));
    GPHI_TRY(gphi_made(error, l->chosen, "planning %u rungs", l->room));
    if (most != 0) /* else there is nothing to choose: calls run without graphs */
        status = gphi_ladder_shortest(l, most);
    if (status == GPH_OK && !is_within(l, l->chosen, l->chosen_count)) {
        const bool thinner = thin_out(l, BUDGET_RUNGS_MAX);
        if (most >= l->count)
            l->limit[GPHI_USE_RUNGS] = INFINITY;
        status = gphi_ladder_within(l);
        l->exact = l->exact && !thinner;
    }
    if (status != GPH_OK)
        return gphi_fail(error, status, "planning a ladder of %u sizes", l->count);
    return GPH_OK;
}

/* ---- what a ladder means ---- */

static gph_status judge(const struct traffic *t, const uint64_t *rungs, size_t count,
                        gph_plan_ladder_result *out, gph_error *error)
{
    const gph_plan_ladder_options *o = &t->options;
    gph_plan_ladder_result r = {.rung_count = count};
    double asked = 0, replayed = 0;
    size_t rung = 0;
    for (size_t i = 0; i < t->count; i++) {
        const gph_plan_size *s = &t->sizes[i];
        const double calls = (double)s->count;
        while (rung < count && rungs[rung] < s->size)
            rung++;
        r.cost_unbounded += calls * cost_at(o, s->size);
        if (rung == count) {
            if (o->eager.count == 0)
                return gphi_fail(error, GPH_E_INVALID,
                                 "size %llu is above the ladder, and no curve says what "
                                 "it costs without a graph",
                                 (unsigned long long)s->size);
            r.cost += calls * gph_plan_curve_at(&o->eager, s->size);
            r.eager_count += s->count;
            continue;
        }
        r.cost += calls * cost_at(o, rungs[rung]);
        asked += calls * (double)s->size;
        replayed += calls * (double)rungs[rung];
    }
    for (size_t i = 0; i < count; i++) {
        r.bytes += gph_plan_curve_at(&o->bytes, rungs[i]);
        r.seconds += gph_plan_curve_at(&o->seconds, rungs[i]);
    }
    r.padding = replayed > 0 ? 1 - asked / replayed : 0;
    *out = r;
    return GPH_OK;
}

gph_status gph_plan_ladder_judge(const gph_plan_histogram *histogram,
                                 const gph_plan_ladder_options *options,
                                 const uint64_t *rungs, size_t rung_count,
                                 gph_plan_ladder_result *result, gph_error *error)
{
    struct traffic t = {0};
    GPHI_TRY(gphi_need(error, result));
    GPHI_TRY(gphi_need_named(error, __func__, rungs || rung_count == 0, "rungs"));
    for (size_t i = 0; i < rung_count; i++)
        if (rungs[i] <= (i > 0 ? rungs[i - 1] : 0))
            return gphi_fail(error, GPH_E_INVALID, "rung %zu is %llu: rungs must rise", i,
                             (unsigned long long)rungs[i]);
    gph_status status = read_traffic(&t, histogram, options, error);
    gph_plan_ladder_result full;
    GPHI_THEN(status, judge(&t, rungs, rung_count, &full, error));
    if (status == GPH_OK)
        gphi_struct_write(result, &full, sizeof(full));
    end_traffic(&t);
    return status;
}

static gph_status plan(gphi_ladder *l, const struct traffic *t, size_t room,
                       gph_error *error)
{
    GPHI_TRY(gphi_made(error, list_rungs(l, t) == GPH_OK,
                       "planning the rungs of %zu sizes", t->count));
    measure_rungs(l, t);
    GPHI_TRY(check_rungs(l, error));
    set_limits(l, &t->options, room);
    return choose(l, error);
}

/* Cannot fail: what was chosen covers all sizes. */
static gph_status hand_over(const gphi_ladder *l, const struct traffic *t,
                            uint64_t *rungs, gph_plan_ladder_result *result,
                            gph_error *error)
{
    for (uint32_t i = 0; i < l->chosen_count; i++)
        rungs[i] = l->rungs[l->chosen[i]].size;
    gph_plan_ladder_result r = {0};
    GPHI_TRY(judge(t, rungs, l->chosen_count, &r, error));
    r.exact = l->exact;
    gphi_struct_write(result, &r, sizeof(r));
    return GPH_OK;
}

gph_status gph_plan_ladder(const gph_plan_histogram *histogram,
                           const gph_plan_ladder_options *options, uint64_t *rungs,
                           size_t room, gph_plan_ladder_result *result, gph_error *error)
{
    struct traffic t = {0};
    GPHI_TRY(gphi_need(error, rungs, result));
    if (room == 0)
        return gphi_fail(error, GPH_E_INVALID, "there is room for 0 rungs");
    gphi_ladder l = {0};
    gph_status status = read_traffic(&t, histogram, options, error);
    if (status == GPH_OK) {
        l.heap = t.heap;
        status = plan(&l, &t, room, error);
        GPHI_THEN(status, hand_over(&l, &t, rungs, result, error));
        gphi_ladder_drop_table(&l);
        gphi_heap_free(l.heap, l.rungs, (size_t)l.room * sizeof(*l.rungs));
        gphi_heap_free(l.heap, l.chosen, (size_t)l.room * sizeof(*l.chosen));
    }
    end_traffic(&t);
    return status;
}
