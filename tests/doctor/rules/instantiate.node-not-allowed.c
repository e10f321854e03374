// SPDX-License-Identifier: Apache-2.0
// instantiate.node-not-allowed
//
// A graph for launches from the device, and the body of a conditional node, may hold
// kernels, fills, copies between memory of devices and pinned memory, and child graphs of
// those. A host function, an event, an allocation makes the instantiation fail with
// CUDA_ERROR_INVALID_VALUE (result 3). Leave such work to a graph around it; NCCL adds
// events unless NCCL_GRAPH_MIXING_SUPPORT=0.
#include "broken.h"

static int calls;

static void count_call(void *user)
{
    (void)user;
    calls++;
}

/* A captured call of a host function. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuLaunchHostFunc(stream, count_call, NULL));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, /* <-- first */
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    EXPECT(exec == NULL);
    CU(cuGraphDestroy(graph));
}

/* An event, by hand. */
static void second(void)
{
    CUevent event = new_event();
    CUgraph graph = NULL;
    CUgraphNode set = NULL, record = NULL;
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemsetNode(
        &set, graph, NULL, 0,
        &(CUDA_MEMSET_NODE_PARAMS){
            .dst = new_floats(), .elementSize = 4, .width = FLOATS, .height = 1},
        context));
    CU(cuGraphAddEventRecordNode(&record, graph, &set, 1, event));
    CU(cuGraphInstantiateWithParams(&exec, graph, &params)); /* <-- second */
    EXPECT(params.hErrNode_out == record);
    CU(cuGraphDestroy(graph));
}

/* Kernels alone for the device; the host function for the host. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph inner = NULL, outer = NULL;
    CUgraphExec device = NULL, host = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuStreamEndCapture(stream, &inner));
    CU(cuGraphInstantiateWithFlags(&device, inner,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 2);
    CU(cuLaunchHostFunc(stream, count_call, NULL));
    CU(cuStreamEndCapture(stream, &outer));
    CU(cuGraphInstantiateWithFlags(&host, outer, 0));
    CU(cuGraphUpload(device, stream));
    CU(cuGraphLaunch(device, stream));
    CU(cuGraphLaunch(host, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(calls == 1 && float_at(x, 0) == 2);
    CU(cuGraphExecDestroy(device));
    CU(cuGraphExecDestroy(host));
    CU(cuGraphDestroy(inner));
    CU(cuGraphDestroy(outer));
}

BROKEN(first, second, near)
