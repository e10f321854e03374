// SPDX-License-Identifier: Apache-2.0
// nccl.unordered-graphs
//
// Two graphs run collectives of one communicator, in streams that nothing orders. On each
// rank the GPU may begin with the other of the two, and then rank 0 waits in one collective
// and rank 1 in the other, forever: now and then, under load. Replay both in one stream, let
// one stream wait for the other, or give each graph a communicator of its own.
#include "ranks.h"

static CUgraphExec captured(ncclComm_t comm, CUstream stream)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    NCCL(ncclAllReduce(NULL, NULL, 64, ncclFloat32, ncclSum, comm, stream));
    return end_capture(stream);
}

static void finish(ncclComm_t comm, CUgraphExec a, CUgraphExec b)
{
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(a));
    CU(cuGraphExecDestroy(b));
    NCCL(ncclCommDestroy(comm));
}

/* Side by side. */
static void first(void)
{
    ncclComm_t comm = alone();
    CUstream side = new_stream();
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
    CUgraphExec a = captured(comm, rank_stream), b = captured(comm, side);
    CU(cuGraphLaunch(a, rank_stream));
    CU(cuGraphLaunch(b, side)); /* <-- first */
    finish(comm, a, b);
}

/* The one waits for an event that was recorded before the other was launched. */
static void second(void)
{
    ncclComm_t comm = alone();
    CUstream side = new_stream();
    CUevent event = new_event();
    ALL_REDUCE(comm, 64);
    CU(cuStreamSynchronize(rank_stream));
    CUgraphExec a = captured(comm, rank_stream), b = captured(comm, side);
    fork_to(rank_stream, side, event);
    CU(cuGraphLaunch(a, rank_stream));
    CU(cuGraphLaunch(b, side)); /* <-- second */
    finish(comm, a, b);
}

/* The one waits for the other; or each has a communicator of its own. */
static void near(void)
{
    ncclComm_t comm = alone(), other = alone();
    CUstream side = new_stream();
    CUevent event = new_event();
    ALL_REDUCE(comm, 64);
    ALL_REDUCE(other, 64);
    CU(cuStreamSynchronize(rank_stream));
    CUgraphExec a = captured(comm, rank_stream), b = captured(comm, side);
    CUgraphExec apart = captured(other, side);
    CU(cuGraphLaunch(a, rank_stream));
    fork_to(rank_stream, side, event);
    CU(cuGraphLaunch(b, side));
    join_from(rank_stream, side, event);
    CU(cuGraphLaunch(a, rank_stream));
    CU(cuGraphLaunch(apart, side));
    finish(comm, a, b);
    CU(cuGraphExecDestroy(apart));
    NCCL(ncclCommDestroy(other));
}

BROKEN(first, second, near)
