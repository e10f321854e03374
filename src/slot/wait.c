// SPDX-License-Identifier: Apache-2.0
/* What all files of the room use: waiting for replays, and what the driver said. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "cuda/status.h"
#include "slot/slots.h"

#include <sched.h>
#include <time.h>

enum { SPINS = 64 };

bool gphi_slots_pause(const gph_slots *slots, uint64_t from_ns, uint32_t *round)
{
    if (gphi_clock_ns() - from_ns > slots->wait_ns)
        return false;
    if ((*round)++ < SPINS) {
        sched_yield();
    } else {
        const struct timespec nap = {.tv_nsec = 50000};
        nanosleep(&nap, NULL);
    }
    return true;
}

gph_status gphi_slots_check(CUresult result, const char *call, gph_error *error)
{
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    return gphi_cuda_fail(error, (gph_status)result, call, "slots of a graph");
}
