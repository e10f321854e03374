// SPDX-License-Identifier: Apache-2.0
// memory.wrong-trim
//
// Memory that nodes of graphs allocate is not memory of a pool: cuMemPoolTrimTo does not
// touch it, whatever the pool. Give it back with cuDeviceGraphMemTrim, when no graph
// runs.
#include "broken.h"

enum { BYTES = 4 << 20 };

/* A captured temporary; the device's pool is trimmed. */
static void first(void)
{
    CUstream stream = new_stream();
    CUmemoryPool pool = NULL;
    CUdeviceptr scratch = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    FILL(stream, scratch, 1);
    CU(cuMemFreeAsync(scratch, stream));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuDeviceGetDefaultMemPool(&pool, 0));
    CU(cuMemPoolTrimTo(pool, 0)); /* <-- first */
}

/* A node made by hand; a pool of the program's own, from which nothing ever came. */
static void second(void)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {.poolProps = props, .bytesize = BYTES};
    CUstream stream = new_stream();
    CUmemoryPool pool = NULL;
    CUgraph graph = NULL;
    CUgraphNode allocated = NULL, freed = NULL;
    CUgraphExec exec = NULL;
    CU(cuMemPoolCreate(&pool, &props));
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&allocated, graph, NULL, 0, &wanted));
    CU(cuGraphAddMemFreeNode(&freed, graph, &allocated, 1, wanted.dptr));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemPoolTrimTo(pool, 0)); /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuMemPoolDestroy(pool));
}

/* Both sorts of memory, and a trim for each. */
static void near(void)
{
    CUstream stream = new_stream();
    CUmemoryPool pool = NULL;
    CUdeviceptr scratch = 0, other = 0;
    CU(cuMemAllocAsync(&other, BYTES, stream));
    CU(cuMemFreeAsync(other, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&scratch, BYTES, stream));
    FILL(stream, scratch, 1);
    CU(cuMemFreeAsync(scratch, stream));
    CUgraphExec exec = end_capture(stream);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuDeviceGetDefaultMemPool(&pool, 0));
    CU(cuMemPoolTrimTo(pool, 0));
    CU(cuDeviceGraphMemTrim(0));
}

BROKEN(first, second, near)
