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

/* ---- ranks that live, and do not come ---- */

void gphi_ranks_seen(gph_ranks *ranks)
{
    atomic_store_explicit(&ranks->board->slots[ranks->who.rank].seen_ns, gphi_clock_ns(),
                          memory_order_relaxed);
}

static void count_waiting(gph_ranks *ranks, bool begins)
{
    gphi_ranks_slot *slot = &ranks->board->slots[ranks->who.rank];
    gphi_ranks_seen(ranks);
    if (begins)
        atomic_fetch_add_explicit(&slot->waiting, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&slot->waiting, 1, memory_order_relaxed);
}

/* NCCL's kernels wait forever. A rank that waits for a stream, too, or was seen since, is
 * about its work; one that left, or does something else for longer than the patience, will
 * not come. */
static void look_for_late(gph_ranks *ranks, uint64_t begin)
{
    const uint64_t now = gphi_clock_ns();
    if (ranks->fd < 0 || gphi_span_ns(begin, now) < ranks->patience_ns ||
        !atomic_load_explicit(&ranks->has_no_limit, memory_order_relaxed))
        return;
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        gphi_ranks_slot *slot = &ranks->board->slots[rank];
        const bool has_left =
            atomic_load_explicit(&slot->state, memory_order_acquire) == GPHI_RANK_LEFT;
        if (atomic_load_explicit(&slot->waiting, memory_order_relaxed) > 0 ||
            (!has_left &&
             gphi_span_ns(atomic_load_explicit(&slot->seen_ns, memory_order_relaxed),
                          now) < ranks->patience_ns))
            continue;
        char described[256], time[32];
        gph_error cause;
        gphi_ranks_describe(ranks, rank, described, sizeof(described));
        gphi_fail(&cause, GPH_E_STATE, "rank %u waits for a stream, and %s, %s within %s",
                  ranks->who.rank, described,
                  has_left ? "left and did not come" : "did not come",
                  gphi_ranks_time(ranks->patience_ns, time));
        gphi_ranks_give_up(ranks, rank, &cause);
        return;
    }
}

/* ---- waiting ---- */

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

static gph_status wait_for(gph_ranks *ranks, gph_runtime *runtime, CUstream stream,
                           gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
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
        if (round % EAGER == 0)
            look_for_late(ranks, begin);
    }
    return give_up_waiting(ranks, runtime, stream, error);
}

gph_status gph_ranks_wait(gph_ranks *ranks, gph_runtime *runtime, CUstream stream,
                          gph_error *error)
{
    GPHI_TRY(gphi_need(error, ranks, runtime));
    GPHI_TRY(gphi_ranks_owned(ranks, error));
    count_waiting(ranks, true);
    const gph_status status = wait_for(ranks, runtime, stream, error);
    count_waiting(ranks, false);
    return status;
}
