// SPDX-License-Identifier: Apache-2.0
/* Rows of a model: norms, divergences, gates, a product; a warp or a block a row. */
#include <cuda_bf16.h>
#define KERNEL extern "C" __global__ void

__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}
__device__ float warp_max(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, step));
    return x;
}

/* The sum over a block of 256, in every thread. */
__device__ float block_sum(float x, float *part)
{
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum += part[i];
    __syncthreads();
    return sum;
}

/* sum = x + residual, y = its RMSNorm; a block of 256 a row, by fours. */
KERNEL rmsnorm_residual(float4 *y, float4 *sum, const float4 *x, const float4 *residual,
                        const float4 *weight, int quads)
{
    __shared__ float part[8];
    size_t row = (size_t)blockIdx.x * quads;
    float squares = 0;
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 a = x[row + i], b = residual[row + i];
        a.x += b.x;
        a.y += b.y;
        a.z += b.z;
        a.w += b.w;
        sum[row + i] = a;
        squares += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
    }
    float scale = rsqrtf(block_sum(squares, part) / (4 * quads) + 1e-5f);
    for (int i = threadIdx.x; i < quads; i += blockDim.x) {
        float4 a = sum[row + i], w = weight[i];
        y[row + i] = make_float4(a.x * scale * w.x, a.y * scale * w.y, a.z * scale * w.z,
                                 a.w * scale * w.w);
    }
}

/* The cosine between rows of a and of b, a warp a row. */
KERNEL cosine_rows(float *out, const float *a, const float *b, int rows, int width)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    float ab = 0, aa = 0, bb = 0;
    for (int i = lane; i < width; i += 32) {
        float x = a[row * width + i], y = b[row * width + i];
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    ab = warp_sum(ab);
    aa = warp_sum(aa);
    bb = warp_sum(bb);
    if (lane == 0)
        out[row] = ab / fmaxf(sqrtf(aa * bb), 1e-8f);
}

/* The divergence of a row of logits from one of probabilities, a warp a row. */
KERNEL divergence_rows(float *out, const float *p, const float *logit, int rows, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    p += (size_t)row * width;
    logit += (size_t)row * width;
    float top = -INFINITY, sum = 0, all = 0;
    for (int i = lane; i < width; i += 32)
        top = fmaxf(top, logit[i]);
    top = warp_max(top);
    for (int i = lane; i < width; i += 32)
        sum += __expf(logit[i] - top);
    float shift = top + __logf(warp_sum(sum));
    for (int i = lane; i < width; i += 32)
        if (p[i] > 0)
            all += p[i] * (__logf(p[i]) - (logit[i] - shift));
    all = warp_sum(all);
    if (lane == 0)
        out[row] = all;
}

/* Normalized over the channels of a group, scaled by channel, SiLU; a block a group. */
KERNEL groupnorm_silu(float *y, const float *x, const float *weight, const float *bias,
                      int channels, int pixels)
{
    __shared__ float part[8];
    int groups = gridDim.x, count = channels * pixels;
    size_t first = ((size_t)blockIdx.y * groups + blockIdx.x) * count;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float v = x[first + i];
        sum += v;
        squares += v * v;
    }
    float mean = block_sum(sum, part) / count;
    float scale = rsqrtf(block_sum(squares, part) / count - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int channel = blockIdx.x * channels + i / pixels;
        float v = (x[first + i] - mean) * scale * weight[channel] + bias[channel];
        y[first + i] = v / (1.0f + __expf(-v));
    }
}

/* y = W x in bfloat16, by eights, a warp a row. */
KERNEL gemv_bf16(float *y, const uint4 *weight, const uint4 *x, int rows, int eights)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = lane; i < eights; i += 32) {
        uint4 a = weight[(size_t)row * eights + i], b = x[i];
        const __nv_bfloat162 *p = (const __nv_bfloat162 *)&a, *q = (const __nv_bfloat162 *)&b;
        for (int k = 0; k < 4; k++) {
            float2 u = __bfloat1622float2(p[k]), v = __bfloat1622float2(q[k]);
            sum += u.x * v.x + u.y * v.y;
        }
    }
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

/* The two best of 64 experts and their shares, a warp a token, two experts a lane. */
KERNEL expert_gate(float *share, unsigned *expert, const float *logit, int tokens)
{
    int token = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (token >= tokens)
        return;
    float a = logit[token * 64 + lane], b = logit[token * 64 + 32 + lane];
    float best[2];
    for (int k = 0; k < 2; k++) {
        float most = fmaxf(a, b);
        int at = a >= b ? lane : lane + 32;
        for (int step = 16; step > 0; step /= 2) {
            float other = __shfl_xor_sync(0xffffffff, most, step);
            int place = __shfl_xor_sync(0xffffffff, at, step);
            if (other > most || (other == most && place < at)) {
                most = other;
                at = place;
            }
        }
        if (at == lane)
            a = -INFINITY;
        if (at == lane + 32)
            b = -INFINITY;
        best[k] = most;
        if (lane == 0)
            expert[token * 2 + k] = at;
    }
    if (lane < 2) {
        float e = __expf(best[1] - best[0]);
        share[token * 2 + lane] = (lane == 0 ? 1.0f : e) / (1.0f + e);
    }
}
