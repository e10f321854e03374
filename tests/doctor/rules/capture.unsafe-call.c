// SPDX-License-Identifier: Apache-2.0
// capture.unsafe-call
//
// While a stream captures in global or thread-local mode, the thread that began it may
// not make calls that could disturb the capture: allocate, free or register memory, ask
// or wait for other work, change limits. The call fails with 900, the capture is invalid
// from then on, and all later calls only say 901. Make such calls before the capture; for
// memory use cuMemAllocAsync() on the capturing stream; what cannot disturb it may be
// wrapped in cuThreadExchangeStreamCaptureMode(relaxed).
#include "broken.h"

/* A buffer is allocated in the midst of the captured work. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = 0;
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuMemAlloc(&b, FLOATS * sizeof(float))); /* <-- first */
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL && b == 0);
}

/* In a thread of its own, on its per-thread stream: a helper asks whether earlier work on
 * another stream is done. */
static int is_done(CUevent event)
{
    return CU(cuEventQuery(event)) == CUDA_SUCCESS; /* <-- second */
}

static void capture(void *user)
{
    CUevent *uploaded = user;
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemsetD32Async(a, 1, FLOATS, CU_STREAM_PER_THREAD));
    if (is_done(*uploaded))
        CU(cuMemsetD32Async(a, 2, FLOATS, CU_STREAM_PER_THREAD));
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUstream stream = new_stream();
    CUevent uploaded = new_event();
    CUdeviceptr a = new_floats();
    FILL(stream, a, 1);
    CU(cuEventRecord(uploaded, stream));
    CU(cuStreamSynchronize(stream));
    in_thread(capture, &uploaded);
}

/* The same calls: in a relaxed capture, in a thread that relaxed itself, and stream-
 * ordered on the capturing stream. */
static void near(void)
{
    CUstream stream = new_stream(), other = new_stream();
    CUevent event = new_event();
    CUdeviceptr a = new_floats(), b = 0, c = 0;
    CUgraph graph = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CU(cuEventRecord(event, other));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemAlloc(&b, FLOATS * sizeof(float)));
    CU(cuEventSynchronize(event));
    SCALE_ADD(stream, a, b, 0);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphDestroy(graph));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 3);
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuStreamSynchronize(other));
    CU(cuThreadExchangeStreamCaptureMode(&mode));
    CU(cuMemAllocAsync(&c, FLOATS * sizeof(float), stream));
    COPY(stream, c, a);
    CU(cuMemFreeAsync(c, stream));
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 7) == 3);
    CU(cuMemFree(b));
}

BROKEN(first, second, near)
