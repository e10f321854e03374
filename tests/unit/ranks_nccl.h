// SPDX-License-Identifier: Apache-2.0
/* What the substitute beside this file has more than the doctor's. */
#ifndef RANKS_NCCL_H
#define RANKS_NCCL_H
#include "doctor/nccl/nccl.h"

#include <stdatomic.h>

enum { RANKS_NCCL_VERSION = 22803 };

/* Communicators that were given back. */
typedef struct ranks_nccl_ends {
    atomic_int destroyed, aborted;
} ranks_nccl_ends;
extern NCCL_API ranks_nccl_ends ranks_nccl_ended;

NCCL_API ncclResult_t ncclGetVersion(int *out);
NCCL_API const char *ncclGetErrorString(ncclResult_t result);
NCCL_API const char *ncclGetLastError(ncclComm_t comm);
NCCL_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out);
NCCL_API ncclResult_t ncclCommInitRank(ncclComm_t *out, int ranks, ncclUniqueId id,
                                       int rank);
NCCL_API ncclResult_t ncclCommDestroy(ncclComm_t comm);
NCCL_API ncclResult_t ncclCommAbort(ncclComm_t comm);
#endif
