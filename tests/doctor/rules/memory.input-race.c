// SPDX-License-Identifier: Apache-2.0
// memory.input-race
//
// The next input is copied on a stream of its own, and nothing orders the copy and the
// replays: one still reads the buffer, or begins before the copy is done. Let each wait
// for an event of the other, or copy on the stream of the launches.
#include "broken.h"

enum { STEPS = 4, BYTES = FLOATS * sizeof(float) };

static CUgraphExec capture_step(CUstream stream, CUdeviceptr out, CUdeviceptr in)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    COPY(stream, out, in);
    SCALE_ADD(stream, out, in, 2);
    return end_capture(stream);
}

/* The launch waits for the copy; the next copy does not wait for the launch. */
static void first(void)
{
    CUstream stream = new_stream(), uploads = new_stream();
    CUevent loaded = new_event();
    const CUdeviceptr in = new_floats(), out = new_floats();
    float *host = NULL;
    CU(cuMemAllocHost((void **)&host, STEPS * BYTES));
    CUgraphExec exec = capture_step(stream, out, in);
    for (int i = 0; i < STEPS; i++) {
        CU(cuMemcpyHtoDAsync(in, host + i * FLOATS, BYTES, uploads)); /* <-- first */
        CU(cuEventRecord(loaded, uploads));
        CU(cuStreamWaitEvent(stream, loaded, 0));
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(host));
}

/* A copy between buffers of the device, by another thread; the launch does not wait. */
typedef struct upload {
    CUdeviceptr to, from;
} upload;

static void copy_in(void *user)
{
    const upload *of = user;
    CU(cuMemcpyAsync(of->to, of->from, BYTES, CU_STREAM_PER_THREAD)); /* <-- second */
}

static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    upload next = {new_floats(), new_floats()};
    const CUDA_MEMCPY3D copies = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = next.to,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = new_floats(),
                                  .WidthInBytes = BYTES,
                                  .Height = 1,
                                  .Depth = 1};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copies, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    in_thread(copy_in, &next);
    CU(cuGraphLaunch(exec, stream));
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Each waits for the other; then two buffers and two executables in turn, each after
 * what used its own buffer last. */
static void near(void)
{
    CUstream stream = new_stream(), uploads = new_stream();
    CUevent loaded[2] = {new_event(), new_event()}, used[2] = {new_event(), new_event()};
    const CUdeviceptr both = new_floats(), out = new_floats();
    const CUdeviceptr in[2] = {both, both + BYTES / 2};
    CUgraphExec execs[2];
    float *host = NULL;
    CU(cuMemAllocHost((void **)&host, BYTES));
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        LAUNCH(copy, FLOATS / 256, stream, &(CUdeviceptr){out}, &(CUdeviceptr){in[i]},
               &(unsigned){FLOATS / 2});
        execs[i] = end_capture(stream);
    }
    for (int i = 0; i < 2 * STEPS; i++) {
        if (i >= 2)
            CU(cuStreamWaitEvent(uploads, used[i % 2], 0));
        CU(cuMemcpyHtoDAsync(in[i % 2], host, BYTES / 2, uploads));
        CU(cuEventRecord(loaded[i % 2], uploads));
        CU(cuStreamWaitEvent(stream, loaded[i % 2], 0));
        CU(cuGraphLaunch(execs[i % 2], stream));
        CU(cuEventRecord(used[i % 2], stream));
    }
    CU(cuCtxSynchronize());
    for (int i = 0; i < 2; i++)
        CU(cuGraphExecDestroy(execs[i]));
    CU(cuMemFreeHost(host));
}

BROKEN(first, second, near)
