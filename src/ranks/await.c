// SPDX-License-Identifier: Apache-2.0
/* Waiting for a stream whose work may wait for other ranks. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fail.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include "ranks/ranks.h"

#include <sched.h>
#include <time.h>

/* Rounds without a nap: work of a replay is often over in some microseconds. */
enum { EAGER = 64 };
#define NAP_NS 20000L
/* After a failure: kernels and NCCL end when they see it, in well under this. */
#define END_NS UINT64_C(2000000000)

static void rest(uint32_t *round)
{
    if ((*round)++ < EAGER) {
        sched_yield();
        return;
    }
    const struct timespec nap = {.tv_nsec = NAP_NS};
    nanosleep(&nap, NULL);
}

/* The group has failed: what waits for other ranks is ended. */
static gph_status give_up_waiting(gph_ranks *ranks, gph_runtime *runtime, CUstream stream,
                                  gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    uint32_t round = EAGER;
    gphi_ranks_tell(ranks);
    CUresult result = runtime->cu.cuStreamQuery(stream);
    while (result == CUDA_ERROR_NOT_READY &&
           gphi_span_ns(begin, gphi_clock_ns()) < END_NS) {
        rest(&round);
        result = runtime->cu.cuStreamQuery(stream);
    }
    const gph_status cause = gphi_ranks_cause_get(ranks, error);
    if (result == CUDA_ERROR_NOT_READY)
        gphi_hint(error, "the stream's work has not ended 2 s later: it waits for what "
                         "libgph did not record");
    return cause;
}

gph_status gph_ranks_wait(gph_ranks *ranks, gph_runtime *runtime, CUstream stream,
                          gph_error *error)
{
    GPHI_TRY(gphi_need(error, ranks, runtime));
    GPHI_TRY(gphi_ranks_owned(ranks, error));
    uint32_t round = 0;
    while (!gphi_ranks_failed(ranks)) {
        const CUresult result = runtime->cu.cuStreamQuery(stream);
        if (result == CUDA_SUCCESS) {
            gphi_ranks_settle(ranks); /* a kernel may have given up on a rank */
            return gphi_ranks_cause_get(ranks, error);
        }
        if (result != CUDA_ERROR_NOT_READY)
            return gphi_cuda_fail(error, (gph_status)result, "cuStreamQuery",
                                  "rank %u waits for a stream", ranks->who.rank);
        rest(&round);
    }
    return give_up_waiting(ranks, runtime, stream, error);
}
