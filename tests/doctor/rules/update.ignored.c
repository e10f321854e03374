// SPDX-License-Identifier: Apache-2.0
// update.ignored
//
// An update that is refused changes nothing: the executable goes on with what it held
// before, and launches of it succeed. A program that does not look at the result computes
// with old addresses and sizes from then on. Look at the result; on failure destroy the
// executable and instantiate the new graph.
#include "broken.h"

static CUgraph capture_fill(CUstream stream, CUdeviceptr out, int times)
{
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < times; i++)
        FILL(stream, out, 5);
    CU(cuStreamEndCapture(stream, &graph));
    return graph;
}

/* The new output is never written. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph graph = capture_fill(stream, x, 1), newer = capture_fill(stream, y, 2);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(y, 0) == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* A setter asks for more threads than a block has, in another thread. */
struct shared {
    CUgraphExec exec;
    CUgraphNode node;
    CUdeviceptr out;
};

static void widen(void *user)
{
    struct shared *with = user;
    CUDA_KERNEL_NODE_PARAMS params = {
        .func = fill,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 4096,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = (void *[]){&with->out, &(float){9}, &(unsigned){FLOATS}}};
    CU(cuGraphExecKernelNodeSetParams(with->exec, with->node, &params)); /* <-- second */
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = capture_fill(stream, x, 1);
    struct shared with = {.out = x};
    size_t count = 1;
    CU(cuGraphGetNodes(graph, &with.node, &count));
    CU(cuGraphInstantiateWithFlags(&with.exec, graph, 0));
    in_thread(widen, &with);
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(with.exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 0) == 5);
    CU(cuGraphExecDestroy(with.exec));
    CU(cuGraphDestroy(graph));
}

/* Each graph that no executable of the cache takes gets one of its own; the others stay
 * and are launched again, with what they held. And a setter that is called again,
 * rightly.
 */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec cache[2] = {NULL, NULL};
    CUgraphExecUpdateResultInfo info;
    CUgraph graph = capture_fill(stream, x, 1);
    CU(cuGraphInstantiateWithFlags(&cache[0], graph, 0));
    CU(cuGraphDestroy(graph));
    for (int turn = 0; turn < 3; turn++) {
        CUgraph newer = capture_fill(stream, y, 2);
        if (cuGraphExecUpdate(cache[0], newer, &info) != CUDA_SUCCESS) {
            if (cache[1] == NULL)
                CU(cuGraphInstantiateWithFlags(&cache[1], newer, 0));
            else
                CU(cuGraphExecUpdate(cache[1], newer, &info));
            CU(cuGraphLaunch(cache[1], stream));
        }
        CU(cuGraphDestroy(newer));
        CU(cuGraphLaunch(cache[0], stream));
        CU(cuStreamSynchronize(stream));
    }
    CU(cuGraphExecDestroy(cache[0]));
    CU(cuGraphExecDestroy(cache[1]));
    CUgraphNode node = NULL;
    size_t count = 1;
    CUDA_KERNEL_NODE_PARAMS params;
    graph = capture_fill(stream, x, 1);
    CU(cuGraphGetNodes(graph, &node, &count));
    CU(cuGraphInstantiateWithFlags(&cache[0], graph, 0));
    CU(cuGraphKernelNodeGetParams(node, &params));
    params.blockDimX = 2048;
    if (cuGraphExecKernelNodeSetParams(cache[0], node, &params) != CUDA_SUCCESS) {
        params.blockDimX = 128;
        CU(cuGraphExecKernelNodeSetParams(cache[0], node, &params));
    }
    CU(cuGraphLaunch(cache[0], stream));
    CU(cuStreamSynchronize(stream));
    CU(cuGraphExecDestroy(cache[0]));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
