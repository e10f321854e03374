// SPDX-License-Identifier: Apache-2.0
/* Curves of points with straight lines between them. */
#include "plan/curve.h"

#include <math.h>

#include "base/fail.h"

#include <gph/plan_ladder.h>

gph_status gphi_curve_check(const gph_plan_curve *curve, const char *name,
                            gph_error *error)
{
    if (curve->count != 0 && !curve->points)
        return gphi_fail(error, GPH_E_INVALID, "the curve of %s has %zu points, and NULL",
                         name, curve->count);
    for (size_t i = 0; i < curve->count; i++) {
        const gph_plan_point *p = &curve->points[i];
        if (!isfinite(p->value) || p->value < 0)
            return gphi_fail(error, GPH_E_INVALID,
                             "the curve of %s is %g at %llu: not finite and >= 0", name,
                             p->value, (unsigned long long)p->size);
        if (i > 0 && p->size <= p[-1].size)
            return gphi_fail(error, GPH_E_INVALID,
                             "the curve of %s: size %llu follows %llu: sizes must rise",
                             name, (unsigned long long)p->size,
                             (unsigned long long)p[-1].size);
    }
    return GPH_OK;
}

double gphi_curve_at(const gph_plan_curve *curve, uint64_t size, double none)
{
    const gph_plan_point *points = curve->points;
    if (curve->count < 2)
        return curve->count == 0 ? none : points[0].value;
    size_t lo = 0, hi = curve->count - 1; /* the line to use goes from lo to lo + 1 */
    while (hi - lo > 1) {
        const size_t middle = lo + (hi - lo) / 2;
        if (points[middle].size <= size)
            lo = middle;
        else
            hi = middle;
    }
    const gph_plan_point *a = &points[lo], *b = &points[lo + 1];
    const double along =
        ((double)size - (double)a->size) / ((double)b->size - (double)a->size);
    const double value = a->value + (b->value - a->value) * along;
    return value > 0 ? value : 0;
}

double gph_plan_curve_at(const gph_plan_curve *curve, uint64_t size)
{
    return gphi_curve_at(curve, size, 0);
}
