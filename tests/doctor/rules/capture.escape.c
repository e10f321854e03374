// SPDX-License-Identifier: Apache-2.0
// capture.escape
//
// During a capture of a non-blocking stream, work on any other stream, the default stream
// and synchronous copies included, runs immediately and is not in the graph. The first result
// is right, replays are stale. Give the work the capturing stream (cublasSetStream and
// the like), or let its stream join the capture by an event and join it back.
#include "broken.h"

/* One of three kernels goes to stream 0. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    FILL(NULL, b, 2); /* <-- first */
    SCALE_ADD(stream, a, b, 1);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 0) == 3);
}

/* A library clears its workspace on a stream of its own. */
static void clear(CUdeviceptr workspace)
{
    static CUstream own;
    if (own == NULL)
        own = new_stream();
    CU(cuMemsetD32Async(workspace, 0, FLOATS, own)); /* <-- second */
}

static void capture(void *user)
{
    CUdeviceptr *memory = user;
    CUgraph graph = NULL, into = NULL;
    CU(cuGraphCreate(&into, 0));
    CU(cuStreamBeginCaptureToGraph(CU_STREAM_PER_THREAD, into, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    clear(memory[1]);
    SCALE_ADD(CU_STREAM_PER_THREAD, memory[1], memory[0], 1);
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    replay_once(graph, CU_STREAM_PER_THREAD);
}

static void second(void)
{
    CUdeviceptr memory[2] = {new_floats(), new_floats()};
    in_thread(capture, memory);
}

static void upload(void *user)
{
    CUdeviceptr *out = user;
    FILL(CU_STREAM_PER_THREAD, *out, 8);
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* Meanwhile other work runs on other memory: of this thread on a stream of its own and
 * synchronously, and of another thread. */
static void near(void)
{
    CUstream stream = new_stream(), loader = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats(), c = new_floats();
    CUgraph graph = NULL;
    float value = 4;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, a, 1);
    FILL(loader, b, 2);
    CU(cuMemcpyHtoD(c, &value, sizeof(value)));
    in_thread(upload, &c);
    SCALE_ADD(stream, a, a, 1);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    CU(cuStreamSynchronize(loader));
    EXPECT(float_at(a, 0) == 2 && float_at(b, 0) == 2);
}

BROKEN(first, second, near)
