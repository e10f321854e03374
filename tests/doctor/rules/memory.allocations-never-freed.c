// SPDX-License-Identifier: Apache-2.0
// memory.allocations-never-freed
//
// A graph allocates one buffer after the other and frees none inside, though each is done
// with before the next is allocated. Inside a graph memory is used again only after a
// free node: three buffers of 256 MiB took 768 MiB without and 256 MiB with them. Capture
// the free where the last use ends.
#include "broken.h"

enum { BYTES = 4 << 20 };

/* Two temporaries in a row, captured. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUdeviceptr temporaries[2];
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&temporaries[0], BYTES, stream));
    FILL(stream, temporaries[0], 1);
    SCALE_ADD(stream, out, temporaries[0], 1);
    CU(cuMemAllocAsync(&temporaries[1], BYTES, stream)); /* <-- first */
    FILL(stream, temporaries[1], 2);
    SCALE_ADD(stream, out, temporaries[1], 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    CU(cuGraphLaunch(exec, stream));
    CU(cuGraphLaunch(exec, stream));
    for (int i = 0; i < 2; i++)
        CU(cuMemFreeAsync(temporaries[i], stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* A graph with an allocation by hand. */
static CUgraphExec new_graph(CUdeviceptr *temporary)
{
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    CUgraph graph = NULL;
    CUgraphNode allocated = NULL, filled = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&allocated, graph, NULL, 0, &wanted)); /* <-- second */
    const CUDA_MEMSET_NODE_PARAMS fills = {
        .dst = wanted.dptr, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
    CU(cuGraphAddMemsetNode(&filled, graph, &allocated, 1, &fills, context));
    CU(cuGraphInstantiateWithFlags(&exec, graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    CU(cuGraphDestroy(graph));
    *temporary = wanted.dptr;
    return exec;
}

/* Two graphs that take turns. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr temporaries[2];
    CUgraphExec execs[2];
    for (int i = 0; i < 2; i++)
        execs[i] = new_graph(&temporaries[i]);
    for (int i = 0; i < 4; i++)
        CU(cuGraphLaunch(execs[i % 2], stream));
    for (int i = 0; i < 2; i++)
        CU(cuMemFreeAsync(temporaries[i], stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

/* One is freed inside; the other is the result, which is read outside and freed there. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr temporary = 0, result = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&temporary, BYTES, stream));
    FILL(stream, temporary, 1);
    CU(cuMemAllocAsync(&result, BYTES, stream));
    COPY(stream, result, temporary);
    CU(cuMemFreeAsync(temporary, stream));
    CUgraphExec exec = end_capture(stream);
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(float_at(result, 7) == 1);
        CU(cuMemFree(result));
    }
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
