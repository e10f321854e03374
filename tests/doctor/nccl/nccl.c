// SPDX-License-Identifier: Apache-2.0
/* libnccl.so.2 for tests on machines without one: ranks meet in memory that their processes
 * share, and a collective is a kernel that waits there until every rank has come as far. It
 * moves no data. What the doctor rests on is as in NCCL: a graph that captured a collective
 * holds its communicator, ncclCommDestroy waits for such graphs without a call of the
 * driver, and the first collective connects.
 *
 *   NCCL_TEST_CONNECT=alloc   connecting synchronizes, which a capture refuses */
#define _GNU_SOURCE
#include "nccl/nccl.h"
#include "rules/driver.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MAX = 8, WORD = 64 };

/* What the ranks of a communicator share: how many have come, then for each how many
 * collectives it has begun, a line of memory apart. */
typedef struct meeting {
    _Alignas(WORD) _Atomic uint32_t come;
    struct {
        _Alignas(WORD) _Atomic uint32_t begun;
    } of[RANKS_MAX];
} meeting;

struct nccl_comm {
    meeting *shared;
    CUdeviceptr device; /* address of `of` */
    CUmodule module;
    CUfunction kernel;
    int rank, ranks;
    int is_connected;
    atomic_int graphs; /* that hold it */
};

/* ncclDevKernel: comes to the next collective, then waits for the others. */
static const char ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry ncclDevKernel(.param .u64 of, .param .u32 rank, .param .u32 ranks)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [of]; ld.param.u32 %r1, [rank]; ld.param.u32 %r2, [ranks];\n"
    "  mul.wide.u32 %d2, %r1, 64; add.s64 %d2, %d1, %d2;\n"
    "  ld.volatile.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1;\n"
    "  st.volatile.global.u32 [%d2], %r3;\n"
    "  mov.u32 %r4, 0;\n"
    "next:\n"
    "  mul.wide.u32 %d3, %r4, 64; add.s64 %d3, %d1, %d3;\n"
    "again:\n"
    "  ld.volatile.global.u32 %r5, [%d3]; setp.lt.u32 %p, %r5, %r3; @%p bra again;\n"
    "  add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, %r2; @%p bra next;\n"
    "  ret;\n"
    "}\n";

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static atomic_int made;
    struct timespec
        now; /* a process that was killed leaves its file, and numbers come again */
    clock_gettime(CLOCK_MONOTONIC, &now);
    memset(id, 0, sizeof(*id));
    snprintf(id->bytes, sizeof(id->bytes), "gph-nccl-%ld-%d-%lld.%09ld", (long)getpid(),
             atomic_fetch_add(&made, 1), (long long)now.tv_sec, now.tv_nsec);
    return ncclSuccess;
}

/* ---- communicators ---- */

static meeting *meet(const ncclUniqueId *id, int ranks)
{
    char path[160];
    snprintf(path, sizeof(path), "/dev/shm/%.120s", id->bytes);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(meeting)) != 0)
        return NULL;
    meeting *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED)
        return NULL;
    atomic_fetch_add(&shared->come, 1);
    while (atomic_load(&shared->come) < (uint32_t)ranks)
        usleep(500);
    unlink(path);
    return shared;
}

static int prepare(ncclComm_t comm)
{
    return cuMemHostRegister(comm->shared, sizeof(*comm->shared),
                             CU_MEMHOSTREGISTER_DEVICEMAP) == CUDA_SUCCESS &&
           cuMemHostGetDevicePointer(&comm->device, comm->shared->of, 0) ==
               CUDA_SUCCESS &&
           cuModuleLoadData(&comm->module, ptx) == CUDA_SUCCESS &&
           cuModuleGetFunction(&comm->kernel, comm->module, "ncclDevKernel") ==
               CUDA_SUCCESS;
}

ncclResult_t ncclCommInitRank(ncclComm_t *out, int ranks, ncclUniqueId id, int rank)
{
    if (ranks < 1 || ranks > RANKS_MAX || rank < 0 || rank >= ranks)
        return ncclInvalidArgument;
    ncclComm_t comm = calloc(1, sizeof(*comm));
    if (!comm)
        return ncclSystemError;
    comm->rank = rank;
    comm->ranks = ranks;
    comm->shared = meet(&id, ranks);
    if (!comm->shared || !prepare(comm))
        return ncclSystemError;
    *out = comm;
    return ncclSuccess;
}

/* One rank each, that wait for nobody: of one device. */
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    (void)devices;
    for (int i = 0; i < count; i++) {
        ncclUniqueId id;
        if (ncclGetUniqueId(&id) != ncclSuccess ||
            ncclCommInitRank(&comms[i], 1, id, 0) != ncclSuccess)
            return ncclSystemError;
    }
    return ncclSuccess;
}

/* The memory stays: a graph that outlives an abort may still run. */
static ncclResult_t end(ncclComm_t comm, int is_waiting)
{
    while (is_waiting && atomic_load(&comm->graphs) > 0)
        usleep(1000);
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return end(comm, 1);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return end(comm, 0);
}

/* ---- collectives ---- */

static void forget_graph(void *user)
{
    ncclComm_t comm = user;
    atomic_fetch_sub(&comm->graphs, 1);
}

/* The graph that is being captured holds the communicator. */
static int hold(ncclComm_t comm, CUgraph graph)
{
    CUuserObject object;
    if (cuUserObjectCreate(&object, comm, forget_graph, 1,
                           CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS)
        return 0;
    atomic_fetch_add(&comm->graphs, 1);
    return cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE) ==
           CUDA_SUCCESS;
}

static int connect_once(ncclComm_t comm)
{
    const char *way = getenv("NCCL_TEST_CONNECT");
    CUdeviceptr buffer;
    if (comm->is_connected || !way || strcmp(way, "alloc") != 0)
        return 1;
    comm->is_connected = 1;
    return cuMemAlloc(&buffer, 4096) == CUDA_SUCCESS;
}

static ncclResult_t run(ncclComm_t comm, CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    if (!comm)
        return ncclInvalidArgument;
    if (!connect_once(comm) ||
        cuStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL) !=
            CUDA_SUCCESS ||
        (status == CU_STREAM_CAPTURE_STATUS_ACTIVE && !hold(comm, graph)))
        return ncclUnhandledCudaError;
    void *arguments[] = {&comm->device, &comm->rank, &comm->ranks};
    return cuLaunchKernel(comm->kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL) ==
                   CUDA_SUCCESS
               ? ncclSuccess
               : ncclUnhandledCudaError;
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count,
                           ncclDataType_t dtype, ncclRedOp_t op, ncclComm_t comm,
                           void *stream)
{
    (void)send, (void)recv, (void)count, (void)dtype, (void)op;
    return run(comm, stream);
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count,
                           ncclDataType_t dtype, ncclComm_t comm, void *stream)
{
    (void)send, (void)recv, (void)count, (void)dtype;
    return run(comm, stream);
}

ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count,
                           ncclDataType_t dtype, int root, ncclComm_t comm, void *stream)
{
    (void)send, (void)recv, (void)count, (void)dtype, (void)root;
    return run(comm, stream);
}

ncclResult_t ncclGroupStart(void)
{
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    return ncclSuccess;
}
