// SPDX-License-Identifier: Apache-2.0
/* Free ranges of addresses, to be asked for the lowest one that holds a buffer; and a walk
 * through time in which buffers take ranges as they begin and give them back as they end.
 * Each step takes time that grows with the logarithm of what lives, never with how many
 * live together: what plans and checks by it ends soon whatever it is given. */
#ifndef GPHI_PLAN_GAPS_H
#define GPHI_PLAN_GAPS_H
#include "plan/problem.h"

typedef struct gphi_gaps gphi_gaps;

/* The lowest place of a buffer, which becomes its own. Where only a few of many gaps are
 * aligned, a little higher. */
uint64_t gphi_gaps_place(gphi_gaps *gaps, const gph_plan_buffer *buffer);

/* Takes bytes from `offset` on; false: not all of them are free. */
bool gphi_gaps_take(gphi_gaps *gaps, uint64_t offset, uint64_t bytes);

/* A buffer begins: where it lies, offsets[buffer], has to be taken. False ends the walk. */
typedef bool gphi_gaps_begin(void *user, gphi_gaps *gaps, uint32_t buffer);

/* Calls `begin` for each buffer, in order of time, pinned ones only if `with_pinned`, while
 * those are taken that live then; addresses begin at `floor`. GPH_E_INVALID: it returned
 * false. GPH_E_NO_MEMORY. */
gph_status gphi_gaps_walk(const gphi_problem *problem, const uint64_t *offsets,
                          uint64_t floor, bool with_pinned, gphi_gaps_begin *begin,
                          void *user);
#endif
