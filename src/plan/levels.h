// SPDX-License-Identifier: Apache-2.0
/* Buffers in order of a key, an address say, to be asked for those that live together with
 * another one: chunks of a sorted list, each with the time that it covers. A buffer that lives together
 * with thousands is found by looking at all of them in order; no sort is needed. */
#ifndef GPHI_PLAN_LEVELS_H
#define GPHI_PLAN_LEVELS_H
#include "plan/problem.h"

typedef struct gphi_level {
    uint64_t key;
    uint32_t buffer;
} gphi_level;

typedef struct gphi_levels gphi_levels;

/* NULL: no memory. */
gphi_levels *gphi_levels_create(const gphi_problem *problem);
void gphi_levels_destroy(gphi_levels *levels);
void gphi_levels_clear(gphi_levels *levels);
void gphi_levels_add(gphi_levels *levels, uint32_t buffer, uint64_t key);
/* `key` is what it was added with. */
void gphi_levels_drop(gphi_levels *levels, uint32_t buffer, uint64_t key);
/* Those that share a section with `buffer`, in rising order of their keys; `found` has room
 * for all. How many they are. */
uint32_t gphi_levels_meet(const gphi_levels *levels, uint32_t buffer, gphi_level *found);
#endif
