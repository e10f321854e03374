// SPDX-License-Identifier: Apache-2.0
/* The slow path: the threads of one block as fibers that wait for each other.
 *
 *   lane states   READY -> (runs) -> DONE
 *                           |-> BARRIER   until the barrier is complete
 *                           |-> WARP      until the member lanes are there
 *                           |-> ACTIVE    until no lane of the warp can come any more
 *                           '-> READY     gave way at a safepoint
 *
 * One fiber runs at a time, so nothing here is atomic. When no lane is ready and nothing
 * can be released, the block can never go on: CUDA_ERROR_LAUNCH_TIMEOUT, with who
 * waits for what. */
#ifndef SOFT_KERNEL_RUN_LANES_H
#define SOFT_KERNEL_RUN_LANES_H

#include "softcuda/kernel/run/runner.h"

#define SOFT_BARRIERS 16u
#define SOFT_BARRIER_CLUSTER                                                             \
    SOFT_BARRIERS /* where a block's threads meet for their cluster's */

typedef enum soft_lane_state {
    SOFT_LANE_READY,
    SOFT_LANE_BARRIER,
    SOFT_LANE_WARP,
    SOFT_LANE_ACTIVE,
    SOFT_LANE_DONE
} soft_lane_state;

typedef enum soft_meeting {
    SOFT_MEET_SYNCWARP,
    SOFT_MEET_SHFL,
    SOFT_MEET_VOTE,
    SOFT_MEET_MATCH,
    SOFT_MEET_REDUX,
    SOFT_MEET_ELECT,
    SOFT_MEET_MATRIX
} soft_meeting;

/* One thread of the block. */
typedef struct soft_lane {
    ptx_thread view; /* what the generated code sees; first */
    struct soft_lanes *lanes;
    uint8_t state;   /* soft_lane_state */
    uint8_t meeting; /* soft_meeting, in WARP */
    uint8_t barrier; /* its number, in BARRIER */
    bool gave_way;   /* at a safepoint, since the last pass */
    uint32_t mask;   /* in WARP: the members */
    uint32_t mode, b, c, bytes;
    uint64_t value;  /* what it brings */
    uint64_t result; /* what it gets */
    uint64_t matrix; /* in MEET_MATRIX: the operation; `value` points to its slots */
    uint32_t place;  /* in ACTIVE: the instruction */
    soft_fiber fiber;
} soft_lane;

typedef struct soft_barrier {
    uint32_t arrived;  /* threads, waiting or not */
    uint32_t expected; /* 0: all that have not exited */
    uint32_t operation;
    uint32_t count, all, any; /* of the predicates */
} soft_barrier;

typedef struct soft_lanes {
    soft_block *block;
    soft_fiber *host; /* the stack that the scheduler of the lanes is on */
    soft_lane *lanes;
    uint32_t capacity, count, live, warp_count;
    soft_barrier barriers[SOFT_BARRIERS + 1];
} soft_lanes;

/* Runs the block that `block->view` describes, on the stack of the caller. */
void soft_lanes_run(soft_block *block);

static inline soft_lane *soft_lane_from(ptx_thread *view)
{
    return (soft_lane *)view; /* the first member */
}

/* Gives the thread up until its state is READY again; its result. */
static inline uint64_t soft_lane_wait(soft_lane *lane)
{
    soft_lanes *lanes = lane->lanes;
    soft_runner_switch(lanes->block->runner, &lane->fiber, lanes->host);
    return lane->result;
}

/* Ends the launch for something this thread did. */
static inline _Noreturn void soft_lane_raise(soft_lane *lane, gph_status code,
                                             const char *detail)
{
    soft_block_raise(lane->lanes->block, lane->view.index, code, detail);
}

/* warp.c */
/* Whether the lane's meeting is complete now: results are filled and all are READY. */
bool soft_warp_try(soft_lanes *lanes, const soft_lane *lane);
/* Lanes of a warp that wait in ACTIVE while none of the others can come: releases those
 * at one instruction. */
bool soft_warp_release_active(soft_lanes *lanes, uint32_t warp);

/* rtmatrix.c: the lanes of `there` have met in a matrix operation. */
void soft_warp_matrix(soft_lane *warp, uint32_t there, ptx_block *block);

/* barrier.c */
void soft_barrier_check(soft_lanes *lanes, uint32_t id);

#endif
