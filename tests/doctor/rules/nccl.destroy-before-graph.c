// SPDX-License-Identifier: Apache-2.0
// nccl.destroy-before-graph
//
// NCCL gives each graph that captured a collective a reference to its communicator, and
// ncclCommDestroy waits until the last of them is gone: with a graph alive it never returns.
// What ends a communicator at once leaves the graph with memory that is freed. Destroy
// executables and graphs first, then the communicator.
// watch: 2
#include "ranks.h"

static CUgraphExec captured(ncclComm_t comm)
{
    ALL_REDUCE(comm, 64);
    CU(cuStreamBeginCapture(rank_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(rank_stream, rank_data, 1);
    ALL_REDUCE(comm, 64);
    return end_capture(rank_stream);
}

/* It waits for the executable. */
static void first(void)
{
    ncclComm_t comm = alone();
    CUgraphExec exec = captured(comm);
    CU(cuGraphLaunch(exec, rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    NCCL(ncclCommDestroy(comm)); /* <-- first */
    CU(cuGraphExecDestroy(exec));
}

/* It returns, and the graph is replayed all the same. */
static void second(void)
{
    ncclComm_t comm = alone();
    CUgraphExec exec = captured(comm);
    NCCL(ncclCommAbort(comm)); /* <-- second */
    CU(cuGraphLaunch(exec, rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    CU(cuGraphExecDestroy(exec));
}

/* The graph goes first; another graph, which has nothing of it, may stay. */
static void near(void)
{
    ncclComm_t comm = alone(), other = alone();
    CUgraphExec exec = captured(comm), stays = captured(other);
    CU(cuGraphLaunch(exec, rank_stream));
    CU(cuGraphLaunch(stays, rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    CU(cuGraphExecDestroy(exec));
    NCCL(ncclCommDestroy(comm));
    CU(cuGraphLaunch(stays, rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    CU(cuGraphExecDestroy(stays));
    NCCL(ncclCommDestroy(other));
}

BROKEN(first, second, near)
