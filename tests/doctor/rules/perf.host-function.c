// SPDX-License-Identifier: Apache-2.0
// perf.host-function
// timing: how long a host function takes
// needs: soft
//
// A host function is in the graph of each step and takes long: the kernels after it wait
// for it. Or it waits for what the thread that waits for the graph has: a lock. Take it out of
// the graph, or hand its work to a thread.
#include "broken.h"

#include <time.h>
#include <unistd.h>

enum { STEPS = 6 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void write_log(void *user)
{
    *(int *)user += 1;
    usleep(4000);
}

/* Gives up after a while, so that this ends. */
static void deliver(void *user)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 100000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    if (pthread_mutex_timedlock(&lock, &until) != 0)
        return;
    *(int *)user += 1;
    pthread_mutex_unlock(&lock);
}

static void quick(void *user)
{
    *(int *)user += 1;
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CU(cuLaunchHostFunc(stream, write_log, &lines)); // <-- first
    FILL(stream, out, 2);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
}

/* By hand, and last: the host waits for it with the lock. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    CUgraph graph = fill_graph(stream, out);
    CUgraphNode kernel = NULL, node = NULL;
    CUgraphExec exec = NULL;
    size_t one = 1;
    const CUDA_HOST_NODE_PARAMS params = {.fn = deliver, .userData = &lines};
    CU(cuGraphGetNodes(graph, &kernel, &one));
    CU(cuGraphAddHostNode(&node, graph, &kernel, 1, &params)); // <-- second
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        pthread_mutex_unlock(&lock);
    }
}

/* A quick one; a slow one at the end of a graph, for which nobody waits at once; a slow one
 * that is called twice. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CU(cuLaunchHostFunc(stream, quick, &lines));
    FILL(stream, out, 2);
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CU(cuLaunchHostFunc(stream, write_log, &lines));
    CUgraphExec last = end_capture(stream);
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(last, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CU(cuLaunchHostFunc(stream, write_log, &lines));
    FILL(stream, out, 2);
    CUgraphExec rare = end_capture(stream);
    for (int i = 0; i < 2; i++)
        CU(cuGraphLaunch(rare, stream));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
