// SPDX-License-Identifier: Apache-2.0
// cache.shape-explosion
//
// A graph is captured for almost every size that comes, and sizes hardly repeat: most
// executable graphs are launched less often than it takes to pay for capture and
// instantiation, and all of them stay. Round sizes up to a few buckets, update one
// executable graph for rare sizes, or run those without a graph.
// timing: what instantiations cost
#include "broken.h"

enum { SIZES = 24 };

static float host[SIZES];

/* The grid follows the size. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    for (unsigned i = 1; i <= SIZES; i++) {
        CUgraph graph = NULL;
        CUgraphExec exec = NULL;
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        LAUNCH(fill, i, stream, &(CUdeviceptr){out}, &(float){1}, &(unsigned){16 * i});
        CU(cuStreamEndCapture(stream, &graph));
        CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuMemcpyDtoHAsync(host, out, 4, stream));
        CU(cuStreamSynchronize(stream));
    }
}

/* Graphs made by hand, of a fill and a copy of the size; in a thread. */
static void serve(void *user)
{
    CUstream stream = user;
    const CUdeviceptr a = new_floats(), b = new_floats();
    for (unsigned i = 1; i <= SIZES; i++) {
        CUgraph graph = NULL;
        CUgraphNode filled = NULL, copied = NULL;
        CUgraphExec exec = NULL;
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
        const CUDA_MEMSET_NODE_PARAMS fills = {
            .dst = a, .value = i, .elementSize = 4, .width = 8 * i, .height = 1};
        const CUDA_MEMCPY3D copies = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .srcDevice = a,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstDevice = b,
                                      .WidthInBytes = 32 * (size_t)i,
                                      .Height = 1,
                                      .Depth = 1};
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddMemsetNode(&filled, graph, NULL, 0, &fills, context));
        CU(cuGraphAddMemcpyNode(&copied, graph, &filled, 1, &copies, context));
        CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
        CU(cuGraphDestroy(graph));
        CU(cuGraphLaunch(exec, stream));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
    }
}

static void second(void)
{
    in_thread(serve, new_stream());
}

/* As many sizes, captured before the work begins, and each used again and again. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraphExec execs[SIZES];
    for (unsigned i = 0; i < SIZES; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        LAUNCH(fill, i + 1, stream, &(CUdeviceptr){out}, &(float){1},
               &(unsigned){16 * i});
        SCALE_ADD(stream, out, out, 1);
        COPY(stream, out, out);
        execs[i] = end_capture(stream);
        CU(cuGraphLaunch(execs[i], stream));
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < 20 * SIZES; i++) {
        CU(cuGraphLaunch(execs[i % SIZES], stream));
        CU(cuMemcpyDtoHAsync(host, out, 4, stream));
        CU(cuStreamSynchronize(stream));
    }
    for (int i = 0; i < SIZES; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
