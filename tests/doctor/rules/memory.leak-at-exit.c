// SPDX-License-Identifier: Apache-2.0
// memory.leak-at-exit
//
// The program ended with executable graphs alive, or with memory that a launch had left
// allocated. The system takes everything back, so it is worth knowing and no more; in a
// library that is loaded again and again it would be a leak. Destroy executable graphs
// before the context goes.
#include "broken.h"

/* One executable graph, forgotten. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, out, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0)); /* <-- first */
    CU(cuGraphDestroy(graph));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
}

/* Made by hand and instantiated twice, in another way; one is destroyed. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode allocated = NULL;
    CUgraphExec execs[2] = {NULL, NULL};
    const CUDA_MEMSET_NODE_PARAMS fills = {
        .dst = new_floats(), .value = 1, .elementSize = 4, .width = 16, .height = 1};
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.hUploadStream = stream};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(&allocated, graph, NULL, 0, &fills, context));
    CU(cuGraphInstantiateWithParams(&execs[0], graph, &params));
    CU(cuGraphInstantiateWithParams(&execs[1], graph, &params)); /* <-- second */
    for (int i = 0; i < 2; i++)
        CU(cuGraphLaunch(execs[i], stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(execs[0]));
    CU(cuGraphDestroy(graph));
}

/* All destroyed, also one that was never launched. */
static void near(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr out = new_floats();
    CUgraphExec execs[2];
    for (int i = 0; i < 2; i++) {
        CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        FILL(stream, out, 1);
        execs[i] = end_capture(stream);
    }
    CU(cuGraphLaunch(execs[0], stream));
    CU(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++)
        CU(cuGraphExecDestroy(execs[i]));
}

BROKEN(first, second, near)
