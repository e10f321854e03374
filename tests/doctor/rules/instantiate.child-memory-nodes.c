// SPDX-License-Identifier: Apache-2.0
// instantiate.child-memory-nodes
//
// A child graph is a copy of the graph it is made from, and graphs with alloc or free
// nodes cannot be copied: CUDA_ERROR_NOT_SUPPORTED. Since CUDA 12.9 such a graph can be
// moved into the node (CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE); before, give libraries a
// workspace of your own, so that none allocates in the capture.
#include "broken.h"

static CUgraph capture_workspace(CUstream stream, CUdeviceptr out)
{
    CUgraph graph = NULL;
    CUdeviceptr workspace = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemAllocAsync(&workspace, FLOATS * sizeof(float), stream));
    FILL(stream, workspace, 3);
    COPY(stream, out, workspace);
    CU(cuMemFreeAsync(workspace, stream));
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* A captured library call becomes a step of a larger graph. */
static void first(void)
{
    CUgraph child = capture_workspace(new_stream(), new_floats()), graph = NULL;
    CUgraphNode node = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child)); /* <-- first */
    EXPECT(node == NULL);
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(child));
}

/* By hand, and with the newer call. */
static void second(void)
{
    CUgraph child = NULL, graph = NULL;
    CUgraphNode alloc = NULL, release = NULL, node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4096};
    CU(cuGraphCreate(&child, 0));
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&alloc, child, NULL, 0, &wanted));
    CU(cuGraphAddMemFreeNode(&release, child, &alloc, 1, wanted.dptr));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    CU(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params)); /* <-- second */
    EXPECT(node == NULL);
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(child));
}

/* Moved; and a child without memory nodes, by copy. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr out = new_floats();
    CUgraph child = capture_workspace(stream, out), plain = NULL, graph = NULL;
    CUgraphNode moved = NULL, copied = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SCALE_ADD(stream, out, out, 1);
    CU(cuStreamEndCapture(stream, &plain));
    CU(cuGraphCreate(&graph, 0));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CU(cuGraphAddNode(&moved, graph, NULL, NULL, 0, &params));
    CU(cuGraphAddChildGraphNode(&copied, graph, &moved, 1, plain));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(out, 77) == 6);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(plain));
}

BROKEN(first, second, near)
