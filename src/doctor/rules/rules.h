// SPDX-License-Identifier: Apache-2.0
/* The tables of rules, one a file. */
#ifndef GPHI_DOCTOR_RULES_H
#define GPHI_DOCTOR_RULES_H
#include "doctor/findings/rule.h"

/* X(class): CLASS/rules_CLASS.c defines gphi_rules_CLASS[], which a row without an id
 * ends. A file that has grown too long calls functions of CLASS/CLASS_x.c; its table
 * stays. */
#define GPHI_RULE_TABLES(X)                                                              \
    X(capture)                                                                           \
    X(instantiate)                                                                       \
    X(update)                                                                            \
    X(device)                                                                            \
    X(launch)                                                                            \
    X(memory)                                                                            \
    X(cache)                                                                             \
    X(perf)                                                                              \
    X(rng)                                                                               \
    X(replay)                                                                            \
    X(nccl)                                                                              \
    X(log)                                                                               \
    X(error)                                                                             \
    X(libgph)                                                                            \
    X(framework)                                                                         \
    X(check)

#define X(class) extern const gphi_rule gphi_rules_##class[];
GPHI_RULE_TABLES(X)
#undef X
#endif
