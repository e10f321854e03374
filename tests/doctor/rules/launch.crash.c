// SPDX-License-Identifier: Apache-2.0
// launch.crash
//
// The driver copies a kernel's arguments from the addresses that it is given, one for
// each parameter, and checks none of them: an address that is missing or wrong ends the
// process inside the call, which then has no result. Pass the address of a living
// variable for each parameter, also in the parameters of a kernel node.
#include "broken.h"

/* The last argument is passed itself, not its address. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    float value = 1;
    void *arguments[3] = {&x, &value, (void *)(uintptr_t)FLOATS};
    /* <-- first */
    CU(cuLaunchKernel(fill, FLOATS / 128, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
}

/* The addresses of a node's arguments are read when the node is added. */
static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUdeviceptr x = new_floats();
    void *arguments[3] = {&x, (void *)16, (void *)32};
    const CUDA_KERNEL_NODE_PARAMS params = floats_kernel(fill, arguments);
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &params)); /* <-- second */
}

static void *wait_for_it(void *stream)
{
    CU(cuCtxSetCurrent(context));
    CU(cuStreamSynchronize(stream));
    return NULL;
}

/* The program leaves while a thread still waits for a kernel: nothing crashes. */
static void near(void)
{
    CUstream stream = new_stream();
    pthread_t thread;
    SPIN(stream, 300000);
    EXPECT(pthread_create(&thread, NULL, wait_for_it, stream) == 0);
    usleep(50000);
    fflush(stdout);
    _exit(broken_failures > 0);
}

BROKEN(first, second, near)
