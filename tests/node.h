// SPDX-License-Identifier: Apache-2.0
/* Parameters of nodes that most tests do not care about. */
#ifndef TEST_NODE_H
#define TEST_NODE_H
#include "cuda/abi.h"

/* One thread of a kernel; arguments: as cuLaunchKernel takes them, or NULL. */
static inline CUDA_KERNEL_NODE_PARAMS one_thread(CUfunction function, void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}
#endif
