// SPDX-License-Identifier: Apache-2.0
/* All ways to decide "own or shared" for graph after graph that are worth following: a
 * front of labels of which none is worse than another one in bytes, executables and cost.
 *
 *    trunk ──branch──> ways: step, step, step ──join──> joined ──advance──> trunk
 */
#ifndef GPHI_PLAN_FRONT_H
#define GPHI_PLAN_FRONT_H
#include <gph/plan.h>
#include <stdbool.h>

#include "base/vec.h"

typedef struct gphi_front_limits {
    uint64_t bytes, later_bytes; /* UINT64_MAX: no limit; what later classes need */
    uint32_t execs, later_execs; /* UINT32_MAX: no limit */
} gphi_front_limits;

typedef struct gphi_front_label {
    uint64_t bytes;
    double cost;
    uint32_t execs;
    uint32_t past; /* the last of the decisions that led here */
} gphi_front_label;

typedef struct gphi_front {
    gph_allocator heap;
    const gphi_front_limits *limits; /* borrowed */
    gphi_vec trunk, way, joined;     /* labels in order of (bytes, executables) */
    gphi_vec scratch;
    gphi_vec past;       /* decisions */
    double *least;       /* by executables, a tree of minima; for pruning */
    uint32_t least_room; /* 0: executables are not limited */
    size_t labels_max;
    bool exact; /* nothing was left out for want of room */
} gphi_front;

/* `limits` may change between classes; `steps` that will be taken share the memory. Needs
 * gphi_front_fini() also after a failure. */
gph_status gphi_front_init(gphi_front *front, gph_allocator heap,
                           const gphi_front_limits *limits, uint64_t steps);
void gphi_front_fini(gphi_front *front);

/* Begins a way from the trunk, at a price. */
gph_status gphi_front_branch(gphi_front *front, uint64_t bytes, uint32_t execs);
/* Decides on a graph: its own, for `bytes`, or, unless it `must` have it, shared, for
 * `cost`. */
gph_status gphi_front_step(gphi_front *front, uint32_t graph, uint64_t bytes, double cost,
                           bool must);
/* Ends the way. */
gph_status gphi_front_join(gphi_front *front);
/* What was joined becomes the trunk. */
void gphi_front_advance(gphi_front *front);

/* The decisions of the cheapest label: own[graph]. */
void gphi_front_best(const gphi_front *front, bool *own);
#endif
