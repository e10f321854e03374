// SPDX-License-Identifier: Apache-2.0
// memory.allocated-elsewhere
//
// Memory is allocated in the order of one stream, and a graph that uses it is launched in
// another one, which does not wait for the first: the graph may run before the memory is there.
// Record an event after the allocation and wait for it, or allocate in the launch's stream.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

static CUstream loader, stream;
static CUevent there;
static CUdeviceptr memory, out;

static void open_both(void)
{
    loader = new_stream();
    stream = new_stream();
    there = new_event();
    out = new_floats();
}

static void allocate(CUstream in)
{
    SPIN(loader, 100);
    CU(cuMemAllocAsync(&memory, BYTES, in));
    CU(cuEventRecord(there, in));
}

static CUgraphExec capture(void)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, memory, 1);
    COPY(stream, out, memory);
    return end_capture(stream);
}

static void finish(CUgraphExec exec)
{
    CU(cuCtxSynchronize());
    CU(cuMemFreeAsync(memory, stream));
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
}

static void first(void)
{
    open_both();
    allocate(loader);
    CUgraphExec exec = capture();
    CU(cuGraphLaunch(exec, stream)); // <-- first
    finish(exec);
}

/* From a pool, and by hand; the wait comes after the first launch. */
static void second(void)
{
    CUmemoryPool pool = NULL;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    open_both();
    CU(cuGraphCreate(&graph, 0));
    CU(cuDeviceGetDefaultMemPool(&pool, 0));
    SPIN(loader, 100);
    CU(cuMemAllocFromPoolAsync(&memory, BYTES, pool, loader));
    CU(cuEventRecord(there, loader));
    const float one = 1;
    const unsigned floats = FLOATS;
    CUDA_KERNEL_NODE_PARAMS params =
        floats_kernel(fill, (void *[]){&memory, (void *)&one, (void *)&floats});
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream)); // <-- second
    CU(cuStreamWaitEvent(stream, there, 0));
    CU(cuGraphLaunch(exec, stream));
    finish(exec);
}

/* The stream waits; the host waits; it is the same stream. */
static void near(void)
{
    open_both();
    allocate(loader);
    CUgraphExec exec = capture();
    CU(cuStreamWaitEvent(stream, there, 0));
    CU(cuGraphLaunch(exec, stream));
    finish(exec);
    allocate(loader);
    exec = capture();
    CU(cuEventSynchronize(there));
    CU(cuGraphLaunch(exec, stream));
    finish(exec);
    allocate(stream);
    exec = capture();
    CU(cuGraphLaunch(exec, stream));
    finish(exec);
}

BROKEN(first, second, near)
