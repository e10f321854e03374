// SPDX-License-Identifier: Apache-2.0
/* Barriers of the slow path: bar.sync, bar.arrive and bar.red, all sixteen of them. */
#include "softcuda/kernel/run/lanes.h"

#include <stdio.h>

#include "softcuda/kernel/run/rtcalls.h"

enum { RED_NONE, RED_POPC, RED_AND, RED_OR };

static uint64_t barrier_result(const soft_barrier *barrier)
{
    switch (barrier->operation) {
    case RED_POPC: return barrier->count;
    case RED_AND: return barrier->all != 0;
    case RED_OR: return barrier->any != 0;
    default: return 0;
    }
}

/* Whether all have come; then everybody goes on with the result, and the barrier is as
 * new. Called for each arrival, and for each thread that ends: nobody waits for it any
 * more. */
void soft_barrier_check(soft_lanes *lanes, uint32_t id)
{
    soft_barrier *barrier = &lanes->barriers[id];
    const uint32_t expected = barrier->expected != 0 ? barrier->expected : lanes->live;
    if (barrier->arrived < expected)
        return;
    const uint64_t result = barrier_result(barrier);
    for (uint32_t i = 0; i < lanes->count; i++) {
        soft_lane *lane = &lanes->lanes[i];
        if (lane->state == SOFT_LANE_BARRIER && lane->barrier == id) {
            lane->state = SOFT_LANE_READY;
            lane->result = result;
        }
    }
    *barrier = (soft_barrier){0};
    if (id == SOFT_BARRIER_CLUSTER)
        soft_cluster_arrive(lanes->block);
}

/* Checks what an arriving thread says; the barrier, with its arrival counted. */
static soft_barrier *arrive(soft_lane *lane, uint32_t id, uint32_t count,
                            uint32_t operation)
{
    char text[160];
    if (id >= SOFT_BARRIERS || count % PTX_WARP_SIZE != 0) {
        snprintf(text, sizeof(text),
                 "barrier %u with %u threads: there are %u barriers, and the count is a "
                 "multiple of %u",
                 id, count, SOFT_BARRIERS, PTX_WARP_SIZE);
        soft_lane_raise(lane, SOFT_ERROR_ILLEGAL_INSTRUCTION, text);
    }
    soft_barrier *barrier = &lane->lanes->barriers[id];
    if (barrier->arrived == 0) {
        barrier->expected = count;
        barrier->operation = operation;
        barrier->all = 1;
    } else if (barrier->expected != count || barrier->operation != operation) {
        snprintf(text, sizeof(text),
                 "barrier %u: threads disagree, %u and %u threads, operations %u and %u",
                 id, barrier->expected, count, barrier->operation, operation);
        soft_lane_raise(lane, SOFT_ERROR_ILLEGAL_INSTRUCTION, text);
    }
    barrier->arrived++;
    return barrier;
}

uint32_t ptx_rt_barrier(ptx_thread *thread, uint32_t id, uint32_t count,
                        uint32_t operation, uint32_t predicate)
{
    soft_lane *lane = soft_lane_from(thread);
    soft_barrier *barrier = arrive(lane, id, count, operation);
    barrier->count += predicate != 0;
    barrier->all &= predicate != 0;
    barrier->any |= predicate != 0;
    lane->state = SOFT_LANE_BARRIER;
    lane->barrier = (uint8_t)id;
    soft_barrier_check(lane->lanes, id);
    if (lane->state == SOFT_LANE_READY)
        return (uint32_t)lane->result; /* the last one goes straight on */
    return (uint32_t)soft_lane_wait(lane);
}

/* The block's threads meet first, then each gives way until the other blocks are there. */
void ptx_rt_thread_cluster_wait(ptx_thread *thread)
{
    soft_lane *lane = soft_lane_from(thread);
    soft_lanes *lanes = lane->lanes;
    const soft_cluster *cluster = lanes->block->cluster;
    const uint32_t phase = cluster ? cluster->phase : 0;
    lanes->barriers[SOFT_BARRIER_CLUSTER].arrived++;
    lane->state = SOFT_LANE_BARRIER;
    lane->barrier = SOFT_BARRIER_CLUSTER;
    soft_barrier_check(lanes, SOFT_BARRIER_CLUSTER);
    if (lane->state != SOFT_LANE_READY)
        (void)soft_lane_wait(lane);
    while (cluster && cluster->phase == phase)
        ptx_rt_thread_safepoint(thread);
}

void ptx_rt_barrier_arrive(ptx_thread *thread, uint32_t id, uint32_t count)
{
    soft_lane *lane = soft_lane_from(thread);
    arrive(lane, id, count, RED_NONE);
    soft_barrier_check(lane->lanes, id);
}
