// SPDX-License-Identifier: Apache-2.0
/* Bodies of branches, choices and loops that buffers belong to: which of them exclude each
 * other, and how many bytes live in them at a time. Cases of one choice count as their
 * largest, all else is summed.
 *
 *   root ─┬─ choice 1 ─┬─ case 0 ── ...        max
 *         │            └─ case 1 ── choice 2   sum of its own and max(...)
 *         └─ loop ── ...                       sum
 */
#ifndef GPHI_PLAN_BODIES_H
#define GPHI_PLAN_BODIES_H
#include <gph/plan.h>
#include <stdbool.h>

#include "base/heap.h"

typedef struct gphi_bodies {
    gph_allocator heap;
    const gph_plan_body *items; /* borrowed; body i is items[i - 1], 0 is the root */
    uint32_t count;
    bool has_choice; /* some two exclude each other */
    bool has_loop;
    uint32_t *depth; /* of a body; of the root 0 */
    uint32_t *twin;  /* the next case of its choice, round and round */
    uint64_t *all;   /* bytes that live in it and in what is in it */
} gphi_bodies;

/* Refuses what is not a tree. Needs gphi_bodies_fini() also after a failure, of zeros too. */
gph_status gphi_bodies_init(gphi_bodies *bodies, const gph_plan_body *items, size_t count,
                            gph_allocator heap, gph_error *error);
void gphi_bodies_fini(gphi_bodies *bodies);

/* Whether at most one of two bodies runs. */
bool gphi_bodies_exclude(const gphi_bodies *bodies, uint32_t a, uint32_t b);

/* When a buffer ends, with the rounds of loops that it is read in again. */
uint64_t gphi_bodies_upper(const gphi_bodies *bodies, const gph_plan_buffer *buffer);

/* Bytes begin to live in a body, or end: modulo 2^64. */
void gphi_bodies_add(gphi_bodies *bodies, uint32_t body, uint64_t bytes);

/* The most of them that can live now. */
uint64_t gphi_bodies_bytes(const gphi_bodies *bodies);
#endif
