// SPDX-License-Identifier: Apache-2.0
/* Lines through what was measured. */
#include <gph/plan_ladder.h>
#include <math.h>
#include <stdbool.h>

#include "base/fail.h"

/* Which of the measured values. */
typedef enum field { TENSOR_BYTES, EXEC_BYTES, SECONDS } field;

struct samples {
    const gph_plan_measure *items;
    size_t count;
    field field;
};

static double value_of(const struct samples *s, size_t i)
{
    const gph_plan_measure *m = &s->items[i];
    switch (s->field) {
    case TENSOR_BYTES: return m->tensor_bytes;
    case EXEC_BYTES: return m->exec_bytes;
    case SECONDS: break;
    }
    return m->seconds;
}

/* A rest counts as a share of the value; of 0 as it is. */
static double weight_of(double value)
{
    return value > 0 ? 1 / (value * value) : 1;
}

/* The sum of squared rests of a line. */
static double rest_of(const struct samples *s, double base, double slope)
{
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double y = value_of(s, i);
        const double rest = base + slope * (double)s->items[i].size - y;
        sum += weight_of(y) * rest * rest;
    }
    return sum;
}

/* The best line has base and slope >= 0, or lies on the border of that: then it is the
 * better of the best constant and the best line through 0. */
static gph_plan_line line_of(const struct samples *s)
{
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double x = (double)s->items[i].size, y = value_of(s, i);
        const double weight = weight_of(y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    const double mean = wx / w, spread = wxx - wx * mean;
    double slope = (wxy - mean * wy) / spread, base = (wy - slope * wx) / w;
    if (!(slope >= 0 && base >= 0)) {
        const double constant = wy / w, ratio = wxy / wxx;
        const bool flat = rest_of(s, constant, 0) <= rest_of(s, 0, ratio);
        base = flat ? constant : 0;
        slope = flat ? 0 : ratio;
    }
    const double rest = rest_of(s, base, slope);
    return (gph_plan_line){.base = base,
                           .slope = slope,
                           .spread =
                               s->count > 2 ? sqrt(rest / (double)(s->count - 2)) : -1};
}

static gph_status check_measure(const gph_plan_measure *m, size_t at, gph_error *error)
{
    const double values[] = {m->tensor_bytes, m->exec_bytes, m->seconds};
    static const char *const names[] = {"tensor bytes", "executable bytes", "seconds"};
    if (m->size == 0)
        return gphi_fail(error, GPH_E_INVALID, "measure %zu has size 0", at);
    for (size_t i = 0; i < 3; i++)
        if (!isfinite(values[i]) || values[i] < 0)
            return gphi_fail(error, GPH_E_INVALID, "measure %zu has %g %s", at, values[i],
                             names[i]);
    return GPH_OK;
}

gph_status gph_plan_cost_fit(const gph_plan_measure *measures, size_t count,
                             gph_plan_fit *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, out));
    GPHI_TRY(gphi_need_named(error, __func__, measures || count == 0, "measures"));
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        GPHI_TRY(check_measure(&measures[i], i, error));
        least = measures[i].size < least ? measures[i].size : least;
        most = measures[i].size > most ? measures[i].size : most;
    }
    if (count == 0 || least == most)
        return gphi_fail(error, GPH_E_INVALID,
                         "%zu measures of one size: a line needs two sizes", count);
    struct samples s = {measures, count, TENSOR_BYTES};
    const gph_plan_line tensors = line_of(&s);
    s.field = EXEC_BYTES;
    const gph_plan_line execs = line_of(&s);
    s.field = SECONDS;
    *out = (gph_plan_fit){.tensor_bytes = tensors,
                          .exec_bytes = execs,
                          .seconds = line_of(&s),
                          .size_min = least,
                          .size_max = most};
    return GPH_OK;
}

gph_plan_measure gph_plan_cost_at(const gph_plan_fit *fit, uint64_t size)
{
    const double x = (double)size;
    return (gph_plan_measure){
        .size = size,
        .tensor_bytes = fit->tensor_bytes.base + fit->tensor_bytes.slope * x,
        .exec_bytes = fit->exec_bytes.base + fit->exec_bytes.slope * x,
        .seconds = fit->seconds.base + fit->seconds.slope * x};
}
