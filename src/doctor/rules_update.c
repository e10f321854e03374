// SPDX-License-Identifier: Apache-2.0
/* Rules update.*: an executable is refused its new graph, or keeps the old one. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_update[] = {
    {.id = NULL},
};
const size_t gphi_rules_update_count =
    sizeof(gphi_rules_update) / sizeof(gphi_rules_update[0]) - 1;
