// SPDX-License-Identifier: Apache-2.0
// perf.remap-each-launch
//
// Graph memory is trimmed between launches: the launch after each trim must map physical
// memory again (242 us after a trim, a few microseconds without). Do not trim between
// launches; where it must be, upload the graph after the trim.
// timing: what launches cost
#include "broken.h"

enum { STEPS = 6, BYTES = 4 << 20 };

static CUgraphExec capture(CUstream stream)
{
    CUdeviceptr scratch = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    FILL(stream, scratch, 1);
    SCALE_ADD(stream, scratch, scratch, 2);
    CU(cuMemFreeAsync(scratch, stream));
    return end_capture(stream);
}

/* "To be safe", in each step. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraphExec exec = capture(stream);
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        CU(cuDeviceGraphMemTrim(0)); /* <-- first */
    }
    CU(cuGraphExecDestroy(exec));
}

/* A thread that keeps house, between the launches of two graphs made by hand. */
static void keep_house(void *user)
{
    (void)user;
    CU(cuDeviceGraphMemTrim(0)); /* <-- second */
}

static void second(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode allocated = NULL, freed = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&allocated, graph, NULL, 0, &wanted));
    CU(cuGraphAddMemFreeNode(&freed, graph, &allocated, 1, wanted.dptr));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < STEPS; i++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        in_thread(keep_house, NULL);
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Trimmed once, when the graph has done its work; and graphs without memory of their own
 * launched between trims. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraphExec exec = capture(stream);
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CUgraphExec other = end_capture(stream);
    for (int i = 0; i < STEPS; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < STEPS; i++) {
        CU(cuDeviceGraphMemTrim(0));
        CU(cuGraphLaunch(other, stream));
    }
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphExecDestroy(other));
}

BROKEN(first, second, near)
