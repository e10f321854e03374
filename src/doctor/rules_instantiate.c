// SPDX-License-Identifier: Apache-2.0
/* Rules instantiate.*: a graph is refused as an executable. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_instantiate[] = {
    {.id = NULL},
};
const size_t gphi_rules_instantiate_count =
    sizeof(gphi_rules_instantiate) / sizeof(gphi_rules_instantiate[0]) - 1;
