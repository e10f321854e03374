// SPDX-License-Identifier: Apache-2.0
/* The one clock that durations are measured with. */
#ifndef GPHI_BASE_CLOCK_H
#define GPHI_BASE_CLOCK_H
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC: never goes back, its zero means nothing. */
uint64_t gphi_clock_ns(void);
#endif
