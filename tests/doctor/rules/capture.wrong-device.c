// SPDX-License-Identifier: Apache-2.0
// capture.wrong-device
//
// The capturing stream belongs to one device or context, and the work to another: the
// current device was not set, or a stream or kernel of another one was used. Such work
// runs immediately over there, or is refused, and the graph lacks it. Make the right context
// current before the capture begins, and use streams and kernels of that context.
#include "broken.h"

/* A second context, as of a second device. */
static CUcontext new_context(void)
{
    CUcontext out = NULL;
    CUdevice device = 0;
    CU(cuCtxGetDevice(&device));
    CU(cuCtxCreate(&out, NULL, 0, device));
    CU(cuCtxSetCurrent(context));
    return out;
}

typedef struct place {
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory;
    CUmodule code;
    CUfunction fill;
} place;

static place new_place(void)
{
    place out = {.context = new_context()};
    CU(cuCtxSetCurrent(out.context));
    out.stream = new_stream();
    out.memory = new_floats();
    CU(cuModuleLoadData(&out.code, broken_ptx));
    CU(cuModuleGetFunction(&out.fill, out.code, "fill"));
    CU(cuCtxSetCurrent(context));
    return out;
}

#define FILL_BY(kernel, stream, out)                                                     \
    LAUNCH(kernel, FLOATS / 128, stream, &(CUdeviceptr){(out)}, &(float){7},             \
           &(unsigned){FLOATS})

static void fill_there(const place *there, CUstream stream)
{
    FILL_BY(there->fill, stream, there->memory); /* <-- first */
}

/* The stream of one context captures; the work goes to the stream of another. */
static void first(void)
{
    CUstream stream = new_stream();
    place there = new_place();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuCtxSetCurrent(there.context));
    fill_there(&there, there.stream);
    CU(cuCtxSetCurrent(context));
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
}

/* A kernel of the other context is launched into the capturing stream. */
static void capture(void *user)
{
    place *there = user;
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD32Async(a, 1, FLOATS, stream));
    FILL_BY(there->fill, stream, a); /* <-- second */
    CU(cuStreamEndCapture(stream, &graph));
}

static void second(void)
{
    place there = new_place();
    in_thread(capture, &there);
}

/* Each context captures its own work; meanwhile the other works eagerly. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    place there = new_place();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuCtxSetCurrent(there.context));
    fill_there(&there, there.stream);
    CU(cuCtxSetCurrent(context));
    SCALE_ADD(stream, a, a, 1);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 0) == 2);
    CU(cuCtxSetCurrent(there.context));
    CU(cuStreamSynchronize(there.stream));
    CU(cuStreamBeginCapture(there.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fill_there(&there, there.stream);
    CU(cuStreamEndCapture(there.stream, &graph));
    replay_once(graph, there.stream);
    EXPECT(float_at(there.memory, 0) == 7);
    CU(cuCtxDestroy(there.context));
}

BROKEN(first, second, near)
