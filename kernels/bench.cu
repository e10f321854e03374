// SPDX-License-Identifier: Apache-2.0
/* The kernels that bench/ times against the same loops in C, and what tests launch when
 * any kernel will do. */
#include "math.cuh"

KERNEL empty() {}

KERNEL saxpy(float *y, const float *x, float a, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

KERNEL copy(float *out, const float *in, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

/* out[x][y] = in[y][x]; in has `height` rows of `width`. Block (32, 8), tiles of 32 x 32
 * through shared memory; the padding keeps columns in different banks. */
KERNEL transpose(float *out, const float *in, u32 width, u32 height)
{
    __shared__ float tile[32][33];
    u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (u32 j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(u64)(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (u32 j = 0; j < 32; j += 8)
        if (x < height && y + j < width)
            out[(u64)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* y = W x with W by columns, [columns][rows]: a thread a row, every load coalesced. */
KERNEL gemv(float *y, const float *weight, const float *x, u32 rows, u32 columns)
{
    const u32 r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (u32 k = 0; k < columns; k++)
        sum += weight[(u64)k * rows + r] * x[k];
    y[r] = sum;
}

/* out[block] = the sum of the block's share of `in`: a grid-stride loop, shuffles, then
 * the first warp over the warps' sums. Blocks of up to 1,024 threads, whole warps. */
KERNEL reduce(float *out, const float *in, u32 n)
{
    __shared__ float part[WARP];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    float sum = 0;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        sum += in[i];
    for (u32 step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(ALL_LANES, sum, step);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    if (threadIdx.x < WARP) {
        sum = lane < blockDim.x / WARP ? part[lane] : 0.0f;
        for (u32 step = 16; step > 0; step >>= 1)
            sum += __shfl_down_sync(ALL_LANES, sum, step);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}

/* Softmax of each row of `width`. A block a row, up to 1,024 threads, whole warps. */
KERNEL softmax_rows(float *out, const float *in, u32 width)
{
    __shared__ float part[WARP];
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const float *from = in + (u64)blockIdx.x * width;
    float *to = out + (u64)blockIdx.x * width;
    float top = -3.4e38f;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        top = fmaxf(top, from[i]);
    top = warp_max(top);
    if (lane == 0)
        part[warp] = top;
    __syncthreads();
    top = warp_max(part[lane < blockDim.x / WARP ? lane : 0]);
    __syncthreads();
    float sum = 0;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x) {
        const float e = __expf(from[i] - top);
        to[i] = e;
        sum += e;
    }
    sum = warp_sum(sum);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    sum = warp_sum(lane < blockDim.x / WARP ? part[lane] : 0.0f);
    const float scale = 1.0f / sum;
    for (u32 i = threadIdx.x; i < width; i += blockDim.x)
        to[i] *= scale;
}

/* c = a b, square matrices of n, a multiple of 16. Block (16, 16). */
KERNEL matmul_tiled(float *c, const float *a, const float *b, u32 n)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    const u32 x = threadIdx.x, y = threadIdx.y;
    const u32 row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (u32 t = 0; t < n; t += 16) {
        tile_a[y][x] = a[(u64)row * n + t + x];
        tile_b[y][x] = b[(u64)(t + y) * n + column];
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < 16; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    c[(u64)row * n + column] = sum;
}
