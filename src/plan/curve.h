// SPDX-License-Identifier: Apache-2.0
/* Curves of points with straight lines between them. */
#ifndef GPHI_PLAN_CURVE_H
#define GPHI_PLAN_CURVE_H
#include <gph/plan.h>
#include <gph/plan_ladder.h>

/* GPH_E_INVALID: sizes that do not rise, a value below 0 or no number; `name` is the
 * curve's in the message. */
gph_status gphi_curve_check(const gph_plan_curve *curve, const char *name,
                            gph_error *error);

/* As gph_plan_curve_at(), but `none` if there is no curve. */
double gphi_curve_at(const gph_plan_curve *curve, uint64_t size, double none);
#endif
