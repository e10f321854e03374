// SPDX-License-Identifier: Apache-2.0
/* The patterns of today's GPU code, a kernel each: bench/patterns.c times them against the
 * best C for the same work. */
#include "math.cuh"

struct alignas(16) f4 {
    float x, y, z, w;
};

__device__ __forceinline__ float dot4(f4 a, f4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__device__ __forceinline__ float shfl_up(float x, u32 delta)
{
    return __nvvm_shfl_sync_up_f32(ALL_LANES, x, (int)delta, 0);
}

/* ---- a warp a row ---- */

/* Block (32, 8): a row a threadIdx.y. */
KERNEL rmsnorm_warp4(f4 *out, const f4 *in, const f4 *weight, u32 width4)
{
    const u64 row = (u64)(blockIdx.x * blockDim.y + threadIdx.y) * width4;
    float sum = 0;
    for (u32 i = threadIdx.x; i < width4; i += WARP) {
        const f4 v = in[row + i];
        sum += dot4(v, v);
    }
    const float scale = rsqrtf(warp_sum(sum) / (float)(width4 * 4) + 1e-5f);
    for (u32 i = threadIdx.x; i < width4; i += WARP) {
        const f4 v = in[row + i], w = weight[i];
        out[row + i] = {v.x * scale * w.x, v.y * scale * w.y, v.z * scale * w.z,
                        v.w * scale * w.w};
    }
}

/* y = W x, W by rows; blocks of 256. */
KERNEL gemv_warp4(float *y, const f4 *weight, const f4 *x, u32 rows, u32 columns4)
{
    const u32 lane = threadIdx.x % WARP;
    const u32 row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (row >= rows)
        return;
    float sum = 0;
    for (u32 i = lane; i < columns4; i += WARP)
        sum += dot4(weight[(u64)row * columns4 + i], x[i]);
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

KERNEL gemv_warp(float *y, const float *weight, const float *x, u32 rows, u32 columns)
{
    const u32 lane = threadIdx.x % WARP;
    const u32 row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (row >= rows)
        return;
    float sum = 0;
    for (u32 i = lane; i < columns; i += WARP)
        sum += weight[(u64)row * columns + i] * x[i];
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

/* Scores of one query with `keys` keys of 128: a warp goes through its share. */
KERNEL scores(float *out, const f4 *query, const f4 *key, u32 keys)
{
    const u32 lane = threadIdx.x % WARP, warps = gridDim.x * (blockDim.x / WARP);
    const f4 q = query[lane];
    for (u32 k = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP; k < keys;
         k += warps) {
        const float sum = warp_sum(dot4(q, key[(u64)k * 32 + lane]));
        if (lane == 0)
            out[k] = sum * 0.088388f;
    }
}

/* ---- scans ---- */

__device__ __forceinline__ float warp_scan(float x, u32 lane)
{
#pragma unroll
    for (u32 step = 1; step < WARP; step *= 2) {
        const float y = shfl_up(x, step);
        if (lane >= step)
            x += y;
    }
    return x;
}

/* Sums up to each element, a block of 256 elements by itself. */
__device__ __forceinline__ float block_scan(float x, float *part)
{
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    x = warp_scan(x, lane);
    if (lane == WARP - 1)
        part[warp] = x;
    __syncthreads();
    if (warp == 0)
        part[lane] = warp_scan(lane < blockDim.x / WARP ? part[lane] : 0.0f, lane);
    __syncthreads();
    return warp > 0 ? x + part[warp - 1] : x;
}

KERNEL scan_blocks(float *out, const float *in, u32 n)
{
    __shared__ float part[WARP];
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = block_scan(i < n ? in[i] : 0.0f, part);
}

/* One pass over all of it: a block publishes its sum, then looks back over those before
 * it until one knows the sum up to itself. state: a word a block, 0 at first: the value's
 * bits, and above them 1 (of the block alone) or 2 (up to its end). */
KERNEL scan_lookback(u32 *out, const u32 *in, volatile u64 *state, u32 n)
{
    __shared__ u32 part[WARP], before;
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    const u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    u32 x = i < n ? in[i] : 0;
#pragma unroll
    for (u32 step = 1; step < WARP; step *= 2) {
        const u32 y = (u32)__nvvm_shfl_sync_up_i32(ALL_LANES, (int)x, (int)step, 0);
        if (lane >= step)
            x += y;
    }
    if (lane == WARP - 1)
        part[warp] = x;
    __syncthreads();
    u32 sums = 0, own = 0;
    for (u32 w = 0; w < blockDim.x / WARP; w++) {
        if (w == warp)
            own = sums;
        sums += part[w];
    }
    x += own;
    if (threadIdx.x == 0) {
        u32 sum = 0;
        if (blockIdx.x > 0) {
            state[blockIdx.x] = (u64)1 << 32 | sums;
            for (u32 b = blockIdx.x; b-- > 0;) {
                u64 seen;
                do
                    seen = state[b];
                while (seen >> 32 == 0);
                sum += (u32)seen;
                if (seen >> 32 == 2)
                    break;
            }
        }
        state[blockIdx.x] = (u64)2 << 32 | (u32)(sum + sums);
        before = sum;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + x;
}

/* ---- tiles with a halo ---- */

/* Five points; block (32, 8), width and height multiples of it, edges repeated. */
KERNEL stencil_tile(float *out, const float *in, u32 width, u32 height)
{
    __shared__ float tile[10][34];
    const u32 tx = threadIdx.x, ty = threadIdx.y;
    const u32 x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    const u32 up = y > 0 ? y - 1 : 0, down = y + 1 < height ? y + 1 : y;
    tile[ty + 1][tx + 1] = in[(u64)y * width + x];
    if (ty == 0)
        tile[0][tx + 1] = in[(u64)up * width + x];
    if (ty == 7)
        tile[9][tx + 1] = in[(u64)down * width + x];
    if (tx == 0)
        tile[ty + 1][0] = in[(u64)y * width + (x > 0 ? x - 1 : 0)];
    if (tx == 31)
        tile[ty + 1][33] = in[(u64)y * width + (x + 1 < width ? x + 1 : x)];
    __syncthreads();
    out[(u64)y * width + x] =
        0.5f * tile[ty + 1][tx + 1] + 0.125f * (tile[ty][tx + 1] + tile[ty + 2][tx + 1] +
                                                tile[ty + 1][tx] + tile[ty + 1][tx + 2]);
}

/* 5 x 5 weights; block (16, 16), the tile of 20 x 20 filled by all threads in a row. */
KERNEL convolve_tile(float *out, const float *in, const float *weight, u32 width,
                     u32 height)
{
    __shared__ float tile[20][20];
    const u32 x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    for (u32 i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) {
        const int y = (int)(y0 + i / 20) - 2, x = (int)(x0 + i % 20) - 2;
        const bool is_in = y >= 0 && y < (int)height && x >= 0 && x < (int)width;
        tile[i / 20][i % 20] = is_in ? in[(u64)y * width + (u64)x] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (u32 j = 0; j < 5; j++)
#pragma unroll
        for (u32 i = 0; i < 5; i++)
            sum += weight[j * 5 + i] * tile[threadIdx.y + j][threadIdx.x + i];
    out[(u64)(y0 + threadIdx.y) * width + x0 + threadIdx.x] = sum;
}

/* ---- numbers of 16 bits ---- */

__device__ __forceinline__ u32 fma_half2(u32 a, u32 b, u32 c)
{
    u32 d;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

__device__ __forceinline__ u32 fma_bf162(u32 a, u32 b, u32 c)
{
    u32 d;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* y = ((a x + y) x + a) x + y, two at once. */
KERNEL half2_chain(u32 *y, const u32 *x, u32 a, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const u32 v = x[i], w = y[i];
    y[i] = fma_half2(fma_half2(fma_half2(a, v, w), v, a), v, w);
}

KERNEL bf162_chain(u32 *y, const u32 *x, u32 a, u32 n)
{
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const u32 v = x[i], w = y[i];
    y[i] = fma_bf162(fma_bf162(fma_bf162(a, v, w), v, a), v, w);
}

/* ---- whole numbers ---- */

KERNEL histogram(u32 *out, const u32 *in, u32 words)
{
    __shared__ u32 bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
         i += gridDim.x * blockDim.x) {
        const u32 v = in[i];
        atomicAdd((int *)&bins[v & 255], 1);
        atomicAdd((int *)&bins[v >> 8 & 255], 1);
        atomicAdd((int *)&bins[v >> 16 & 255], 1);
        atomicAdd((int *)&bins[v >> 24], 1);
    }
    __syncthreads();
    if (bins[threadIdx.x] > 0)
        atomicAdd((int *)&out[threadIdx.x], (int)bins[threadIdx.x]);
}

/* y = W x of signed bytes, four a word, W by columns of words: a thread a row. */
KERNEL gemv_dp4a(int *y, const int *weight, const int *x, u32 rows, u32 words)
{
    const u32 r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    int sum = 0;
    for (u32 k = 0; k < words; k++)
        asm("dp4a.s32.s32 %0, %1, %2, %0;"
            : "+r"(sum)
            : "r"(weight[(u64)k * rows + r]), "r"(x[k]));
    y[r] = sum;
}

/* Each 512 keys in order, by a bitonic network; blocks of 256. */
KERNEL sort_network(u32 *keys)
{
    __shared__ u32 s[512];
    u32 *mine = keys + (u64)blockIdx.x * 512;
    const u32 t = threadIdx.x;
    s[t] = mine[t];
    s[t + 256] = mine[t + 256];
    for (u32 size = 2; size <= 512; size *= 2)
        for (u32 step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            const u32 i = 2 * t - (t & (step - 1)), j = i + step;
            const u32 a = s[i], b = s[j];
            const bool up = (i & size) == 0;
            s[i] = (a < b) == up ? a : b;
            s[j] = (a < b) == up ? b : a;
        }
    __syncthreads();
    mine[t] = s[t];
    mine[t + 256] = s[t + 256];
}
