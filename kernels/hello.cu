// SPDX-License-Identifier: Apache-2.0
/* Small kernels for examples/hello, fork, embed, loop and dispatch. */
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

/* The sum of x, in thread 0. A block of 128. */
__device__ __forceinline__ float sum_of(const float *x, u32 n, float part[4])
{
    float sum = 0;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i];
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = sum;
    __syncthreads();
    return part[0] + part[1] + part[2] + part[3];
}

/* *out = the sum of x. One block of 128. */
KERNEL total(float *out, const float *x, u32 n)
{
    __shared__ float part[4];
    const float sum = sum_of(x, n, part);
    if (threadIdx.x == 0)
        *out = sum;
}

/* The same, and *more = whether it is above a limit. */
KERNEL total_above(float *out, u32 *more, const float *x, float limit, u32 n)
{
    __shared__ float part[4];
    const float sum = sum_of(x, n, part);
    if (threadIdx.x == 0) {
        *out = sum;
        *more = sum > limit;
    }
}

/* What a request of examples/dispatch asks for: the device copies it to where these read. */
typedef struct ask {
    float *out, *x;
    u64 n;
    float value;
} ask;

/* x = value. Any number of blocks. */
KERNEL asked_fill(const ask *from)
{
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < from->n; i += gridDim.x * blockDim.x)
        from->x[i] = from->value;
}

/* *out = the sum of x. One block of 128. */
KERNEL asked_total(const ask *from)
{
    __shared__ float part[4];
    const float sum = sum_of(from->x, (u32)from->n, part);
    if (threadIdx.x == 0)
        *from->out = sum;
}
