// SPDX-License-Identifier: Apache-2.0
/* The doctor's substitute for libnccl.so.2, with what communicators of libgph need besides,
 * and with failures:
 *
 *   RANKS_NCCL_INIT=refuse   ncclCommInitRank fails on rank 1, while the others wait
 *   RANKS_NCCL_INIT=die      rank 1 is killed in it */
#define ncclCommInitRank plain_init
#define ncclCommDestroy plain_destroy
#define ncclCommAbort plain_abort
#include "doctor/nccl/nccl.c"
#undef ncclCommInitRank
#undef ncclCommDestroy
#undef ncclCommAbort
#include "ranks_nccl.h"

#include <signal.h>

enum { INVALID_USAGE = 5, MADE_MAX = 8 };

/* The doctor's part never frees one; leak checkers find them here. */
static ncclComm_t made_ones[MADE_MAX];
static unsigned made;

ranks_nccl_ends ranks_nccl_ended;

ncclResult_t ncclGetVersion(int *out)
{
    *out = RANKS_NCCL_VERSION;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclSuccess ? "no error" : "an error";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return "the substitute fails as asked";
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out)
{
    (void)comm;
    *out = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *out, int ranks, ncclUniqueId id, int rank)
{
    const char *how = getenv("RANKS_NCCL_INIT");
    if (how && rank == 1) {
        if (strcmp(how, "die") == 0)
            raise(SIGKILL);
        return (ncclResult_t)INVALID_USAGE;
    }
    const ncclResult_t result = plain_init(out, ranks, id, rank);
    if (result == ncclSuccess && made < MADE_MAX)
        made_ones[made++] = *out;
    return result;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    const ncclResult_t result = plain_destroy(comm);
    atomic_fetch_add(&ranks_nccl_ended.destroyed, 1);
    return result;
}

/* What waits for other ranks goes on as if all had come; then it waits for graphs, as NCCL's. */
ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    for (int i = 0; i < comm->ranks; i++)
        atomic_store(&comm->shared->of[i].begun, INT32_MAX);
    atomic_fetch_add(&ranks_nccl_ended.aborted, 1);
    return plain_destroy(comm);
}
