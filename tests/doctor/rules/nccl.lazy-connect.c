// SPDX-License-Identifier: Apache-2.0
// nccl.lazy-connect
//
// A communicator connects its ranks in the first collective of a kind, which allocates; in
// a capture that fails, and the capture is lost. Run the same collectives once before the
// capture, with the same sizes and types, on all ranks.
// env: NCCL_TEST_CONNECT=alloc
// also: capture.unsafe-call, capture.missing-warm-up
#include "ranks.h"

#define BROADCAST(comm, count)                                                           \
    NCCL(ncclBroadcast(NULL, (void *)(uintptr_t)rank_data, (count), ncclFloat32, 0,      \
                       (comm), rank_stream))

/* The communicator's first collective is captured. */
static void first(void)
{
    ncclComm_t comm = alone();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(rank_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(rank_stream, rank_data, 1);
    ALL_REDUCE(comm, 64); /* <-- first */
    CU(cuStreamEndCapture(rank_stream, &graph));
    NCCL(ncclCommDestroy(comm));
}

/* Another was warmed up. */
static void second(void)
{
    ncclComm_t warm = alone(), comm = alone();
    CUgraph graph = NULL;
    ALL_REDUCE(warm, 64);
    CU(cuStreamBeginCapture(rank_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    BROADCAST(comm, 64); /* <-- second */
    CU(cuStreamEndCapture(rank_stream, &graph));
    NCCL(ncclCommDestroy(comm));
    NCCL(ncclCommDestroy(warm));
}

/* The same collective ran before. */
static void near(void)
{
    ncclComm_t comm = alone();
    ALL_REDUCE(comm, 64);
    CU(cuStreamBeginCapture(rank_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(rank_stream, rank_data, 1);
    ALL_REDUCE(comm, 64);
    CUgraphExec exec = end_capture(rank_stream);
    CU(cuGraphLaunch(exec, rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    CU(cuGraphExecDestroy(exec));
    NCCL(ncclCommDestroy(comm));
}

BROKEN(first, second, near)
