// SPDX-License-Identifier: Apache-2.0
/* The rules of CUDA graphs that this driver holds, by the names of docs/conformance.md.
 *
 * Code that enforces a rule names it where it decides:
 *
 *     if (soft_rule(R45) && freed_before(node))
 *         return soft_fail(CUDA_ERROR_INVALID_VALUE, ...);
 *
 * In a build with SOFTCUDA_RULE_SWITCHES (debug and the sanitizers)
 * RULES_OFF=R45,R46 switches rules off, which is how CI shows that the tests of
 * a rule fail without it; elsewhere soft_rule() is the constant true. */
#ifndef SOFT_RULES_RULES_H
#define SOFT_RULES_RULES_H
#include <stdbool.h>

enum soft_rule_id {
#define RULE(id, class, source, text) SOFT_RULE_##id,
#include "softcuda/rules/all.def"
#undef RULE
    SOFT_RULE_COUNT
};

#ifdef SOFTCUDA_RULE_SWITCHES
#define soft_rule(id) soft_rule_is_on(SOFT_RULE_##id)
bool soft_rule_is_on(enum soft_rule_id id); /* any thread */
#else
#define soft_rule(id) ((void)SOFT_RULE_##id, true)
#endif

#endif
