// SPDX-License-Identifier: Apache-2.0
// launch.concurrent-use
//
// Graphs and executables are not safe for threads: two threads that launch, update or
// destroy one at the same time need a lock of the program's own, or an executable each.
// It goes well for long, and then does not. also: launch.same-executable-serialised
// timing: calls that meet
#include "broken.h"

enum { TURNS = 4, EDITS = 300 };

struct shared {
    CUgraphExec exec;
    CUgraphNode node;
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
    int takes_lock;
};

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

/* A first launch, which takes its time. */
static void *launch(void *user)
{
    struct shared *with = user;
    CU(cuCtxSetCurrent(context));
    CUstream stream = new_stream();
    pthread_barrier_wait(&with->barrier);
    enter(with);
    CU(cuGraphLaunch(with->exec, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    leave(with);
    return NULL;
}

static void *set(void *user)
{
    struct shared *with = user;
    const CUgraphExec exec = with->exec;
    const CUgraphNode node = with->node;
    CU(cuCtxSetCurrent(context));
    pthread_barrier_wait(&with->barrier);
    for (int i = 0; i < EDITS; i++) {
        CUDA_KERNEL_NODE_PARAMS params = {
            .func = spin,
            .gridDimX = 1,
            .gridDimY = 1,
            .gridDimZ = 1,
            .blockDimX = 128,
            .blockDimY = 1,
            .blockDimZ = 1,
            .kernelParams = (void *[]){&(unsigned long long){10000}, &(unsigned){1}}};
        enter(with);
        CU(cuGraphExecKernelNodeSetParams(exec, node, &params)); /* <-- second */
        leave(with);
        usleep(20);
    }
    return NULL;
}

static void run(int takes_lock, void *(*one)(void *), void *(*two)(void *))
{
    struct shared with = {.lock = PTHREAD_MUTEX_INITIALIZER, .takes_lock = takes_lock};
    pthread_t threads[2];
    CUstream stream = new_stream();
    CUdeviceptr temporary = 0;
    CUgraph graph = NULL;
    size_t count = 1;
    pthread_barrier_init(&with.barrier, NULL, 2);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 10);
    CU(cuMemAllocAsync(&temporary, 1 << 30, stream));
    CU(cuMemsetD32Async(temporary, 1, FLOATS, stream));
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetRootNodes(graph, &with.node, &count));
    CU(cuGraphInstantiateWithFlags(&with.exec, graph, 0));
    EXPECT(pthread_create(&threads[0], NULL, one, &with) == 0);
    EXPECT(pthread_create(&threads[1], NULL, two, &with) == 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CU(cuGraphExecDestroy(with.exec));
    CU(cuGraphDestroy(graph));
    pthread_barrier_destroy(&with.barrier);
}

/* Two threads launch, each into a stream of its own. */
static void first(void)
{
    for (int i = 0; i < TURNS; i++)
        run(0, launch, launch);
}

/* One launches, one sets parameters. */
static void second(void)
{
    for (int i = 0; i < TURNS; i++)
        run(0, launch, set);
}

/* The same with a lock. */
static void near(void)
{
    run(1, launch, launch);
    run(1, launch, set);
}

BROKEN(first, second, near)
