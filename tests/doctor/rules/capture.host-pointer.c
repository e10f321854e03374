// SPDX-License-Identifier: Apache-2.0
// capture.host-pointer
//
// A captured copy keeps the address of its host memory, not the bytes: each replay reads
// (or writes) what is there by then. A local variable of a function that has returned or
// a buffer that was freed gives garbage, or a crash inside cuGraphLaunch(), also where it
// was given out again meanwhile. So does what a captured host function is given. Keep the
// memory, pinned, as long as the executable graph, or pass the value as an argument of a
// kernel.
#include "broken.h"

/* The scale factors are a local array of the function that captures. */
static CUgraph capture_upload(CUstream stream, CUdeviceptr out, float value)
{
    float local[64];
    CUgraph graph = NULL;
    for (int i = 0; i < 64; i++)
        local[i] = value;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyHtoDAsync(out, local, sizeof(local), stream)); /* <-- first */
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* Uses the stack that the capturing function has left. */
static int other_work(int depth)
{
    volatile int local[64];
    for (int i = 0; i < 64; i++)
        local[i] = depth + i;
    return depth > 0 ? other_work(depth - 1) + local[7] : local[3];
}

static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats();
    CUgraph graph = capture_upload(stream, a, 3);
    EXPECT(other_work(8) > 0);
    replay_once(graph, stream);
    EXPECT(float_at(a, 40) != 3);
}

/* A buffer of malloc() that is freed before the second replay, and given out again, so
 * that no mark of the C library is left in it; captured into a graph, in a thread. */
static void capture(void *user)
{
    enum { COUNT = 64 };
    CUdeviceptr *out = user;
    float *buffer = calloc(COUNT, sizeof(float));
    const CUdeviceptr from = (CUdeviceptr)(uintptr_t)buffer;
    CUgraph into = NULL, graph = NULL;
    CUgraphExec exec = NULL;
    for (int i = 0; i < COUNT; i++)
        buffer[i] = 9;
    CU(cuGraphCreate(&into, 0));
    CU(cuStreamBeginCaptureToGraph(CU_STREAM_PER_THREAD, into, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemcpyAsync(*out, from, 256, CU_STREAM_PER_THREAD)); /* <-- second */
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, CU_STREAM_PER_THREAD));
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    EXPECT(float_at(*out, 0) == 9);
    free(buffer);
    float *other = malloc(COUNT * sizeof(float));
    for (int i = 0; i < COUNT; i++)
        other[i] = 5;
    CU(cuGraphLaunch(exec, CU_STREAM_PER_THREAD));
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    free(other);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(capture, &a);
    EXPECT(float_at(a, 0) != 9);
}

static void CUDA_CB count_up(void *user)
{
    if (user != (void *)7)
        ++*(int *)user;
}

/* A pinned buffer that lives on and is filled again for each replay, a constant table, and
 * a pageable buffer that is filled again; host functions are given a number, a counter of
 * this function, which is still there, and one on the heap. */
static void near(void)
{
    static float table[64] = {1, 2, 3};
    float *pageable = calloc(FLOATS, sizeof(float));
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats(), c = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    float *staging = NULL;
    int here = 0, *there = calloc(1, sizeof(int));
    free(calloc(1, 256)); /* nobody's */
    CU(cuMemAllocHost((void **)&staging, 4096));
    staging[0] = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyHtoDAsync(a, staging, 4096, stream));
    CU(cuMemcpyHtoDAsync(b, table, sizeof(table), stream));
    CU(cuMemcpyHtoDAsync(c, pageable, 4096, stream));
    SCALE_ADD(stream, b, a, 1);
    CU(cuLaunchHostFunc(stream, count_up, (void *)7));
    CU(cuLaunchHostFunc(stream, count_up, &here));
    CU(cuLaunchHostFunc(stream, count_up, there));
    CU(cuMemcpyDtoHAsync(staging + 512, b, 64, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        staging[0] = (float)i + 5;
        pageable[9] = (float)i;
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(staging[512] == (float)i + 6 && float_at(c, 9) == (float)i);
    }
    EXPECT(here == 2 && *there == 2);
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(staging));
    free(pageable);
    free(there);
}

BROKEN(first, second, near)
