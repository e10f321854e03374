// SPDX-License-Identifier: Apache-2.0
/* Three small kernels for examples/hello, fork and embed. */
#include "math.cuh"

KERNEL fill(float *x, float value, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

/* y = y * scale + x */
KERNEL scale_add(float *y, const float *x, float scale, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = y[i] * scale + x[i];
}

/* *out = the sum of x. One block of 128. */
KERNEL total(float *out, const float *x, u32 n)
{
    __shared__ float part[4];
    float sum = 0;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i];
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = part[0] + part[1] + part[2] + part[3];
}
