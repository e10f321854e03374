// SPDX-License-Identifier: Apache-2.0
// memory.pointer-before-launch
//
// A captured allocation has its address at once, but no memory before a launch: a copy or
// a fill outside the graph fails with CUDA_ERROR_INVALID_VALUE, a kernel faults. Use
// the address inside the graph, or after a launch that leaves it allocated.
#include "broken.h"

enum { BYTES = FLOATS * sizeof(float) };

/* Filled from outside before the first launch. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUdeviceptr scratch = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    SCALE_ADD(stream, out, scratch, 1);
    CU(cuMemFreeAsync(scratch, stream));
    CUgraphExec exec = end_capture(stream);
    CU(cuMemsetD32Async(scratch, 0, FLOATS, stream)); /* <-- first */
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

/* A node made by hand; the graph is not even instantiated when the copy is made. */
static void second(void)
{
    float y[4];
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    CUgraph graph = NULL;
    CUgraphNode allocated = NULL, freed = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&allocated, graph, NULL, 0, &wanted));
    CU(cuGraphAddMemFreeNode(&freed, graph, &allocated, 1, wanted.dptr));
    CU(cuMemcpyDtoH(y, wanted.dptr + 256, sizeof(y))); /* <-- second */
    CU(cuGraphDestroy(graph));
}

/* After the launch, and freed outside. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr result = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&result, BYTES, stream));
    FILL(stream, result, 4);
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(result, 3) == 4);
    CU(cuMemsetD32Async(result, 0, FLOATS, stream));
    CU(cuMemFreeAsync(result, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
