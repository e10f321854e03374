// SPDX-License-Identifier: Apache-2.0
/* Scheduling the threads of a block; see lanes.h. */
#include "softcuda/kernel/run/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANE_STACK_BYTES (64u << 10)
#define TURNS_BETWEEN_CHECKS 64u

/* Of a block that has lanes. */
static void destroy(soft_lanes *lanes)
{
    for (uint32_t i = 0; i < lanes->capacity; i++)
        soft_fiber_fini(&lanes->lanes[i].fiber);
    free(lanes->lanes);
    free(lanes);
}

/* Enough lanes with a stack each. They come from the C library's heap: they belong to the
 * thread, not to a context. */
static bool make_room(soft_lanes *lanes, uint32_t count)
{
    if (count <= lanes->capacity)
        return true;
    soft_lane *grown = realloc(lanes->lanes, count * sizeof(*grown));
    if (!grown)
        return false;
    lanes->lanes = grown;
    while (lanes->capacity < count) {
        soft_lane *lane = &grown[lanes->capacity];
        *lane = (soft_lane){0};
        if (!soft_fiber_init(&lane->fiber, LANE_STACK_BYTES))
            return false;
        lanes->capacity++;
    }
    return true;
}

/* `thread` is what a message of the run time names while the lane's code runs. */
static void switch_to(soft_lanes *lanes, soft_lane *lane)
{
    lanes->block->thread = &lane->view;
    soft_runner_switch(lanes->block->runner, lanes->host, &lane->fiber);
    lanes->block->thread = NULL;
}

/* An exited lane counts as arrived wherever the others wait. */
static void lane_exited(soft_lanes *lanes, soft_lane *lane)
{
    lane->state = SOFT_LANE_DONE;
    lanes->live--;
    for (uint32_t id = 0; id <= SOFT_BARRIER_CLUSTER; id++)
        if (lanes->barriers[id].arrived != 0)
            soft_barrier_check(lanes, id);
    const uint32_t first = lane->view.warp * PTX_WARP_SIZE;
    for (uint32_t i = first; i < first + PTX_WARP_SIZE && i < lanes->count; i++)
        if (lanes->lanes[i].state == SOFT_LANE_WARP)
            soft_warp_try(lanes, &lanes->lanes[i]);
}

/* Where a lane's fiber starts: the kernel for one thread, then out for good. */
SOFT_CALLS_CODE static void lane_main(void *argument)
{
    soft_lane *lane = argument;
    soft_lanes *lanes = lane->lanes;
    soft_block *block = lanes->block;
    block->runner->launch->code->entry.thread(&block->view, &lane->view);
    lane_exited(lanes, lane);
    block->runner->guard.current = lanes->host;
    soft_fiber_end(&lane->fiber, lanes->host);
}

/* The fibers stay from block to block; everything else of a lane is set again. */
static void start_lanes(soft_lanes *lanes)
{
    const ptx_grid *grid = lanes->block->view.grid;
    uint32_t tid[3] = {0, 0, 0};
    for (uint32_t i = 0; i < lanes->count; i++) {
        soft_lane *lane = &lanes->lanes[i];
        const soft_fiber fiber = lane->fiber;
        *lane = (soft_lane){.lanes = lanes, .fiber = fiber};
        lane->view = (ptx_thread){.block = &lanes->block->view,
                                  .tid = {tid[0], tid[1], tid[2]},
                                  .index = i,
                                  .lane = i % PTX_WARP_SIZE,
                                  .warp = i / PTX_WARP_SIZE,
                                  .runtime = lane};
        soft_fiber_start(&lane->fiber, lane_main, lane);
        if (++tid[0] == grid->ntid[0]) {
            tid[0] = 0;
            if (++tid[1] == grid->ntid[1]) {
                tid[1] = 0;
                tid[2]++;
            }
        }
    }
    lanes->live = lanes->count;
    memset(lanes->barriers, 0, sizeof(lanes->barriers));
}

static bool release_active(soft_lanes *lanes)
{
    bool any = false;
    for (uint32_t warp = 0; warp < lanes->warp_count; warp++)
        any |= soft_warp_release_active(lanes, warp);
    return any;
}

/* What one lane waits for, in words. */
static void describe_wait(const soft_lane *lane, char *text, size_t bytes)
{
    static const char *const meetings[] = {
        "bar.warp.sync", "shfl.sync",  "vote.sync",         "match.sync",
        "redux.sync",    "elect.sync", "a matrix operation"};
    if (lane->state == SOFT_LANE_BARRIER && lane->barrier == SOFT_BARRIER_CLUSTER)
        snprintf(text, bytes, "thread %u waits in barrier.cluster", lane->view.index);
    else if (lane->state == SOFT_LANE_BARRIER)
        snprintf(text, bytes, "thread %u waits at barrier %u", lane->view.index,
                 lane->barrier);
    else
        snprintf(text, bytes, "thread %u waits in %s with mask 0x%x", lane->view.index,
                 meetings[lane->meeting], lane->mask);
}

/* Two different waits say more than the number of waiting threads: most deadlocks are two
 * groups at two barriers. */
static _Noreturn void raise_deadlock(soft_lanes *lanes)
{
    char first[96] = "", other[96] = "", text[256];
    const soft_lane *seen = NULL;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < lanes->count; i++) {
        const soft_lane *lane = &lanes->lanes[i];
        if (lane->state == SOFT_LANE_DONE)
            continue;
        waiting++;
        if (!seen) {
            seen = lane;
            describe_wait(lane, first, sizeof(first));
        } else if (other[0] == '\0' &&
                   (lane->state != seen->state || lane->barrier != seen->barrier ||
                    lane->meeting != seen->meeting || lane->mask != seen->mask)) {
            describe_wait(lane, other, sizeof(other));
        }
    }
    snprintf(text, sizeof(text),
             "all %u threads left in the block wait for what cannot come: %s%s%s",
             waiting, first, other[0] ? ", " : "", other);
    soft_block_raise(lanes->block, seen ? seen->view.index : 0, SOFT_ERROR_LAUNCH_TIMEOUT,
                     text);
}

/* One turn for every lane that is ready. Returns how many made progress: a lane that only
 * gave way at a safepoint may be spinning. */
static uint32_t turn(soft_lanes *lanes, bool *any_ready)
{
    uint32_t progress = 0;
    *any_ready = false;
    for (uint32_t i = 0; i < lanes->count; i++) {
        soft_lane *lane = &lanes->lanes[i];
        if (lane->state != SOFT_LANE_READY)
            continue;
        lane->gave_way = false;
        switch_to(lanes, lane);
        *any_ready = true;
        progress += !lane->gave_way;
    }
    return progress;
}

void soft_lanes_run(soft_block *block)
{
    if (!block->lanes) {
        block->lanes = calloc(1, sizeof(*block->lanes));
        block->destroy_lanes = block->lanes ? destroy : NULL;
    }
    soft_lanes *lanes = block->lanes;
    const uint32_t count = block->view.grid->thread_count;
    if (!lanes || !make_room(lanes, count))
        soft_runner_raise(block->runner, SOFT_ERROR_OUT_OF_MEMORY, 0,
                          "no memory for the stacks of the block's threads");
    lanes->block = block;
    lanes->host = block->fiber;
    lanes->count = count;
    lanes->warp_count = block->view.grid->warp_count;
    start_lanes(lanes);
    for (uint32_t turns = 1; lanes->live != 0; turns++) {
        bool any_ready;
        const uint32_t progress = turn(lanes, &any_ready);
        if (turns % TURNS_BETWEEN_CHECKS == 0)
            soft_block_safepoint(block); /* a loop with a barrier in it may be endless */
        if (release_active(lanes) || progress != 0 || lanes->live == 0)
            continue;
        if (!any_ready)
            raise_deadlock(lanes);
        soft_block_safepoint(block); /* all spin: what they wait for is elsewhere */
    }
}
