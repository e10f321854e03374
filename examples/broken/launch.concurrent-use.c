// SPDX-License-Identifier: Apache-2.0
// launch.concurrent-use
//
// Graphs and executables are not safe for threads: two threads that launch, update or
// destroy one at the same time need a lock of the program's own, or an executable each.
// It goes well for long, and then does not. also: launch.same-executable-serialised
#include "broken.h"

enum { TURNS = 2000, ROUND = 20 };

struct shared {
    CUgraphExec exec;
    CUgraph graph;
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
    int takes_lock;
};

static CUgraph capture_work(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 20; i++)
        FILL(stream, out, (float)i);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void enter(struct shared *with)
{
    if (with->takes_lock)
        pthread_mutex_lock(&with->lock);
}

static void leave(struct shared *with)
{
    if (with->takes_lock)
        pthread_mutex_unlock(&with->lock);
}

static void *launch(void *user)
{
    struct shared *with = user;
    CU(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    pthread_barrier_wait(&with->barrier);
    for (int i = 0; i < TURNS; i++) {
        enter(with);
        CU(cuGraphLaunch(with->exec, stream)); /* <-- first */
        if (with->takes_lock || i % ROUND == 0)
            CU(cuStreamSynchronize(stream));
        leave(with);
    }
    return NULL;
}

static void *update(void *user)
{
    struct shared *with = user;
    CUgraphExecUpdateResultInfo info;
    CU(cuCtxSetCurrent(context));
    pthread_barrier_wait(&with->barrier);
    for (int i = 0; i < TURNS / ROUND; i++) {
        enter(with);
        CU(cuGraphExecUpdate(with->exec, with->graph, &info)); /* <-- second */
        leave(with);
    }
    return NULL;
}

static void run(int takes_lock, void *(*one)(void *), void *(*two)(void *))
{
    struct shared with = {.lock = PTHREAD_MUTEX_INITIALIZER, .takes_lock = takes_lock};
    pthread_t threads[2];
    CUdeviceptr x = new_floats();
    with.graph = capture_work(new_stream(), x);
    pthread_barrier_init(&with.barrier, NULL, 2);
    CU(cuGraphInstantiateWithFlags(&with.exec, with.graph, 0));
    EXPECT(pthread_create(&threads[0], NULL, one, &with) == 0);
    EXPECT(pthread_create(&threads[1], NULL, two, &with) == 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CU(cuGraphExecDestroy(with.exec));
    CU(cuGraphDestroy(with.graph));
    pthread_barrier_destroy(&with.barrier);
}

/* Two threads launch, each into a stream of its own. */
static void first(void)
{
    run(0, launch, launch);
}

/* One launches, one updates. */
static void second(void)
{
    run(0, launch, update);
}

/* The same with a lock. */
static void near(void)
{
    run(1, launch, launch);
    run(1, launch, update);
}

BROKEN(first, second, near)
