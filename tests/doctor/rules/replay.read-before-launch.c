// SPDX-License-Identifier: Apache-2.0
// replay.read-before-launch
//
// A capture records and runs nothing. A result that is read after the graph was captured and made
// executable, and before its first launch, is what lay there before. Reported where nothing else has
// computed it, the graph is launched later, and nobody reads the result then. Work that another thread
// submitted to the capturing stream was captured, too, instead of run: then at that call. Who reads
// before and after the first launch is left alone, and so is who ran the same kernel for a warm-up.
#include "broken.h"

static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 2);
    COPY(stream, out, x);
    CUgraphExec exec = end_capture(stream);
    CU(cuStreamSynchronize(stream));
    float value = 1;
    CU(cuMemcpyDtoH(&value, out, sizeof(value))); // <-- first
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(value == 0);
    CU(cuGraphExecDestroy(exec));
}

typedef struct prefetch {
    CUstream stream;
    CUdeviceptr to;
    float *from;
} prefetch;

static void copy_next(void *user)
{
    const prefetch *of = user;
    CU(cuMemcpyHtoDAsync(of->to, of->from, 64, of->stream)); // <-- second
}

/* A loader's copy in the stream that another thread captures. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats();
    prefetch next = {.stream = stream, .to = new_floats()};
    CU(cuMemHostAlloc((void **)&next.from, 64, 0));
    next.from[0] = 7;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FILL(stream, x, 2);
    in_thread(copy_next, &next);
    CUgraphExec exec = end_capture(stream);
    EXPECT(float_at(next.to, 0) == 0);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* One looks before and after; one has run the kernel before the capture. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr x = new_floats(), out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 2);
    CUgraphExec exec = end_capture(stream);
    EXPECT(float_at(x, 7) == 0);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 7) == 2);
    CU(cuGraphExecDestroy(exec));
    COPY(stream, out, x);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    COPY(stream, out, x);
    exec = end_capture(stream);
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(out, 7) == 2);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
