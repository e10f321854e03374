// SPDX-License-Identifier: Apache-2.0
/* The exact search, and what restarts and divides need of it. */
#ifndef GPHI_PLAN_SEARCH_H
#define GPHI_PLAN_SEARCH_H
#include "base/vec.h"
#include "plan/problem.h"

/* A row a buffer or section: items[begin[i]], items[begin[i] + 1] .. items[begin[i+1]-1]
 */
struct gphi_rows {
    uint32_t *begin, *items;
    size_t row_count, item_count;
};

struct gphi_raised {
    uint64_t before;
    uint32_t buffer;
};

struct gphi_step { /* buffer list[lo] was at list[from] before it was placed */
    uint32_t lo, from, raised_count;
};

struct gphi_candidate {
    uint64_t offset;
    uint32_t buffer, rank;
};

/* The place in the order of (offset, rank) that the search is at. */
struct gphi_front {
    uint64_t offset;
    int64_t rank;
};

typedef struct gphi_search {
    const gphi_problem *problem;
    gphi_plan_clock *clock;
    uint64_t capacity;
    uint64_t *ceiling; /* a section: nothing ends above it; the capacity, or a wall */
    uint64_t *roof;    /* a buffer: the lowest of its ceilings */
    double *trouble;   /* a section: how often it did not fit, lately */
    double trouble_most;
    struct gphi_rows overlaps, members; /* of a buffer; of a section */
    uint64_t *lowest; /* a buffer: where it lies or may lie at the lowest */
    uint64_t *left;   /* a section: bytes not placed yet */
    uint32_t *lower;  /* a buffer: one that may begin below its end, or itself */
    uint32_t *by_begin;
    uint32_t *rank, *list; /* list: placed ones are moved to the front of a part */
    bool *placed;
    struct gphi_raised *raised; /* so that it can be taken back */
    struct gphi_step *steps;
    uint32_t raised_count, step_count;
    uint32_t forced;     /* a buffer that must lie at its lowest offset, or NONE */
    gphi_vec candidates; /* a stack */
    uint64_t steps_left; /* of this restart */
    bool out_of_steps, out_of_memory;
} gphi_search;

#define GPHI_SEARCH_ORDERS 9u
#define GPHI_SEARCH_BY_TROUBLE 6u /* and length: the best one where plans are tight */
#define GPHI_SEARCH_STEPS 4000u   /* of a restart; later ones are longer */

/* Needs gphi_search_fini() also after a failure. */
gph_status gphi_search_init(gphi_search *search, const gphi_problem *problem,
                            gphi_plan_clock *clock, uint64_t capacity);
void gphi_search_fini(gphi_search *search);

/* Nothing placed, no walls; the list in order of the first section. */
void gphi_search_clear(gphi_search *search);

/* Ranks of the buffers list[lo, hi) among each other, by one of the orders; `keyed` is
 * room for as many. With `random`, disturbed. */
void gphi_search_rank(gphi_search *search, gphi_keyed *keyed, uint32_t lo, uint32_t hi,
                      uint32_t order, uint64_t *random);

/* Places list[from] for good, as list[lo]: as low as it can lie, or right below the
 * ceiling. False if something cannot fit any more. */
bool gphi_search_wall(gphi_search *search, uint32_t lo, uint32_t from, bool at_ceiling);

/* Whether what is left can fit in every section. */
bool gphi_search_fits(gphi_search *search);

/* Where the part ends that begins at list[lo]: no buffer of list[lo, end) lives together
 * with one of list[end, hi). */
uint32_t gphi_search_part_end(const gphi_search *search, uint32_t lo, uint32_t hi);

/* Places list[lo, hi) in at most so many steps. On failure all is as before; it is proven
 * that there is no plan, with these walls, unless out_of_steps is set. */
bool gphi_search_solve(gphi_search *search, uint32_t lo, uint32_t hi, uint64_t steps);

/* Narrow borders in time, both sides of which are solved apart. */
typedef struct gphi_divide gphi_divide;
gph_status gphi_divide_create(gphi_search *search, gphi_keyed *keyed, gphi_divide **out);
void gphi_divide_destroy(gphi_divide *divide);
/* Tries the next way to divide; from round to round with more steps. Whether a plan was
 * found: it is in search->lowest. */
bool gphi_divide_try(gphi_divide *divide);
#endif
