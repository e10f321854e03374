// SPDX-License-Identifier: Apache-2.0
/* How high addresses are taken in each section of time: a tree that answers for a range of
 * sections, and raises them, in steps that grow with the logarithm of their number. What lies
 * below is not looked at again, so gaps stay; lives that are nested, as those of a training
 * step's activations are, leave none. */
#ifndef GPHI_PLAN_SKYLINE_H
#define GPHI_PLAN_SKYLINE_H
#include "plan/problem.h"

typedef struct gphi_skyline {
    gph_allocator heap;
    uint32_t leaf_count; /* a power of two */
    uint64_t *most,
        *all; /* a node: the highest below it; what all below it are at least */
} gphi_skyline;

/* `skyline` needs gphi_skyline_fini() also after a failure. */
gph_status gphi_skyline_init(gphi_skyline *skyline, const gphi_problem *problem);
void gphi_skyline_fini(gphi_skyline *skyline);
void gphi_skyline_clear(gphi_skyline *skyline);
/* The highest of the sections from `first` to `last`. */
uint64_t gphi_skyline_most(const gphi_skyline *skyline, uint32_t first, uint32_t last);
/* They are that high from now on; none may be higher. */
void gphi_skyline_raise(gphi_skyline *skyline, uint32_t first, uint32_t last,
                        uint64_t to);
#endif
