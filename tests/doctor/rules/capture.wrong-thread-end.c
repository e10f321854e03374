// SPDX-License-Identifier: Apache-2.0
// capture.wrong-thread-end
//
// A capture in global or thread-local mode was ended by another thread than began it:
// 908. The capture is over all the same, without a graph, and a second try gives 401. End
// it in the thread that began it, or begin it in relaxed mode if threads hand it on.
#include "broken.h"

typedef struct handed {
    CUstream stream;
    CUdeviceptr memory;
    CUgraph graph;
} handed;

static void finish(void *user)
{
    handed *it = user;
    CU(cuStreamEndCapture(it->stream, &it->graph)); /* <-- first */
}

/* A worker ends what the main thread began. */
static void first(void)
{
    handed it = {new_stream(), new_floats(), NULL};
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(it.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(it.stream, it.memory, 1);
    in_thread(finish, &it);
    CU(cuStreamEndCapture(it.stream, &graph));
    EXPECT(it.graph == NULL && graph == NULL);
}

static void start(void *user)
{
    handed *it = user;
    CU(cuGraphCreate(&it->graph, 0));
    CU(cuStreamBeginCaptureToGraph(it->stream, it->graph, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(it->memory, 1, FLOATS, it->stream));
}

/* The main thread ends what a worker began, which is gone by then. */
static void second(void)
{
    handed it = {new_stream(), new_floats(), NULL};
    CUgraph graph = NULL;
    in_thread(start, &it);
    CU(cuStreamEndCapture(it.stream, &graph)); /* <-- second */
    EXPECT(graph == NULL);
}

static void start_relaxed(void *user)
{
    handed *it = user;
    CU(cuStreamBeginCapture(it->stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD32Async(it->memory, 1, FLOATS, it->stream));
}

/* A relaxed capture may be handed on. */
static void near(void)
{
    handed it = {new_stream(), new_floats(), NULL};
    in_thread(start_relaxed, &it);
    FILL(it.stream, it.memory, 3);
    CU(cuStreamEndCapture(it.stream, &it.graph));
    replay_once(it.graph, it.stream);
    EXPECT(float_at(it.memory, 5) == 3);
}

BROKEN(first, second, near)
