// SPDX-License-Identifier: Apache-2.0
// launch.missing-upload
//
// The first launch of an executable takes it to the device and maps its memory, which
// takes longer the larger it is. Where the first launch must be as quick as all others,
// call cuGraphUpload() when the program starts.
// timing: the first launch beside later ones
#include "broken.h"

enum { LAUNCHES = 12 };

static CUgraphExec allocate(CUstream stream, size_t bytes)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr temporary = 0;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&temporary, bytes, stream));
    CU(cuMemsetD8Async(temporary, 0, 1024, stream));
    CU(cuMemFreeAsync(temporary, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    return exec;
}

/* A large workspace. */
static void first(void)
{
    CUstream stream = new_stream();
    CUgraphExec exec = allocate(stream, 512 << 20);
    for (int i = 0; i < LAUNCHES; i++) {
        CU(cuGraphLaunch(exec, stream)); /* <-- first */
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(exec));
}

/* By hand; two allocations. */
static void second(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphNode nodes[2] = {NULL, NULL}, release = NULL;
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CUDA_MEM_ALLOC_NODE_PARAMS wanted = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 300 << 20};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&nodes[0], graph, NULL, 0, &wanted));
    const CUdeviceptr one = wanted.dptr;
    CU(cuGraphAddMemAllocNode(&nodes[1], graph, &nodes[0], 1, &wanted));
    CU(cuGraphAddMemFreeNode(&release, graph, &nodes[1], 1, one));
    CU(cuGraphAddMemFreeNode(&release, graph, &nodes[1], 1, wanted.dptr));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    for (int i = 0; i < LAUNCHES; i++)
        CU(cuGraphLaunch(exec, stream)); /* <-- second */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Uploaded before, by the call and by the flag; and a graph that is launched once. */
static void near(void)
{
    CUstream stream = new_stream();
    CUgraph graph = NULL;
    CUgraphExec exec = allocate(stream, 512 << 20);
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hUploadStream = stream};
    CU(cuGraphUpload(exec, stream));
    for (int i = 0; i < LAUNCHES; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 500; i++)
        SPIN(stream, 0);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    for (int i = 0; i < LAUNCHES; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    exec = allocate(stream, 512 << 20);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
}

BROKEN(first, second, near)
