// SPDX-License-Identifier: Apache-2.0
// nccl.rank-divergence
//
// The ranks of a communicator must call the same collectives in the same order, and capture
// the same ones: a collective runs when all of them have come to it. Where one rank captured
// another count, type or number of them, each replay pairs what does not belong together,
// and waits forever. Let all ranks agree on what is captured, before it is
// (gph_comm_graph_agree(), gph_ranks_agree()).
#include "ranks.h"

static CUgraphExec captured(ncclComm_t comm, size_t count, int collectives)
{
    CU(cuStreamBeginCapture(rank_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < collectives; i++)
        ALL_REDUCE(comm, count); /* <-- first, second */
    return end_capture(rank_stream);
}

static void replay(ncclComm_t comm, CUgraphExec exec)
{
    CU(cuGraphLaunch(exec, rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    CU(cuGraphExecDestroy(exec));
    NCCL(ncclCommDestroy(comm));
}

/* Each rank captured the batch that it has itself. */
static void other_count(int rank, ncclComm_t comm)
{
    ALL_REDUCE(comm, 64);
    replay(comm, captured(comm, rank == 0 ? 64 : 128, 2));
}

static void first(void)
{
    as_ranks("first", 2, other_count);
}

/* One rank captured one more, so that its replay hangs. */
static void one_more(int rank, ncclComm_t comm)
{
    ALL_REDUCE(comm, 64);
    replay(comm, captured(comm, 64, rank == 1 ? 3 : 2));
}

static void second(void)
{
    rank_patience_ms = 2500;
    as_ranks("second", 2, one_more);
}

/* The same everywhere, whatever each rank fills it with, in a graph for each size. */
static void the_same(int rank, ncclComm_t comm)
{
    CUgraphExec exec[2];
    ALL_REDUCE(comm, 64);
    for (int i = 0; i < 2; i++)
        exec[i] = captured(comm, i == 0 ? 64 : 128, 1 + i);
    FILL(rank_stream, rank_data, (float)rank);
    for (int step = 0; step < 4; step++)
        CU(cuGraphLaunch(exec[step % 2], rank_stream));
    CU(cuStreamSynchronize(rank_stream));
    CU(cuGraphExecDestroy(exec[0]));
    replay(comm, exec[1]);
}

static void near(void)
{
    as_ranks("near", 2, the_same);
}

BROKEN(first, second, near)
