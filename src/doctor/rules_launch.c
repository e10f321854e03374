// SPDX-License-Identifier: Apache-2.0
/* Rules launch.*: a replay fails, or overlaps what it must not. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_launch[] = {
    {.id = NULL},
};
const size_t gphi_rules_launch_count =
    sizeof(gphi_rules_launch) / sizeof(gphi_rules_launch[0]) - 1;
