// SPDX-License-Identifier: Apache-2.0
// perf.launch-bound
//
// The same short kernels are launched one by one in every step, and the host hardly ever
// waits for the device: the device waits for the host. Capture the step and launch it as
// one graph.
// timing: host waits beside launches
#include "broken.h"

enum { STEPS = 30, KERNELS = 20 };

/* A step of one kernel again and again. */
static void first(void)
{
    CUstream stream = new_stream();
    const CUdeviceptr in = new_floats(), out = new_floats();
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < KERNELS; k++)
            LAUNCH(copy, 1, stream, &(CUdeviceptr){out}, /* <-- first */
                   &(CUdeviceptr){in}, &(unsigned){1});
        usleep(1000); /* what the host does for the next step */
    }
    CU(cuStreamSynchronize(stream));
}

/* Two kernels in turn on two streams, by the newer call, in a thread. */
static void run(void *user)
{
    CUstream *streams = user;
    const CUdeviceptr in = new_floats(), out = new_floats();
    for (int i = 0; i < STEPS * KERNELS; i++) {
        const CUlaunchConfig config = {.gridDimX = 1,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 32,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .hStream = streams[i % 2]};
        void *params[] = {&(CUdeviceptr){out}, &(CUdeviceptr){in}, &(unsigned){1}};
        CU(cuLaunchKernelEx(&config, copy, params, NULL)); /* <-- second */
        if (i % KERNELS == 0)
            usleep(1000);
    }
    CU(cuCtxSynchronize());
}

static void second(void)
{
    CUstream streams[2] = {new_stream(), new_stream()};
    in_thread(run, streams);
}

/* As many launches of long kernels, which the host waits for: the device is busy. */
static void near(void)
{
    CUstream stream = new_stream();
    for (int i = 0; i < 220; i++) {
        SPIN(stream, 300);
        CU(cuStreamSynchronize(stream));
    }
}

BROKEN(first, second, near)
