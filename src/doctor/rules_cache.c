// SPDX-License-Identifier: Apache-2.0
/* Rules cache.*: graphs are many, padded or frozen: libgph's caches and trees, and
 * libraries' choices. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_cache[] = {
    {.id = NULL},
};
const size_t gphi_rules_cache_count =
    sizeof(gphi_rules_cache) / sizeof(gphi_rules_cache[0]) - 1;
