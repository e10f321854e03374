// SPDX-License-Identifier: Apache-2.0
// nccl.used-after-destroy
//
// A communicator was used after ncclCommDestroy, ncclCommAbort or, for a collective,
// ncclCommFinalize: its memory is freed, and what comes of the call is chance. End a
// communicator once, after the last use by any thread.
#include "ranks.h"

/* A collective more. */
static void first(void)
{
    ncclComm_t comm = alone();
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
    NCCL(ncclCommDestroy(comm));
    ALL_REDUCE(comm, 64); /* <-- first */
    CU(cuStreamSynchronize(rank_stream));
}

/* Ended twice. */
static void second(void)
{
    ncclComm_t comm = alone();
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
    NCCL(ncclCommAbort(comm));
    NCCL(ncclCommDestroy(comm)); /* <-- second */
}

/* Finalized, then destroyed, as the manual has it; and another is made and used. */
static void near(void)
{
    ncclComm_t comm = alone();
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
    NCCL(ncclCommFinalize(comm));
    NCCL(ncclCommDestroy(comm));
    comm = alone();
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
    NCCL(ncclCommDestroy(comm));
}

BROKEN(first, second, near)
