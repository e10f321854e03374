// SPDX-License-Identifier: Apache-2.0
/* A ladder as a path: its rungs are nodes in order of size, a step from one to the next
 * carries the calls that lie between them.
 *
 *       calls 1..r0        r0+1..r2             above r3: `rest`
 *   start ────────> r0 ────────────> r2 ──> r3 ────────> end
 */
#ifndef GPHI_PLAN_LADDER_H
#define GPHI_PLAN_LADDER_H
#include <gph/plan.h>
#include <stdbool.h>

enum { GPHI_USE_RUNGS, GPHI_USE_BYTES, GPHI_USE_SECONDS, GPHI_USES };

/* A rung that may be chosen. */
typedef struct gphi_rung {
    uint64_t size; /* first: they are sorted by it */
    double calls;  /* of its size and smaller ones */
    double cost;   /* of a replay */
    double own;    /* what it costs by being there: weighted bytes and seconds */
    double rest;   /* of the calls above it, if it is the last; INFINITY: it cannot be */
    double use[GPHI_USES]; /* of what is limited */
} gphi_rung;

typedef struct gphi_ladder {
    gph_allocator heap;
    gphi_rung *rungs;
    uint32_t count, room;
    double rest;             /* of all calls, with no rung at all, or INFINITY */
    double limit[GPHI_USES]; /* INFINITY: none */
    uint32_t *chosen;      /* out: indices of rungs, rising; as many as there are rungs */
    uint32_t chosen_count; /* out */
    bool exact;            /* out */
    struct gphi_ladder_table
        *table; /* of gphi_ladder_shortest(), kept from call to call */
} gphi_ladder;

/* The cheapest path with at most `most` rungs; other limits are not looked at. */
gph_status gphi_ladder_shortest(gphi_ladder *ladder, uint32_t most);

/* Frees what it kept. */
void gphi_ladder_drop_table(gphi_ladder *ladder);

/* The cheapest path within all limits; `ladder` has one within them. */
gph_status gphi_ladder_within(gphi_ladder *ladder);
#endif
