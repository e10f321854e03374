// SPDX-License-Identifier: Apache-2.0
/* Rules nccl.*: NCCL and graphs. */
#include "doctor/rules.h"

/* The last entry is no rule. */
const gphi_rule gphi_rules_nccl[] = {
    {.id = NULL},
};
const size_t gphi_rules_nccl_count =
    sizeof(gphi_rules_nccl) / sizeof(gphi_rules_nccl[0]) - 1;
