// SPDX-License-Identifier: Apache-2.0
/* Rules memory.*: a replay finds other memory than was captured, or memory is held for
 * nothing. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_memory[] = {
    {.id = NULL},
};
const size_t gphi_rules_memory_count =
    sizeof(gphi_rules_memory) / sizeof(gphi_rules_memory[0]) - 1;
