// SPDX-License-Identifier: Apache-2.0
// nccl.rank-missing
//
// A collective runs when every rank has come to it. A rank that ended, or that waits for
// something else, keeps all others waiting, and they are what is seen to hang. Look at the
// rank that did not come: why it ended, or what it waits for.
#include "ranks.h"

/* One rank gives up after its second step, without a word to the others. */
static void gives_up(int rank, ncclComm_t comm)
{
    for (int step = 0; step < 4; step++) {
        if (rank == 1 && step == 2)
            _exit(3);
        ALL_REDUCE(comm, 64); /* <-- first */
        CU(cuStreamSynchronize(rank_stream));
    }
    NCCL(ncclCommDestroy(comm));
}

static void first(void)
{
    rank_patience_ms = 1500;
    as_ranks("first", 2, gives_up);
}

/* One rank waits for a step that never comes, between two collectives. */
static void waits(int rank, ncclComm_t comm)
{
    ALL_REDUCE(comm, 64);
    ALL_REDUCE(comm, 64); /* <-- second */
    CU(cuStreamSynchronize(rank_stream));
    while (rank == 1)
        usleep(1000);
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
}

static void second(void)
{
    rank_patience_ms = 2500;
    as_ranks("second", 2, waits);
}

/* One rank is slow, and others wait for it; all have called as many. */
static void slow(int rank, ncclComm_t comm)
{
    for (int step = 0; step < 3; step++) {
        usleep(rank == 1 ? 100000 : 0);
        ALL_REDUCE(comm, 64);
    }
    CU(cuStreamSynchronize(rank_stream));
    NCCL(ncclCommDestroy(comm));
}

static void near(void)
{
    as_ranks("near", 2, slow);
}

BROKEN(first, second, near)
