// SPDX-License-Identifier: Apache-2.0
// update.unsupported
//
// Some changes no update makes: a kernel of another context (result 7), another number or
// kind of operations in a batch, parameters of alloc and free nodes by a setter
// (CUDA_ERROR_NOT_SUPPORTED), kernels that launch kernels. Instantiate the new graph.
#include "broken.h"

/* The kernel comes from a module of another context. */
static void first(void)
{
    CUdeviceptr x = new_floats();
    CUstream stream = new_stream();
    CUcontext other = NULL;
    CUdevice device;
    CUmodule loaded = NULL;
    CUfunction others_fill = NULL;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuDeviceGet(&device, 0));
    CU(cuCtxCreate(&other, NULL, 0, device));
    CU(cuModuleLoadData(&loaded, broken_ptx));
    CU(cuModuleGetFunction(&others_fill, loaded, "fill"));
    CUgraph newer = NULL;
    CU(cuGraphCreate(&newer, 0));
    CUDA_KERNEL_NODE_PARAMS params = {
        .func = others_fill,
        .gridDimX = FLOATS / 128,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 128,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = (void *[]){&x, &(float){2}, &(unsigned){FLOATS}}};
    CU(cuGraphAddKernelNode(&node, newer, NULL, 0, &params));
    CU(cuCtxSetCurrent(context));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- first */
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* One write of a word, then two. */
static CUgraph build_batch(CUdeviceptr words, unsigned count)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUstreamBatchMemOpParams writes[2] = {0};
    for (unsigned i = 0; i < 2; i++) {
        writes[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        writes[i].writeValue.address = words + 4 * i;
        writes[i].writeValue.value = i;
    }
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {
        .ctx = context, .count = count, .paramArray = writes};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    return graph;
}

static void second(void)
{
    CUdeviceptr x = new_floats();
    CUgraph graph = build_batch(x, 1), newer = build_batch(x, 2);
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info)); /* <-- second */
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

/* Another function of the same context. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUmodule loaded = NULL;
    CUfunction another = NULL;
    CUgraph graph = NULL, newer = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CU(cuModuleLoadData(&loaded, broken_ptx));
    CU(cuModuleGetFunction(&another, loaded, "fill"));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 1);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    LAUNCH(another, 1, stream, &x, &(float){4}, &(unsigned){128});
    CU(cuStreamEndCapture(stream, &newer));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecUpdate(exec, newer, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 127) == 4 && float_at(x, 128) == 0);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(newer));
}

BROKEN(first, second, near)
