// SPDX-License-Identifier: Apache-2.0
/* Products of quantized weights, and quantizing. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void

__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}

/* Weights of 8 bits with a scale a row, a warp a row. */
KERNEL gemv_int8(float *y, const char4 *weight, const float *scale, const float4 *x,
                 int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = lane; i < columns / 4; i += 32) {
        char4 w = weight[(size_t)row * (columns / 4) + i];
        float4 v = x[i];
        sum += w.x * v.x + w.y * v.y + w.z * v.z + w.w * v.w;
    }
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum * scale[row];
}

/* Weights of 4 bits, 8 a word, with a half as the scale of each 32; a warp a row. */
KERNEL gemv_int4(float *y, const unsigned *weight, const __half *scale, const float *x,
                 int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = lane; i < columns / 8; i += 32) {
        unsigned w = weight[(size_t)row * (columns / 8) + i];
        float part = 0;
#pragma unroll
        for (int k = 0; k < 8; k++)
            part += (float)((int)(w >> (4 * k) & 15) - 8) * x[i * 8 + k];
        sum += part * __half2float(scale[(size_t)row * (columns / 32) + i / 4]);
    }
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

/* Rows to 8 bits by their largest value, a block of 256 a row. */
KERNEL quantize_rows(signed char *out, float *scale, const float *in, int width)
{
    __shared__ float part[8];
    const float *x = in + (size_t)blockIdx.x * width;
    float top = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        top = fmaxf(top, fabsf(x[i]));
    for (int step = 16; step > 0; step /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, step));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = top;
    __syncthreads();
    top = part[0];
    for (int i = 1; i < 8; i++)
        top = fmaxf(top, part[i]);
    float to = top > 0 ? 127.0f / top : 0.0f;
    if (threadIdx.x == 0)
        scale[blockIdx.x] = top / 127.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(size_t)blockIdx.x * width + i] = (signed char)__float2int_rn(x[i] * to);
}

/* Sums of products of bytes, a warp a row. */
KERNEL dot_dp4a(int *y, const int *weight, const int *x, int rows, int words)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    int sum = 0;
    for (int i = lane; i < words; i += 32)
        sum = __dp4a(weight[row * words + i], x[i], sum);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

/* Words of 8 numbers of 4 bits to halves, a scale each 32. */
KERNEL unpack_int4(__half *out, const unsigned *in, const __half *scale, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    unsigned w = in[i];
    float s = __half2float(scale[i / 4]);
#pragma unroll
    for (int k = 0; k < 8; k++)
        out[i * 8 + k] = __float2half((float)((int)(w >> (4 * k) & 15) - 8) * s);
}

/* y = a x + b of halves, in floats, to bfloat16. */
KERNEL half_to_bf16(__nv_bfloat16 *out, const __half *x, const __half *b, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __float2bfloat16(a * __half2float(x[i]) + __half2float(b[i]));
}

/* SiLU times a gate in bfloat16, as a feed-forward layer has it. */
KERNEL swiglu_bf16(__nv_bfloat16 *out, const __nv_bfloat16 *gate, const __nv_bfloat16 *up,
                   int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float g = __bfloat162float(gate[i]), u = __bfloat162float(up[i]);
    out[i] = __float2bfloat16(g / (1.0f + __expf(-g)) * u);
}
