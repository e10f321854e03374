// SPDX-License-Identifier: Apache-2.0
// launch.dead-operand
//
// An executable keeps addresses and handles, not what they stand for: pinned memory that
// its copies use must not be freed, nor an event destroyed that its nodes record or wait
// for, nor a module unloaded whose kernels it runs, while it will still be launched. The
// driver does not check; launches crash or copy from memory that is somebody else's. Keep
// them as long as the executable (cuGraphRetainUserObject can do it).
#include "broken.h"

/* Staging memory goes before the last launch. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    float *host = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuMemAllocHost((void **)&host, FLOATS * sizeof(float)));
    host[0] = 5;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyHtoDAsync(x, host, FLOATS * sizeof(float), stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuMemFreeHost(host));
    CU(cuGraphLaunch(exec, stream)); /* <-- first */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* The event of a node that was added by hand, in a child graph. */
static void second(void)
{
    CUstream stream = new_stream();
    CUevent event = new_event();
    CUgraph inner = NULL, graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CU(cuGraphCreate(&inner, 0));
    CU(cuGraphAddEventRecordNode(&node, inner, NULL, 0, event));
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuEventDestroy(event));
    CU(cuGraphLaunch(exec, stream)); /* <-- second */
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(inner));
}

/* The executable goes first; and the event was not recorded in the graph but only ordered
 * the capture. */
static void near(void)
{
    CUstream stream = new_stream(), side = new_stream();
    CUdeviceptr x = new_floats();
    float *host = NULL;
    CUevent event = new_event();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuMemAllocHost((void **)&host, FLOATS * sizeof(float)));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fork_to(stream, side, event);
    CU(cuMemcpyHtoDAsync(x, host, FLOATS * sizeof(float), side));
    join_from(stream, side, event);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuEventDestroy(event));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(exec));
    CU(cuMemFreeHost(host));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
