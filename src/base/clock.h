// SPDX-License-Identifier: Apache-2.0
/* The one clock that durations are measured with. */
#ifndef GPHI_BASE_CLOCK_H
#define GPHI_BASE_CLOCK_H
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC: never goes back, its zero means nothing. */
uint64_t gphi_clock_ns(void);

/* From one time to a later one; 0 where the second is not later: times of a log may be of
 * two machines, of a process whose clock was set back, or damaged. */
static inline uint64_t gphi_span_ns(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}
#endif
