// SPDX-License-Identifier: Apache-2.0
// instantiate.flags
//
// Not every set of flags goes with every call: launches from the device exclude memory
// that is freed at the next launch, the upload flag needs a stream and so
// cuGraphInstantiateWithParams(), an empty graph is not a device graph, and flags that the
// driver does not know are refused. All are CUDA_ERROR_INVALID_VALUE.
#include "broken.h"

/* Two flags that exclude each other. */
static void first(void)
{
    CUgraph graph = fill_graph(new_stream(), new_floats());
    CUgraphExec exec = NULL;
    CU(cuGraphInstantiateWithFlags(&exec, graph, /* <-- first */
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                       CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* The older call's log buffer size where the newer one has flags, as ports do. */
static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 1024};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* Each flag as it is meant. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = fill_graph(stream, x);
    CUgraphExec execs[3] = {NULL, NULL, NULL};
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hUploadStream = stream};
    CU(cuGraphInstantiateWithParams(&execs[0], graph, &params));
    CU(cuGraphInstantiateWithFlags(&execs[1], graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                       CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    CU(cuGraphInstantiateWithFlags(&execs[2], graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(execs[i], stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 3) == 5);
    for (int i = 0; i < 3; i++)
        CU(cuGraphExecDestroy(execs[i]));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
