// SPDX-License-Identifier: Apache-2.0
// capture.unsafe-call-other-thread
//
// A capture in global mode forbids unsafe calls (allocating, freeing, pinning, asking
// events) in all threads of the process that are in global mode themselves. A watchdog, a
// loader or a collector then gets 900, and the capturing thread, which did nothing wrong,
// gets 901. Capture in thread-local mode, or let the other thread exchange its own mode
// around the call; context synchronization and the legacy stream (906) are not helped by
// that.
#define _GNU_SOURCE 1 /* names of threads */
#include "broken.h"

static void pin_memory(void *user)
{
    void **staging = user;
    CU(cuMemHostAlloc(staging, 4096, 0)); /* <-- first */
}

/* A loader pins memory while the main thread captures. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    void *staging = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    in_thread(pin_memory, &staging);
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL && staging == NULL);
}

static void watch(void *user)
{
    CUevent *done = user;
    (void)pthread_setname_np(pthread_self(), "poller");
    CU(cuEventQuery(*done)); /* <-- second */
}

/* A worker captures into a graph on its per-thread stream, and a watchdog asks whether
 * work of before is done. */
static void capture(void *user)
{
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL, ended = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuStreamBeginCaptureToGraph(CU_STREAM_PER_THREAD, graph, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemsetD32Async(a, 1, FLOATS, CU_STREAM_PER_THREAD));
    in_thread(watch, user);
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &ended));
    EXPECT(ended == NULL);
}

static void second(void)
{
    CUstream stream = new_stream();
    CUevent done = new_event();
    CU(cuEventRecord(done, stream));
    CU(cuStreamSynchronize(stream));
    in_thread(capture, &done);
}

static void pin_and_free(void *user)
{
    void *staging = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    if (user != NULL)
        CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuMemHostAlloc(&staging, 4096, 0));
    CU(cuMemFreeHost(staging));
}

/* The same during a thread-local capture, and by a thread that left global mode. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, a, 1);
    in_thread(pin_and_free, NULL);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 2);
    in_thread(pin_and_free, &a);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 0) == 2);
}

BROKEN(first, second, near)
