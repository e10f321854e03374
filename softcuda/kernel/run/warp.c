// SPDX-License-Identifier: Apache-2.0
/* Operations of a warp on the slow path: the lanes of a member mask meet, the last one
 * that comes works out everybody's result. Lanes that have exited, or that a short last
 * warp does not have, are not waited for. */

#include "softcuda/kernel/run/lanes.h"
#include "softcuda/kernel/run/rtcalls.h"

static soft_lane *warp_of(soft_lanes *lanes, uint32_t warp)
{
    return &lanes->lanes[warp * PTX_WARP_SIZE];
}

static uint32_t warp_size(const soft_lanes *lanes, uint32_t warp)
{
    const uint32_t left = lanes->count - warp * PTX_WARP_SIZE;
    return left < PTX_WARP_SIZE ? left : PTX_WARP_SIZE;
}

static bool in(uint32_t mask, uint32_t lane)
{
    return (mask >> lane & 1) != 0;
}

/* PTX ISA, shfl.sync: c holds the clamp (bits 0-4) and the segment mask (8-12). */
static void shuffle(soft_lane *warp, uint32_t there)
{
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++) {
        if (!in(there, i))
            continue;
        const uint32_t b = warp[i].b & 31, clamp = warp[i].c & 31;
        const uint32_t segment = warp[i].c >> 8 & 31;
        const uint32_t low = i & segment;
        const uint32_t high = low | (clamp & ~segment);
        int32_t from;
        bool valid;
        switch (warp[i].mode) {
        case 0:
            from = (int32_t)i - (int32_t)b;
            valid = from >= (int32_t)high;
            break;
        case 1:
            from = (int32_t)(i + b);
            valid = from <= (int32_t)high;
            break;
        case 2:
            from = (int32_t)(i ^ b);
            valid = from <= (int32_t)high;
            break;
        default:
            from = (int32_t)(low | (b & ~segment));
            valid = from <= (int32_t)high;
            break;
        }
        if (!valid)
            from = (int32_t)i;
        /* From a lane that is not there the value is undefined: 0, as on an H200. */
        const bool is_there = in(there, (uint32_t)from);
        warp[i].result = (is_there ? (uint32_t)warp[from].value : 0) | (uint64_t)valid
                                                                           << 32;
    }
}

/* vote.sync by mode: all, any, uni, ballot. */
static void vote(soft_lane *warp, uint32_t there)
{
    uint32_t ballot = 0;
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++)
        if (in(there, i) && warp[i].value != 0)
            ballot |= 1u << i;
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++) {
        if (!in(there, i))
            continue;
        switch (warp[i].mode) {
        case 0: warp[i].result = ballot == there; break;
        case 1: warp[i].result = ballot != 0; break;
        case 2: warp[i].result = ballot == 0 || ballot == there; break;
        default: warp[i].result = ballot; break;
        }
    }
}

/* match.sync: the lanes that brought the same value; .all says whether all did. */
static void match(soft_lane *warp, uint32_t there)
{
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++) {
        if (!in(there, i))
            continue;
        const uint64_t cut = warp[i].bytes == 4 ? UINT32_MAX : UINT64_MAX;
        uint32_t same = 0;
        for (uint32_t j = 0; j < PTX_WARP_SIZE; j++)
            if (in(there, j) && (warp[j].value & cut) == (warp[i].value & cut))
                same |= 1u << j;
        if (warp[i].mode == 0)
            warp[i].result = same;
        else
            warp[i].result = same == there ? same | 1ull << 32 : 0;
    }
}

static uint32_t reduce(uint32_t operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case 0: return a + b;
    case 1: return a < b ? a : b;
    case 2: return a > b ? a : b;
    case 3: return (int32_t)a < (int32_t)b ? a : b;
    case 4: return (int32_t)a > (int32_t)b ? a : b;
    case 5: return a & b;
    case 6: return a | b;
    default: return a ^ b;
    }
}

/* redux.sync: everybody gets what all of them make together. */
static void redux(soft_lane *warp, uint32_t there)
{
    uint32_t sum = 0;
    bool first = true;
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++)
        if (in(there, i)) {
            const uint32_t value = (uint32_t)warp[i].value;
            sum = first ? value : reduce(warp[i].mode, sum, value);
            first = false;
        }
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++)
        if (in(there, i))
            warp[i].result = sum;
}

/* elect.sync: the lowest member leads. */
static void elect(soft_lane *warp, uint32_t there)
{
    const uint32_t leader = (uint32_t)__builtin_ctz(there);
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++)
        if (in(there, i))
            warp[i].result = leader | (uint64_t)(i == leader) << 32;
}

/* The last member came: results for all, who may go on in any order. */
static void complete(soft_lane *warp, uint32_t there, soft_meeting meeting)
{
    switch (meeting) {
    case SOFT_MEET_SYNCWARP: break;
    case SOFT_MEET_SHFL: shuffle(warp, there); break;
    case SOFT_MEET_VOTE: vote(warp, there); break;
    case SOFT_MEET_MATCH: match(warp, there); break;
    case SOFT_MEET_REDUX: redux(warp, there); break;
    case SOFT_MEET_ELECT: elect(warp, there); break;
    case SOFT_MEET_MATRIX: soft_warp_matrix(warp, there, warp->view.block); break;
    }
    for (uint32_t i = 0; i < PTX_WARP_SIZE; i++)
        if (in(there, i))
            warp[i].state = SOFT_LANE_READY;
}

/* Members with the same mask at the same kind of meeting belong together: lanes may wait
 * in several meetings of one warp at once. */
bool soft_warp_try(soft_lanes *lanes, const soft_lane *lane)
{
    soft_lane *warp = warp_of(lanes, lane->view.warp);
    const uint32_t size = warp_size(lanes, lane->view.warp);
    uint32_t there = 0;
    /* Lanes mostly come in order, so that the last one is the first that is missing. */
    for (uint32_t i = size; i-- > 0;) {
        if (warp[i].state == SOFT_LANE_WARP && warp[i].meeting == lane->meeting &&
            warp[i].mask == lane->mask)
            there |= 1u << i;
        else if (warp[i].state != SOFT_LANE_DONE && in(lane->mask, i))
            return false;
    }
    complete(warp, there, lane->meeting);
    return true;
}

bool soft_warp_release_active(soft_lanes *lanes, uint32_t number)
{
    soft_lane *warp = warp_of(lanes, number);
    const uint32_t size = warp_size(lanes, number);
    const soft_lane *first = NULL;
    for (uint32_t i = 0; i < size; i++) {
        if (warp[i].state == SOFT_LANE_READY && !warp[i].gave_way)
            return false; /* it may still come to the same instruction */
        if (!first && warp[i].state == SOFT_LANE_ACTIVE)
            first = &warp[i];
    }
    if (!first)
        return false;
    const uint32_t place = first->place;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < size; i++)
        if (warp[i].state == SOFT_LANE_ACTIVE && warp[i].place == place)
            mask |= 1u << i;
    for (uint32_t i = 0; i < size; i++)
        if (in(mask, i)) {
            warp[i].state = SOFT_LANE_READY;
            warp[i].gave_way = false;
            warp[i].result = mask;
        }
    return true;
}

static uint64_t meet(soft_lane *lane, soft_meeting meeting, uint32_t mask)
{
    lane->meeting = (uint8_t)meeting;
    lane->mask = mask | 1u << lane->view.lane;
    lane->state = SOFT_LANE_WARP;
    if (soft_warp_try(lane->lanes, lane))
        return lane->result;
    return soft_lane_wait(lane);
}

void ptx_rt_syncwarp(ptx_thread *thread, uint32_t mask)
{
    meet(soft_lane_from(thread), SOFT_MEET_SYNCWARP, mask);
}

uint64_t ptx_rt_shfl(ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t value,
                     uint32_t b, uint32_t c)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->mode = mode;
    lane->value = value;
    lane->b = b;
    lane->c = c;
    return meet(lane, SOFT_MEET_SHFL, mask);
}

uint32_t ptx_rt_vote(ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t predicate)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->mode = mode;
    lane->value = predicate != 0;
    return (uint32_t)meet(lane, SOFT_MEET_VOTE, mask);
}

uint64_t ptx_rt_match(ptx_thread *thread, uint32_t mask, uint32_t mode, uint32_t bytes,
                      uint64_t value)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->mode = mode;
    lane->bytes = bytes;
    lane->value = value;
    return meet(lane, SOFT_MEET_MATCH, mask);
}

uint32_t ptx_rt_redux(ptx_thread *thread, uint32_t mask, uint32_t operation,
                      uint32_t value)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->mode = operation;
    lane->value = value;
    return (uint32_t)meet(lane, SOFT_MEET_REDUX, mask);
}

uint64_t ptx_rt_elect(ptx_thread *thread, uint32_t mask)
{
    return meet(soft_lane_from(thread), SOFT_MEET_ELECT, mask);
}

void ptx_rt_thread_matrix(ptx_thread *thread, uint64_t word, uint32_t line,
                          uint32_t has_stride, uint64_t *values)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->matrix = word;
    lane->b = line;
    lane->c = has_stride;
    lane->value = (uint64_t)(uintptr_t)values;
    meet(lane, SOFT_MEET_MATRIX, ~0u);
}

uint32_t ptx_rt_activemask(ptx_thread *thread, uint32_t place)
{
    soft_lane *lane = soft_lane_from(thread);
    lane->state = SOFT_LANE_ACTIVE;
    lane->place = place;
    return (uint32_t)soft_lane_wait(lane);
}
