// SPDX-License-Identifier: Apache-2.0
// memory.staging-overwritten
//
// A copy out of host memory reads it when the device comes to it. A program that fills one
// staging buffer for each launch, and waits for none, gives a request the next one's input.
// The doctor compares what lies there before launches that nothing has waited for: a graph's
// first four launches, then some; copies outside graphs out of pinned memory (of large
// ones samples).
// Silent where the program uses host functions, which may fill the memory in the order of a
// stream, and where a word that the device writes or another thread may have shown the host
// that the copy is done.
#include "broken.h"
#include <stdatomic.h>

enum { STEPS = 4, BYTES = FLOATS * sizeof(float) };

static void fill_host(float *to, int step)
{
    for (int i = 0; i < FLOATS; i++)
        to[i] = (float)(step + i);
}

static CUgraphExec capture_upload(CUstream stream, CUdeviceptr in, const float *staging)
{
    const CUdeviceptr out = new_floats();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CU(cuMemcpyHtoDAsync(in, staging, BYTES, stream));
    SCALE_ADD(stream, out, in, 2);
    return end_capture(stream);
}

/* One buffer that the graph reads itself. */
static void first(void)
{
    CUstream stream = new_stream();
    float *staging = NULL;
    CU(cuMemAllocHost((void **)&staging, BYTES));
    fill_host(staging, 0);
    CUgraphExec exec = capture_upload(stream, new_floats(), staging);
    for (int step = 0; step < STEPS; step++) {
        fill_host(staging, step);
        CU(cuGraphLaunch(exec, stream)); /* <-- first */
    }
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(staging));
}

/* The copy is outside the graph; the number of a step, sent from one word. */
static void second(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    unsigned *number = NULL;
    CU(cuMemAllocHost((void **)&number, sizeof(*number)));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    SCALE_ADD(stream, out, in, 2);
    CUgraphExec exec = end_capture(stream);
    for (int step = 0; step < STEPS; step++) {
        *number = (unsigned)step;
        CU(cuMemcpyHtoDAsync(in, number, sizeof(*number), stream)); /* <-- second */
        CU(cuGraphLaunch(exec, stream));
    }
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(number));
}

static void CUDA_CB raise_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
}

/* No call waits: a host function, in a stream after the copy's, says that the word may be
 * used again. So do XLA's staging buffers. */
static void near_reported(void)
{
    CUstream stream = new_stream(), after = new_stream();
    CUevent copied = new_event();
    const CUdeviceptr in = new_floats(), out = new_floats();
    unsigned *number = NULL;
    CU(cuMemAllocHost((void **)&number, sizeof(*number)));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    SCALE_ADD(stream, out, in, 2);
    CUgraphExec exec = end_capture(stream);
    for (int step = 0; step < STEPS; step++) {
        atomic_int may_fill = 0;
        *number = (unsigned)step;
        CU(cuMemcpyHtoDAsync(in, number, sizeof(*number), stream));
        CU(cuEventRecord(copied, stream));
        CU(cuStreamWaitEvent(after, copied, 0));
        CU(cuLaunchHostFunc(after, raise_flag, &may_fill));
        CU(cuGraphLaunch(exec, stream));
        while (!atomic_load(&may_fill))
            usleep(100);
    }
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(number));
}

typedef struct letter {
    unsigned *word;
    unsigned value;
} letter;

static void CUDA_CB write_word(void *at)
{
    const letter *one = at;
    usleep(20000); /* the first copy is submitted before */
    *one->word = one->value;
}

/* The host writes in the stream's order, as XLA does: two copies send the same word. */
static void near_written(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    letter one = {NULL, 7};
    CU(cuMemAllocHost((void **)&one.word, sizeof(*one.word)));
    *one.word = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    SCALE_ADD(stream, out, in, 2);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuLaunchHostFunc(stream, write_word, &one));
    CU(cuMemcpyHtoDAsync(in, one.word, sizeof(*one.word), stream));
    usleep(100000);
    CU(cuMemcpyHtoDAsync(out, one.word, sizeof(*one.word), stream));
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(one.word));
}

/* As near_reported, of what a graph copies: a host function after its launch. */
static void near_reported_graph(void)
{
    CUstream stream = new_stream();
    float *staging = NULL;
    CU(cuMemAllocHost((void **)&staging, BYTES));
    fill_host(staging, 0);
    CUgraphExec exec = capture_upload(stream, new_floats(), staging);
    for (int step = 0; step < STEPS; step++) {
        atomic_int may_fill = 0;
        fill_host(staging, step);
        CU(cuGraphLaunch(exec, stream));
        CU(cuLaunchHostFunc(stream, raise_flag, &may_fill));
        while (!atomic_load(&may_fill))
            usleep(100);
    }
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(staging));
}

/* Two buffers in turn, each after its event; then one whose contents stay. */
static void near(void)
{
    near_reported();
    near_written();
    near_reported_graph();
    CUstream stream = new_stream();
    CUgraphExec execs[2];
    float *staging[2] = {NULL, NULL};
    CUevent done[2] = {new_event(), new_event()};
    const CUdeviceptr in = new_floats();
    for (int i = 0; i < 2; i++) {
        CU(cuMemAllocHost((void **)&staging[i], BYTES));
        fill_host(staging[i], 0);
        execs[i] = capture_upload(stream, in, staging[i]);
    }
    for (int step = 0; step < 2 * STEPS; step++) {
        const int at = step % 2;
        if (step >= 2)
            CU(cuEventSynchronize(done[at]));
        fill_host(staging[at], step);
        CU(cuGraphLaunch(execs[at], stream));
        CU(cuEventRecord(done[at], stream));
    }
    for (int step = 0; step < STEPS; step++)
        CU(cuGraphLaunch(execs[0], stream));
    CU(cuCtxSynchronize());
    for (int i = 0; i < 2; i++) {
        CU(cuGraphExecDestroy(execs[i]));
        CU(cuMemFreeHost(staging[i]));
    }
}

BROKEN(first, second, near)
