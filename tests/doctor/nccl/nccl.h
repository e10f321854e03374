// SPDX-License-Identifier: Apache-2.0
/* What tests here call of NCCL's interface: the names and numbers of <nccl.h>, in our own
 * words. Programs are linked with the substitute beside this file, libnccl.so.2. */
#ifndef TEST_NCCL_H
#define TEST_NCCL_H
#include <stddef.h>

typedef struct nccl_comm *ncclComm_t;
typedef struct ncclUniqueId {
    char bytes[128];
} ncclUniqueId;
typedef enum ncclResult_t {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInvalidArgument = 4
} ncclResult_t;
typedef enum ncclDataType_t {
    ncclInt32 = 2,
    ncclFloat16 = 6,
    ncclFloat32 = 7
} ncclDataType_t;
typedef enum ncclRedOp_t { ncclSum = 0, ncclMax = 2 } ncclRedOp_t;

#define NCCL_API __attribute__((visibility("default")))

NCCL_API ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
NCCL_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id,
                                       int rank);
NCCL_API ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices);
NCCL_API ncclResult_t ncclCommFinalize(ncclComm_t comm);
NCCL_API ncclResult_t ncclCommDestroy(ncclComm_t comm);
NCCL_API ncclResult_t ncclCommAbort(ncclComm_t comm);
NCCL_API ncclResult_t ncclGroupStart(void);
NCCL_API ncclResult_t ncclGroupEnd(void);
NCCL_API ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count,
                                    ncclDataType_t dtype, ncclRedOp_t op, ncclComm_t comm,
                                    void *stream);
NCCL_API ncclResult_t ncclAllGather(const void *send, void *recv, size_t count,
                                    ncclDataType_t dtype, ncclComm_t comm, void *stream);
NCCL_API ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count,
                                    ncclDataType_t dtype, int root, ncclComm_t comm,
                                    void *stream);
#endif
