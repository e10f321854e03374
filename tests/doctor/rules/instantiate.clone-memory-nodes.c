// SPDX-License-Identifier: Apache-2.0
// instantiate.clone-memory-nodes
//
// Addresses of a graph's allocations are given when their nodes are added, so a graph
// with alloc or free nodes cannot be cloned: CUDA_ERROR_NOT_SUPPORTED. Capture or build
// the work a second time, or take its memory from outside the graph.
#include "broken.h"

/* A library that allocates its workspace in the capture. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr workspace = 0;
    CUgraph graph = NULL, copied = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&workspace, FLOATS * sizeof(float), stream));
    FILL(stream, workspace, 1);
    CU(cuMemFreeAsync(workspace, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphClone(&copied, graph)); /* <-- first */
    EXPECT(copied == NULL);
    CU(cuGraphDestroy(graph));
}

/* By cuGraphAddNode(), cloned in another thread. */
static void duplicate(void *user)
{
    CUgraph copied = NULL;
    CU(cuGraphClone(&copied, *(CUgraph *)user)); /* <-- second */
    EXPECT(copied == NULL);
}

static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode alloc = NULL, release = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.alloc.bytesize = 1 << 20;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddNode(&alloc, graph, NULL, NULL, 0, &params));
    CU(cuGraphAddMemFreeNode(&release, graph, &alloc, 1, params.alloc.dptr));
    in_thread(duplicate, &graph);
    CU(cuGraphDestroy(graph));
}

/* The memory is the program's own: the clone is as good as the graph. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr workspace = 0, out = new_floats();
    CUgraph graph = NULL, copied = NULL;
    CUgraphExec exec = NULL;
    CU(cuMemAllocAsync(&workspace, FLOATS * sizeof(float), stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, workspace, 1);
    COPY(stream, out, workspace);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphClone(&copied, graph));
    CU(cuGraphInstantiateWithFlags(&exec, copied, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(out, 1) == 1);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(copied));
    CU(cuGraphDestroy(graph));
    CU(cuMemFreeAsync(workspace, stream));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)
