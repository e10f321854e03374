// SPDX-License-Identifier: Apache-2.0
/* Rules capture.*: a capture is broken, or records something else than was meant. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_capture[] = {
    {.id = NULL},
};
const size_t gphi_rules_capture_count =
    sizeof(gphi_rules_capture) / sizeof(gphi_rules_capture[0]) - 1;
