// SPDX-License-Identifier: Apache-2.0
// capture.invalid-work
//
// A launch that no device could run (a block too large, more shared memory than there is)
// fails while it is captured, with the code it has outside, and makes the capture
// invalid: what is seen later is 901. Repair the launch; more than 48 KiB of dynamic
// shared memory need cuFuncSetAttribute(), which may be called during the capture.
#include "broken.h"

/* 2,048 threads a block. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    void *args[] = {&a, &(float){1}, &(unsigned){FLOATS}};
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuLaunchKernel(fill, 1, 1, 1, 2048, 1, 1, 0, stream, args, NULL)); /* <-- first */
    FILL(stream, a, 2);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

static CUresult launch_with(CUfunction kernel, unsigned shared, void **arguments,
                            CUstream stream)
{
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = shared,
                             .hStream = stream};
    return CU(cuLaunchKernelEx(&config, kernel, arguments, NULL)); /* <-- second */
}

/* 100 KiB of shared memory, in a thread, on a stream that joined. */
static void capture(void *user)
{
    CUdeviceptr *out = user;
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event();
    CUgraph graph = NULL;
    void *arguments[] = {out, &(float){1}, &(unsigned){64}};
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    fork_to(stream, side, event);
    launch_with(fill, 100 << 10, arguments, side);
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT(graph == NULL);
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(capture, &a);
}

/* The same shared memory, asked for before. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = NULL;
    void *arguments[] = {&a, &(float){4}, &(unsigned){64}};
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuFuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          100 << 10));
    launch_with(fill, 100 << 10, arguments, stream);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 1) == 4);
}

BROKEN(first, second, near)
