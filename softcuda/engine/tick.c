// SPDX-License-Identifier: Apache-2.0
/* Time stamps for costs, and what one is worth. */
#include "base/clock.h"
#include "softcuda/engine/state.h"

#if defined(__x86_64__)

static pthread_once_t tick_once = PTHREAD_ONCE_INIT;
static double tick_ns;

/* 100 us against the clock: the clock's 22 ns a call make an error of 0.05 %. */
static void calibrate(void)
{
    const uint64_t from_ns = gphi_clock_ns(), from = soft_ticks();
    uint64_t to_ns;
    do
        to_ns = gphi_clock_ns();
    while (to_ns - from_ns < 100000);
    const uint64_t ticks = soft_ticks() - from;
    tick_ns = ticks == 0 ? 1.0 : (double)(to_ns - from_ns) / (double)ticks;
}

double soft_tick_ns(void)
{
    pthread_once(&tick_once, calibrate);
    return tick_ns;
}

#else

uint64_t soft_ticks(void)
{
    return gphi_clock_ns();
}

double soft_tick_ns(void)
{
    return 1.0;
}

#endif

uint64_t soft_tick_cost(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        const uint64_t from = soft_ticks();
        const uint64_t ticks = soft_ticks() - from;
        least = ticks < least ? ticks : least;
    }
    return least;
}
