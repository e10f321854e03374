// SPDX-License-Identifier: Apache-2.0
/* mbarrier objects on the slow path: eight bytes of shared memory,
 *
 *   bits 0-19 pending arrivals   20-39 expected arrivals   40-62 pending bytes   63 phase
 *
 * Threads of a block run one at a time, so plain loads and stores do. */
#include <string.h>

#include "softcuda/kernel/run/lanes.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"

#define COUNT_MASK 0xfffffu
#define BYTES_MASK 0x7fffffu

typedef struct mbarrier {
    uint32_t pending, expected, bytes, phase;
} mbarrier;

static mbarrier load(uint64_t address)
{
    uint64_t word = 0;
    soft_text_copy(&word, (const void *)(uintptr_t)address, sizeof(word));
    return (mbarrier){(uint32_t)word & COUNT_MASK, (uint32_t)(word >> 20) & COUNT_MASK,
                      (uint32_t)(word >> 40) & BYTES_MASK, (uint32_t)(word >> 63)};
}

static uint64_t pack(const mbarrier *barrier)
{
    return barrier->pending | (uint64_t)barrier->expected << 20 |
           (uint64_t)(barrier->bytes & BYTES_MASK) << 40 | (uint64_t)barrier->phase << 63;
}

static void store(uint64_t address, const mbarrier *barrier)
{
    const uint64_t word = pack(barrier);
    soft_text_copy((void *)(uintptr_t)address, &word, sizeof(word));
}

/* The last arrival, with all bytes there, ends the phase and starts the next. */
static void settle(mbarrier *barrier)
{
    if (barrier->pending != 0 || barrier->bytes != 0)
        return;
    barrier->phase ^= 1;
    barrier->pending = barrier->expected;
}

static uint64_t arrive(soft_lane *lane, uint64_t address, uint32_t count, bool drop)
{
    mbarrier barrier = load(address);
    const uint64_t token = pack(&barrier);
    if (count > barrier.pending)
        soft_lane_raise(lane, SOFT_ERROR_LAUNCH_FAILED,
                        "more arrivals at an mbarrier than it expects");
    barrier.pending -= count;
    if (drop)
        barrier.expected -= count < barrier.expected ? count : barrier.expected;
    settle(&barrier);
    store(address, &barrier);
    return token;
}

uint64_t ptx_rt_mbarrier(ptx_thread *thread, uint64_t address, uint32_t operation,
                         uint64_t argument)
{
    soft_lane *lane = soft_lane_from(thread);
    mbarrier barrier;
    switch (operation) {
    case PTX_MBARRIER_INIT:
        barrier = (mbarrier){(uint32_t)argument & COUNT_MASK,
                             (uint32_t)argument & COUNT_MASK, 0, 0};
        store(address, &barrier);
        return 0;
    case PTX_MBARRIER_INVAL:
        barrier = (mbarrier){0};
        store(address, &barrier);
        return 0;
    case PTX_MBARRIER_ARRIVE: return arrive(lane, address, (uint32_t)argument, false);
    case PTX_MBARRIER_ARRIVE_DROP: return arrive(lane, address, (uint32_t)argument, true);
    case PTX_MBARRIER_EXPECT_TX:
    case PTX_MBARRIER_COMPLETE_TX:
        barrier = load(address);
        barrier.bytes += operation == PTX_MBARRIER_EXPECT_TX ? (uint32_t)argument
                                                             : 0u - (uint32_t)argument;
        barrier.bytes &= BYTES_MASK;
        settle(&barrier);
        store(address, &barrier);
        return 0;
    case PTX_MBARRIER_TEST_WAIT: return load(address).phase != (uint32_t)(argument >> 63);
    case PTX_MBARRIER_TEST_WAIT_PARITY: return load(address).phase != (argument & 1);
    case PTX_MBARRIER_TRY_WAIT:
    case PTX_MBARRIER_TRY_WAIT_PARITY: {
        const uint32_t old = operation == PTX_MBARRIER_TRY_WAIT
                                 ? (uint32_t)(argument >> 63)
                                 : (uint32_t)(argument & 1);
        if (load(address).phase == old)
            ptx_rt_thread_safepoint(thread);
        return load(address).phase != old;
    }
    case PTX_MBARRIER_PENDING_COUNT: return argument & COUNT_MASK;
    default:
        soft_lane_raise(lane, SOFT_ERROR_ILLEGAL_INSTRUCTION,
                        "an mbarrier operation that is none");
    }
}
