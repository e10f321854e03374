// SPDX-License-Identifier: Apache-2.0
/* What the programs here say: a line a fact, the same on softcuda and on a GPU. */
#pragma once
#include <cstdio>
#include <cuda_runtime.h>

#define OK(call)                                                                         \
    do {                                                                                 \
        const cudaError_t result_ = (call);                                              \
        if (result_ != cudaSuccess)                                                      \
            printf("%s: %s\n", #call, cudaGetErrorName(result_));                        \
    } while (0)
/* A call that is to fail: its code, and that the thread's last error is it. */
#define FAILS(call)                                                                      \
    do {                                                                                 \
        const cudaError_t result_ = (call);                                              \
        printf("%s: %s, last %s\n", #call, cudaGetErrorName(result_),                    \
               cudaGetErrorName(cudaGetLastError()));                                    \
    } while (0)
