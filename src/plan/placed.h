// SPDX-License-Identifier: Apache-2.0
/* The buffers placed so far, to be asked which of them live together with another one. Two
 * ways, of which the cheaper is taken: where few do, a tree over the buffers in order of their
 * begin that keeps the latest end below each node; where many do, a list of all in order of
 * their offsets. */
#ifndef GPHI_PLAN_PLACED_H
#define GPHI_PLAN_PLACED_H
#include "plan/levels.h"
#include "plan/problem.h"

typedef struct gphi_placed {
    const gphi_problem *problem;
    uint32_t leaf_count; /* a power of two, or 0 */
    uint32_t *by_begin;  /* buffers in order of their first section */
    uint32_t *leaf;      /* a buffer: its place in by_begin */
    uint32_t *end;       /* a node: 1 + the last section of what is placed below, or 0 */
    gphi_level *found;   /* what gphi_placed_meet() fills: by offset */
    uint32_t *stack;     /* and needs */
    uint32_t found_count;
    uint64_t *offsets;      /* of those placed */
    bool *crowded;          /* a buffer: many live together with it; */
    bool is_crowded;        /* with any: then all that is placed is in */
    gphi_levels *by_offset; /* or NULL */
} gphi_placed;

/* `placed` needs gphi_placed_fini() also after a failure. */
gph_status gphi_placed_init(gphi_placed *placed, const gphi_problem *problem);
void gphi_placed_fini(gphi_placed *placed);
void gphi_placed_clear(gphi_placed *placed);
void gphi_placed_add(gphi_placed *placed, uint32_t buffer, uint64_t offset);
void gphi_placed_drop(gphi_placed *placed,
                      uint32_t buffer); /* as if it had not been added */
/* placed->found becomes those placed that share a section with `buffer`, and may run with
 * it, in order of their offsets. */
void gphi_placed_meet(gphi_placed *placed, uint32_t buffer);
#endif
