// SPDX-License-Identifier: Apache-2.0
/* The tables of rules, one a file. */
#ifndef GPHI_DOCTOR_RULES_H
#define GPHI_DOCTOR_RULES_H
#include "doctor/findings/rule.h"

/* X(class): rules_CLASS.c defines gphi_rules_CLASS[] and gphi_rules_CLASS_count. A file
 * that has grown too long calls functions of rules_CLASS_x.c; its table stays. */
#define GPHI_RULE_TABLES(X)                                                              \
    X(capture)                                                                           \
    X(instantiate)                                                                       \
    X(update)                                                                            \
    X(launch)                                                                            \
    X(memory)                                                                            \
    X(cache)                                                                             \
    X(perf)                                                                              \
    X(rng)                                                                               \
    X(nccl)                                                                              \
    X(log)

#define X(class)                                                                         \
    extern const gphi_rule gphi_rules_##class[];                                         \
    extern const size_t gphi_rules_##class##_count;
GPHI_RULE_TABLES(X)
#undef X
#endif
