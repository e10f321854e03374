// SPDX-License-Identifier: Apache-2.0
// launch.host-function-calls-cuda
//
// A host function of a stream or a graph must not call CUDA: the call fails with
// CUDA_ERROR_NOT_PERMITTED, or waits for itself. Let it wake a thread that calls, or put
// the work into the graph after it.
#include "broken.h"

static CUdeviceptr wanted;
static int calls;

static void allocate(void *user)
{
    (void)user;
    CU(cuMemAlloc(&wanted, 4096)); /* <-- first */
}

/* A captured host function allocates. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 5);
    CU(cuLaunchHostFunc(stream, allocate, NULL));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(wanted == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* A host node made by hand starts the next step. */
static void start_next(void *user)
{
    CU(cuGraphLaunch(*(CUgraphExec *)user, NULL)); /* <-- second */
}

static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL, next = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL, other = NULL;
    CUDA_HOST_NODE_PARAMS params = {.fn = start_next, .userData = &other};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphCreate(&next, 0));
    CU(cuGraphAddEmptyNode(&node, next, NULL, 0));
    CU(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&other, next, 0));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphExecDestroy(other));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(next));
}

/* It only says that it was there. */
static void note(void *user)
{
    (void)user;
    calls++;
}

static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchHostFunc(stream, note, NULL));
    FILL(stream, x, 5);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(calls == 1);
    CU(cuMemAlloc(&wanted, 4096));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFree(wanted));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
