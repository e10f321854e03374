// SPDX-License-Identifier: Apache-2.0
// launch.same-executable-serialised
//
// Launches of one executable run one after the other, in whatever streams they are: a
// second stream brings nothing. Instantiate the graph once for each stream that is to run
// at the same time (a graph with memory nodes must be captured for each).
// timing: launches that meet
#include "broken.h"

static CUgraph capture_work(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 200);
    FILL(stream, out, 5);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* One after the other into two streams. */
static void first(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUgraph graph = capture_work(streams[0], new_floats());
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 6; i++)
        CU(cuGraphLaunch(exec, streams[i % 2])); /* <-- first */
    CU(cuStreamSynchronize(streams[0]));
    CU(cuStreamSynchronize(streams[1]));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Threads that take turns, each with its own default stream. */
struct turn {
    CUgraphExec exec;
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
};

static void *work(void *user)
{
    struct turn *turn = user;
    CU(cuCtxSetCurrent(context));
    for (int i = 0; i < 4; i++) {
        pthread_barrier_wait(&turn->barrier);
        pthread_mutex_lock(&turn->lock);
        CU(cuGraphLaunch(turn->exec, CU_STREAM_PER_THREAD)); /* <-- second */
        pthread_mutex_unlock(&turn->lock);
    }
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    return NULL;
}

static void second(void)
{
    struct turn turn = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_barrier_init(&turn.barrier, NULL, 2);
    pthread_t threads[2];
    CUstream stream = new_stream();
    CUgraph graph = capture_work(stream, new_floats());
    CU(cuGraphInstantiateWithFlags(&turn.exec, graph, 0));
    for (int i = 0; i < 2; i++)
        EXPECT(pthread_create(&threads[i], NULL, work, &turn) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CU(cuGraphExecDestroy(turn.exec));
    CU(cuGraphDestroy(graph));
}

/* An executable for each stream; and one executable in two streams, one after the other
 * by an event, or because the host has waited. */
static void near(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUevent event = new_event();
    CUgraph graphs[2] = {capture_work(streams[0], new_floats()),
                         capture_work(streams[1], new_floats())};
    CUgraphExec execs[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        CU(cuGraphInstantiateWithFlags(&execs[i], graphs[i], 0));
    for (int i = 0; i < 6; i++)
        CU(cuGraphLaunch(execs[i % 2], streams[i % 2]));
    CU(cuCtxSynchronize());
    for (int i = 0; i < 6; i++) {
        CU(cuGraphLaunch(execs[0], streams[i % 2]));
        fork_to(streams[i % 2], streams[(i + 1) % 2], event);
    }
    for (int i = 0; i < 4; i++) {
        CU(cuStreamSynchronize(streams[(i + 1) % 2]));
        CU(cuGraphLaunch(execs[0], streams[i % 2]));
    }
    CU(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) {
        CU(cuGraphExecDestroy(execs[i]));
        CU(cuGraphDestroy(graphs[i]));
    }
}

BROKEN(first, second, near)
