// SPDX-License-Identifier: Apache-2.0
// memory.pool-per-graph
//
// Each graph has its temporaries in a memory pool of its own, though the graphs never run
// at the same time: the process holds the sum over all graphs where the largest would do.
// Let the captures share one pool, capture the largest first, and free the temporaries of
// one before the next is captured.
#include "broken.h"

enum { GRAPHS = 3, BYTES = 4 << 20 };

static CUmemoryPool new_pool(void)
{
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool = NULL;
    CU(cuMemPoolCreate(&pool, &props));
    return pool;
}

/* Captured, one bucket after the other. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    CUgraph graph = NULL;
    CUgraphExec execs[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        CUdeviceptr temporary = 0;
        CU(cuMemAllocFromPoolAsync(&temporary, BYTES, new_pool(), stream));
        CU(cuStreamSynchronize(stream));
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        COPY(stream, temporary, in);
        SCALE_ADD(stream, out, temporary, 2);
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphInstantiateWithFlags(&execs[i], graph, 0)); /* <-- first */
        CU(cuGraphDestroy(graph));
    }
    for (int i = 0; i < 2 * GRAPHS; i++)
        CU(cuGraphLaunch(execs[i % GRAPHS], stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < GRAPHS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

/* Made by hand, of fills and copies; launched on two streams, but one waits for the
 * other. */
static void second(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    CUevent event = new_event();
    const CUdeviceptr out = new_floats();
    CUgraphExec execs[GRAPHS];
    for (int i = 0; i < GRAPHS; i++) {
        CUgraph graph = NULL;
        CUgraphNode filled = NULL, copied = NULL;
        CUdeviceptr temporary = 0;
        CU(cuMemAllocFromPoolAsync(&temporary, BYTES, new_pool(), streams[0]));
        CU(cuStreamSynchronize(streams[0]));
        const CUDA_MEMSET_NODE_PARAMS fills = {
            .dst = temporary, .value = 1, .elementSize = 4, .width = FLOATS, .height = 1};
        const CUDA_MEMCPY3D copies = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .srcDevice = temporary,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = out,
                                      .WidthInBytes = FLOATS * sizeof(float),
                                      .Height = 1,
                                      .Depth = 1};
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddMemsetNode(&filled, graph, NULL, 0, &fills, context));
        CU(cuGraphAddMemcpyNode(&copied, graph, &filled, 1, &copies, context));
        CU(cuGraphInstantiateWithFlags(&execs[i], graph, 0)); /* <-- second */
        CU(cuGraphDestroy(graph));
    }
    for (int i = 0; i < 2 * GRAPHS; i++) {
        CU(cuGraphLaunch(execs[i % GRAPHS], streams[i % 2]));
        fork_to(streams[i % 2], streams[1 - i % 2], event);
    }
    CU(cuCtxSynchronize());
    for (int i = 0; i < GRAPHS; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

/* Pools of their own, for graphs that do run at the same time. */
static void near(void)
{
    CUstream stream = new_stream();
    CUstream streams[GRAPHS];
    CUmemoryPool pools[GRAPHS];
    CUdeviceptr temporaries[GRAPHS];
    CUgraphExec execs[GRAPHS];
    const CUdeviceptr in = new_floats();
    for (int i = 0; i < GRAPHS; i++) {
        const CUdeviceptr out = new_floats();
        streams[i] = new_stream();
        pools[i] = new_pool();
        CU(cuMemAllocFromPoolAsync(&temporaries[i], BYTES, pools[i], stream));
        CU(cuStreamSynchronize(stream));
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        COPY(stream, temporaries[i], in);
        SCALE_ADD(stream, out, temporaries[i], 2);
        execs[i] = end_capture(stream);
    }
    for (int i = 0; i < 2 * GRAPHS; i++)
        CU(cuGraphLaunch(execs[i % GRAPHS], streams[i % GRAPHS]));
    CU(cuCtxSynchronize());
    for (int i = 0; i < GRAPHS; i++) {
        CU(cuGraphExecDestroy(execs[i]));
        CU(cuMemFreeAsync(temporaries[i], stream));
        CU(cuStreamSynchronize(stream));
        CU(cuMemPoolDestroy(pools[i]));
    }
}

BROKEN(first, second, near)
