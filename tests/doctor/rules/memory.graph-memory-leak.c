// SPDX-License-Identifier: Apache-2.0
// memory.graph-memory-leak
//
// What the last launch of a graph left allocated stays allocated when the executable
// graph is destroyed, and nobody has the address any more. Freeing on launch happens
// before the next launch only, and neither the end of the graph nor a trim frees live
// memory. Free it with cuMemFreeAsync before the executable graph goes.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* Freed on launch, but the last time nothing is launched after it; and so for each
 * request. */
static void serve(CUstream stream)
{
    CUdeviceptr result = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    FILL(stream, result, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(result, 0) == 1);
    CU(cuGraphExecDestroy(exec)); /* <-- first */
    CU(cuGraphDestroy(graph));
}

static void first(void)
{
    CUstream stream = new_stream();
    for (int i = 0; i < 3; i++)
        serve(stream);
}

/* One launch of a graph made by hand, in a thread; a trim does not help. */
static void run(void *user)
{
    CUstream stream = user;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    CUgraph graph = NULL;
    CUgraphNode allocated = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&allocated, graph, NULL, 0, &wanted));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemsetD32(wanted.dptr, 0, FLOATS));
    CU(cuGraphDestroy(graph));
    CU(cuGraphExecDestroy(exec)); /* <-- second */
    CU(cuDeviceGraphMemTrim(0));
}

static void second(void)
{
    in_thread(run, new_stream());
}

/* Freed after the end of the executable graph, by its address; and the last result of
 * all, which goes with the context. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr result = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    FILL(stream, result, 1);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    EXPECT(float_at(result, 0) == 1);
    CU(cuMemFree(result));

    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    FILL(stream, result, 2);
    exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS && float_at(result, 9) == 2);
    CU(cuGraphExecDestroy(exec));
    CU(cuStreamDestroy(stream));
}

BROKEN(first, second, near)
