// SPDX-License-Identifier: Apache-2.0
// launch.out-of-memory
//
// Allocations of a graph get memory when it is uploaded or launched, not when it is
// built: where the device has none left, that call says CUDA_ERROR_OUT_OF_MEMORY. Free in
// the graph what a later node needs no more, so that allocations share memory, launch
// graphs one after the other so that they do, and give memory back with
// cuDeviceGraphMemTrim().
#include "broken.h"

enum { PARTS = 6 };

static CUDA_MEM_ALLOC_NODE_PARAMS a_quarter(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS out = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}}};
    CUdevice device;
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceTotalMem(&out.bytesize, device));
    out.bytesize /= 4;
    return out;
}

/* More at once than the device has. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode nodes[2 * PARTS] = {NULL};
    CUgraphExec exec = NULL;
    CUdeviceptr parts[PARTS];
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < PARTS; i++) {
        CUDA_MEM_ALLOC_NODE_PARAMS wanted = a_quarter();
        CU(cuGraphAddMemAllocNode(&nodes[i], graph, nodes + i - (i > 0), i > 0, &wanted));
        parts[i] = wanted.dptr;
    }
    for (int i = 0; i < PARTS; i++)
        CU(cuGraphAddMemFreeNode(&nodes[PARTS + i], graph, &nodes[PARTS - 1], 1,
                                 parts[i]));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Captured, with most of the device taken by the program; found by the upload. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr taken[3] = {0, 0, 0}, temporary = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    const size_t quarter = a_quarter().bytesize;
    for (int i = 0; i < 3; i++)
        CU(cuMemAlloc(&taken[i], quarter));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&temporary, quarter / 2 * 3, stream));
    CU(cuMemsetD8Async(temporary, 0, 1024, stream));
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphUpload(exec, stream)); /* <-- second */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        CU(cuMemFree(taken[i]));
}

/* As many, but one after the other: they share memory. */
static void near(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode last = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    for (int i = 0; i < PARTS; i++) {
        CUDA_MEM_ALLOC_NODE_PARAMS wanted = a_quarter();
        CUgraphNode alloc = NULL;
        CU(cuGraphAddMemAllocNode(&alloc, graph, &last, i > 0, &wanted));
        CU(cuGraphAddMemFreeNode(&last, graph, &alloc, 1, wanted.dptr));
    }
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
