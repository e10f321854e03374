// SPDX-License-Identifier: Apache-2.0
// error.refused-call
//
// The driver refuses a call of a graph, or work, for a reason that no rule of its own knows,
// and the program does not deal with it: nothing that the thread asks for succeeds afterwards.
// A thread without a context that copies and launches into the default stream, and looks at no result; work of
// a context that was reset; a graph call that ends a program's attempt. Reported at the first
// such call of a thread. A second try that succeeds, or work done in another way, is right.
#include "broken.h"

static CUdeviceptr out;
static CUgraphExec exec;
static CUstream stream;

static void make(void)
{
    out = new_floats();
    stream = new_stream();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, out, 5);
    exec = end_capture(stream);
}

/* A request in a thread that nobody gave a context. */
static void *serve(void *unused)
{
    float in[4] = {1, 2, 3, 4};
    CU(cuMemcpyHtoD(out, in, sizeof(in))); // <-- first
    CU(cuGraphLaunch(exec, NULL)); // a created stream would bring its context along
    return unused;
}

static void first(void)
{
    pthread_t thread;
    make();
    EXPECT(pthread_create(&thread, NULL, serve, NULL) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
}

/* A node of a graph waits for a node of another. */
static void second(void)
{
    CUgraph graph = NULL, other = NULL;
    CUgraphNode before = NULL, node = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphCreate(&other, 0));
    CU(cuGraphAddEmptyNode(&before, other, NULL, 0));
    CU(cuGraphAddEmptyNode(&node, graph, &before, 1)); // <-- second
    EXPECT(node == NULL);
}

static void *serve_again(void *unused)
{
    float in[4] = {1, 2, 3, 4};
    if (cuMemcpyHtoD(out, in, sizeof(in)) != CUDA_SUCCESS) {
        CU(cuCtxSetCurrent(context));
        CU(cuMemcpyHtoD(out, in, sizeof(in)));
    }
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    return unused;
}

/* The thread gets its context when it is refused; a graph that cannot be is left out. */
static void near(void)
{
    pthread_t thread;
    make();
    EXPECT(pthread_create(&thread, NULL, serve_again, NULL) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    CUgraph graph = NULL, other = NULL;
    CUgraphNode before = NULL, node = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphCreate(&other, 0));
    CU(cuGraphAddEmptyNode(&before, other, NULL, 0));
    if (cuGraphAddEmptyNode(&node, graph, &before, 1) != CUDA_SUCCESS)
        CU(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    EXPECT(node != NULL);
}

BROKEN(first, second, near)
