// SPDX-License-Identifier: Apache-2.0
/* NCCL's library, opened at run time: the part of its binary interface that is needed, as of
 * 2.8 and later. Nothing of its headers is included. */
#ifndef GPHI_RANKS_NCCL_H
#define GPHI_RANKS_NCCL_H
#include <gph/cuda.h>
#include <stdbool.h>

typedef struct ncclComm *gphi_nccl_comm;

typedef struct gphi_nccl_id {
    char bytes[128];
} gphi_nccl_id;

/* ncclResult_t. */
enum {
    GPHI_NCCL_SUCCESS = 0,
    GPHI_NCCL_CUDA_ERROR = 1,
    GPHI_NCCL_SYSTEM_ERROR = 2,
    GPHI_NCCL_INVALID_ARGUMENT = 4,
    GPHI_NCCL_INVALID_USAGE = 5,
    GPHI_NCCL_IN_PROGRESS = 7
};

/* X(name, 1: needed, arguments); each returns an ncclResult_t. */
#define GPHI_NCCL_CALLS(X)                                                               \
    X(ncclGetVersion, 1, (int *))                                                        \
    X(ncclGetUniqueId, 1, (gphi_nccl_id *))                                              \
    X(ncclCommInitRank, 1, (gphi_nccl_comm *, int, gphi_nccl_id, int))                   \
    X(ncclCommDestroy, 1, (gphi_nccl_comm))                                              \
    X(ncclCommAbort, 1, (gphi_nccl_comm))                                                \
    X(ncclCommGetAsyncError, 1, (gphi_nccl_comm, int *))                                 \
    X(ncclAllReduce, 1,                                                                  \
      (const void *, void *, size_t, int, int, gphi_nccl_comm, CUstream))                \
    X(ncclAllGather, 1, (const void *, void *, size_t, int, gphi_nccl_comm, CUstream))   \
    X(ncclBroadcast, 1,                                                                  \
      (const void *, void *, size_t, int, int, gphi_nccl_comm, CUstream))

/* An open library; it stays open, since it has threads. Constant, so any thread reads it. */
typedef struct gphi_nccl {
#define X(name, is_needed, arguments) int(*name) arguments;
    GPHI_NCCL_CALLS(X)
#undef X
    const char *(*ncclGetErrorString)(int);
    const char *(*ncclGetLastError)(gphi_nccl_comm); /* NULL before 2.13 */
    int version;                                     /* 22809 */
    char path[512];
} gphi_nccl;

/* `path` may be NULL: GPH_NCCL_PATH, else the one that the process has, else libnccl.so.2.
 * Fails with GPH_E_UNSUPPORTED and the linker's words. Thread: any. */
gph_status gphi_nccl_open(const char *path, gphi_nccl *out, gph_error *error);

/* As gphi_fail(), with what the call returned and NCCL's own last sentence after it. */
gph_status gphi_nccl_fail(gph_error *error, const gphi_nccl *nccl, gphi_nccl_comm comm,
                          int result, const char *call, const char *format, ...)
    GPH_PRINTF(6, 7);

/* ncclDataType_t of a gph_dtype, or -1; ncclRedOp_t of a gph_comm_reduction. */
int gphi_nccl_dtype(uint32_t dtype);
int gphi_nccl_reduction(uint32_t reduction);

/* Joins a communicator. ncclCommInitRank() waits for all ranks, forever where one of them
 * has ended: so another thread calls it, which is left to itself when `goes_on(user)` fails,
 * with what that returned, or after `patience_ns`. */
gph_status gphi_nccl_join(const gphi_nccl *nccl, gph_runtime *runtime,
                          const gphi_nccl_id *id, uint32_t rank, uint32_t count,
                          gph_status (*goes_on)(void *user, gph_error *error), void *user,
                          uint64_t patience_ns, gphi_nccl_comm *out, gph_error *error);

/* Ends what waits in a communicator on the device. ncclCommAbort() does that first, and then
 * waits until every graph that recorded the communicator has gone: so another thread calls
 * it, and whoever has the graphs can go on and destroy them. NULL: there is no such thread. */
typedef struct gphi_nccl_aborting gphi_nccl_aborting;
gphi_nccl_aborting *gphi_nccl_abort(const gphi_nccl *nccl, gph_runtime *runtime,
                                    CUcontext context, gphi_nccl_comm comm);
/* Waits for its end, not for longer than that, and lets it go. NULL is allowed. */
void gphi_nccl_abort_end(gphi_nccl_aborting *aborting, uint64_t patience_ns);
#endif
