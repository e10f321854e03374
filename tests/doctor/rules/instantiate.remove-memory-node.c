// SPDX-License-Identifier: Apache-2.0
// instantiate.remove-memory-node
//
// Nodes cannot be taken out of a graph that has alloc or free nodes, whatever the node:
// CUDA_ERROR_NOT_SUPPORTED, since addresses of allocations depend on what comes before
// them. Build the graph again without the node, or switch the node off in the executable
// (cuGraphNodeSetEnabled).
#include "broken.h"

/* The free node itself. */
static void first(void)
{
    CUgraph graph = NULL;
    CUgraphNode alloc = NULL, release = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4096};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &wanted));
    CU(cuGraphAddMemFreeNode(&release, graph, &alloc, 1, wanted.dptr));
    CU(cuGraphDestroyNode(release)); /* <-- first */
    CU(cuGraphDestroy(graph));
}

/* A kernel of a captured graph that allocates elsewhere. */
static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), temporary = 0;
    CUgraph graph = NULL;
    CUgraphNode root = NULL;
    size_t count = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuMemAllocAsync(&temporary, FLOATS * sizeof(float), stream));
    COPY(stream, temporary, x);
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetRootNodes(graph, &root, &count));
    CU(cuGraphDestroyNode(root)); /* <-- second */
    CU(cuGraphDestroy(graph));
}

/* Out of a graph without memory nodes; switched off in an executable; and all at once. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), temporary = 0;
    CUgraph graph = NULL;
    CUgraphNode root = NULL;
    CUgraphExec exec = NULL;
    size_t count = 1;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    FILL(stream, x, 2);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphGetRootNodes(graph, &root, &count));
    CU(cuGraphDestroyNode(root));
    CU(cuGraphDestroy(graph));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuMemAllocAsync(&temporary, FLOATS * sizeof(float), stream));
    COPY(stream, temporary, x);
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    count = 1;
    CU(cuGraphGetRootNodes(graph, &root, &count));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphNodeSetEnabled(exec, root, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 0) == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
