// SPDX-License-Identifier: Apache-2.0
// launch.result-ignored
//
// A launch failed, nothing ran, and the program goes on as if it had: it reads what an
// earlier replay left behind. Look at the result of each cuGraphLaunch(); a program on
// the runtime API has to ask cudaGetLastError() as well, or a later call reports it.
#include "broken.h"

/* The stream is of a context that is gone. */
static void first(void)
{
    CUcontext other = NULL;
    CUdevice device;
    CUdeviceptr x = new_floats();
    CUstream stream = new_stream(), lost = NULL;
    CUgraph graph = fill_graph(stream, x);
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuDeviceGet(&device, 0));
    CU(cuCtxCreate(&other, NULL, 0, device));
    lost = new_stream();
    CU(cuCtxDestroy(other));
    CU(cuCtxSetCurrent(context));
    CU(cuGraphLaunch(exec, lost)); /* <-- first */
    EXPECT(float_at(x, 0) == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* A thread without a context. */
static void *launch(void *user)
{
    CU(cuGraphLaunch(*(CUgraphExec *)user, NULL)); /* <-- second */
    return NULL;
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = fill_graph(stream, x), after = fill_graph(stream, x);
    CUgraphExec exec = NULL, next = NULL;
    pthread_t thread;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphInstantiateWithFlags(&next, after, 0));
    EXPECT(pthread_create(&thread, NULL, launch, &exec) == 0);
    pthread_join(thread, NULL);
    CU(cuGraphLaunch(next, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphExecDestroy(next));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(after));
}

/* Looked at, and launched again as it should be. */
static void *launch_again(void *user)
{
    if (cuGraphLaunch(*(CUgraphExec *)user, NULL) != CUDA_SUCCESS) {
        CU(cuCtxSetCurrent(context));
        CU(cuGraphLaunch(*(CUgraphExec *)user, CU_STREAM_PER_THREAD));
        CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    }
    return NULL;
}

static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = fill_graph(stream, x);
    CUgraphExec exec = NULL;
    pthread_t thread;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT(pthread_create(&thread, NULL, launch_again, &exec) == 0);
    pthread_join(thread, NULL);
    EXPECT(float_at(x, 0) == 5);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
