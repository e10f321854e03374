// SPDX-License-Identifier: Apache-2.0
/* The second file of parts.cu. */
#include "check.h"

__device__ int factor = 10;
static __device__ int own = 100;

__device__ int twice(int value)
{
    return 2 * value;
}

__global__ void set(int value)
{
    factor = value + own;
}

int second_file()
{
    int value = 0;
    set<<<1, 1>>>(7);
    OK(cudaMemcpyFromSymbol(&value, factor, sizeof(value)));
    return value;
}
