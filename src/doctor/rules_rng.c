// SPDX-License-Identifier: Apache-2.0
/* Rules rng.*: random numbers that a graph repeats. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_rng[] = {
    {.id = NULL},
};
const size_t gphi_rules_rng_count =
    sizeof(gphi_rules_rng) / sizeof(gphi_rules_rng[0]) - 1;
