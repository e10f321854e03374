// SPDX-License-Identifier: Apache-2.0
/* Buffers of known lifetimes, with time cut into the sections in which the set of living
 * buffers does not change. */
#ifndef GPHI_PLAN_PROBLEM_H
#define GPHI_PLAN_PROBLEM_H
#include <gph/plan.h>
#include <stdbool.h>

#include "plan/bodies.h"

typedef struct gphi_problem {
    gph_allocator heap;
    const gph_plan_buffer *buffers; /* borrowed */
    gphi_bodies bodies;
    uint32_t count;
    uint32_t section_count;
    uint32_t *first, *last; /* a buffer: the sections it lives in, both included */
    uint64_t *live;         /* a section: bytes that live in it, of cases the largest */
    uint64_t bound;         /* no plan is lower */
    bool pinned;            /* some buffer is */
} gphi_problem;

/* `problem` needs gphi_problem_fini() also after a failure. */
gph_status gphi_problem_init(gphi_problem *problem, const gph_plan_buffer *buffers,
                             size_t count, const gph_plan_body *bodies, size_t body_count,
                             gph_allocator heap, gph_error *error);
void gphi_problem_fini(gphi_problem *problem);

/* Whether two buffers may not overlap. */
static inline bool gphi_plan_meet(const gphi_problem *p, uint32_t a, uint32_t b)
{
    return a != b && p->first[a] <= p->last[b] && p->first[b] <= p->last[a] &&
           !gphi_bodies_exclude(&p->bodies, p->buffers[a].body, p->buffers[b].body);
}

/* The lowest offset from `from` on that suits a buffer's alignment. */
static inline uint64_t gphi_plan_align(const gph_plan_buffer *buffer, uint64_t from)
{
    const uint64_t unit = buffer->alignment;
    return unit < 2 || from % unit == 0 ? from : from - from % unit + unit;
}

/* ---- orders of buffers ---- */

typedef struct gphi_keyed {
    double key;
    uint32_t buffer;
} gphi_keyed;

/* For qsort(): large keys first; of equal ones the lower buffer. */
int gphi_plan_by_key(const void *a, const void *b);

/* A number below 1, the same from run to run (xorshift64*): so are plans. */
#define GPHI_PLAN_SEED UINT64_C(0x9E3779B97F4A7C15)
double gphi_plan_random(uint64_t *state);

/* ---- the solvers: each fills `offsets`, an array of problem->count ---- */

/* When and why to end. */
typedef struct gphi_plan_clock {
    uint64_t begin_ns, end_ns, next_ns; /* next: when to report progress */
    uint64_t steps, step_limit;
    gph_plan_progress_fn *progress;
    void *user;
    gph_plan_progress now;
    bool over;
    uint64_t check_ns; /* what the check of the plan will take, about */
} gphi_plan_clock;

/* Whether to stop. Looks at the time; reports progress. */
bool gphi_plan_is_over(gphi_plan_clock *clock);

/* Greedy rules by turns; the lowest plan of all, at once; *height its height. With
 * `more`, goes on with disturbed orders until the clock or `enough` bytes end it. `first`: the
 * offsets of the first of all, in order of time, whatever comes after it; may be NULL. */
gph_status gphi_plan_greedy(const gphi_problem *problem, gphi_plan_clock *clock,
                            uint64_t enough, bool more, uint64_t *offsets,
                            uint64_t *first, uint64_t *height);

/* Makes the plan in `offsets`, of that height, lower, until the clock or `enough` bytes end
 * it. Nothing may be pinned. */
gph_status gphi_plan_repair(const gphi_problem *problem, gphi_plan_clock *clock,
                            uint64_t enough, uint64_t *offsets, uint64_t *height);

typedef enum gphi_search_end {
    GPHI_SEARCH_FOUND,      /* offsets are filled */
    GPHI_SEARCH_IMPOSSIBLE, /* proven: no plan is that low */
    GPHI_SEARCH_UNKNOWN     /* the time is over */
} gphi_search_end;

/* Whether the exact search can be used at all: nothing pinned, no cases, whose sections
 * hold more than fits, not too many overlaps. */
bool gphi_search_suits(const gphi_problem *problem);
gph_status gphi_plan_search(const gphi_problem *problem, gphi_plan_clock *clock,
                            uint64_t capacity, uint64_t *offsets, gphi_search_end *end);
#endif
