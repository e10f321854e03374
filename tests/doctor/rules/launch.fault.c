// SPDX-License-Identifier: Apache-2.0
// launch.fault
//
// A kernel of a replay went wrong: it used an address that is nobody's
// (CUDA_ERROR_ILLEGAL_ADDRESS) or stopped (CUDA_ERROR_LAUNCH_FAILED). The error comes
// with a later call, and the context is of no use from then on; the graph only carried
// the kernel. Run the kernel under compute-sanitizer, or look at the operands that are
// named.
#include "broken.h"

/* The address of the output is none. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL, fine = NULL;
    CUgraphExec exec = NULL, other = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 5);
    CU(cuStreamEndCapture(stream, &fine));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, x, 5);
    FILL(stream, (CUdeviceptr)0x1000, 5);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&other, fine, 0));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(other, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream)); /* <-- first */
}

/* By hand, a kernel that stops itself; another thread finds out by a copy. */
static void read_result(void *user)
{
    float value = 0;
    CU(cuMemcpyDtoH(&value, *(CUdeviceptr *)user, sizeof(value))); /* <-- second */
}

static void second(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    CUDA_KERNEL_NODE_PARAMS params = {.func = trap,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 32,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = (void *[]){&(unsigned){1}}};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    usleep(100000);
    in_thread(read_result, &x);
}

/* A graph that is not ready yet when it is asked. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    SPIN(stream, 2000);
    FILL(stream, x, 5);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
        usleep(100);
    EXPECT(float_at(x, 1) == 5);
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

BROKEN(first, second, near)
