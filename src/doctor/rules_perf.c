// SPDX-License-Identifier: Apache-2.0
/* Rules perf.*: graphs would pay, or do not pay as they are. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_perf[] = {
    {.id = NULL},
};
const size_t gphi_rules_perf_count =
    sizeof(gphi_rules_perf) / sizeof(gphi_rules_perf[0]) - 1;
