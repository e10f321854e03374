// SPDX-License-Identifier: Apache-2.0
// Pieces of neural networks and of machine learning.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL softmax_block(const float *in, float *out, int columns)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * columns;
    float most = -1e30f;
    for (int i = t; i < columns; i += 128)
        most = fmaxf(most, row[i]);
    s[t] = most;
    __syncthreads();
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step)
            s[t] = fmaxf(s[t], s[t + step]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < columns; i += 128)
        sum += expf(row[i] - most);
    s[t] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    float scale = 1.0f / s[0];
    for (int i = t; i < columns; i += 128)
        out[blockIdx.x * columns + i] = expf(row[i] - most) * scale;
}

KERNEL softmax_warp(const float *in, float *out, int columns)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float x[4], most = -1e30f, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = lane + 32 * k;
        x[k] = i < columns ? in[row * columns + i] : -1e30f;
        most = fmaxf(most, x[k]);
    }
    for (int step = 16; step > 0; step >>= 1)
        most = fmaxf(most, __shfl_xor_sync(FULL, most, step));
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x[k] = __expf(x[k] - most);
        sum += x[k];
    }
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_xor_sync(FULL, sum, step);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (lane + 32 * k < columns)
            out[row * columns + lane + 32 * k] = x[k] / sum;
}

__device__ float block_sum(float x, float *s)
{
    for (int step = 16; step > 0; step >>= 1)
        x += __shfl_xor_sync(FULL, x, step);
    if ((threadIdx.x & 31) == 0)
        s[threadIdx.x >> 5] = x;
    __syncthreads();
    x = s[0] + s[1] + s[2] + s[3];
    __syncthreads();
    return x;
}
KERNEL layernorm(const float *in, const float *gain, const float *bias, float *out, int columns)
{
    __shared__ float s[4];
    const float *row = in + blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += row[i];
    float mean = block_sum(sum, s) / columns;
    sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(block_sum(sum, s) / columns + 1e-5f);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

KERNEL rmsnorm_half(const __half *in, const __half *gain, __half *out, int columns)
{
    int row = blockIdx.x, lane = threadIdx.x;
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        float x = __half2float(in[row * columns + i]);
        sum += x * x;
    }
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_xor_sync(FULL, sum, step);
    float scale = rsqrtf(sum / columns + 1e-6f);
    for (int i = lane; i < columns; i += 32)
        out[row * columns + i] =
            __float2half(__half2float(in[row * columns + i]) * scale * __half2float(gain[i]));
}

KERNEL attention_row(const float *q, const float *k, const float *v, float *out, int keys)
{
    __shared__ float score[128];
    __shared__ float s[64];
    int t = threadIdx.x, head = blockIdx.x;
    for (int j = t; j < keys; j += 64) {
        float dot = 0.0f;
        for (int d = 0; d < 64; d++)
            dot += q[head * 64 + d] * k[(head * keys + j) * 64 + d];
        score[j] = dot * 0.125f;
    }
    __syncthreads();
    float most = -1e30f;
    for (int j = 0; j < keys; j++)
        most = fmaxf(most, score[j]);
    float sum = 0.0f;
    for (int j = t; j < keys; j += 64)
        sum += expf(score[j] - most);
    s[t] = sum;
    __syncthreads();
    for (int step = 32; step > 0; step >>= 1) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    float x = 0.0f;
    for (int j = 0; j < keys; j++)
        x += expf(score[j] - most) * v[(head * keys + j) * 64 + t];
    out[head * 64 + t] = x / s[0];
}

KERNEL rope(float *x, const int *position, int heads, int half)
{
    int i = threadIdx.x, head = blockIdx.x, token = blockIdx.y;
    float angle = (float)position[token] * exp2f(-13.2877124f * (float)i / (float)half);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    float *p = x + (token * heads + head) * 2 * half + i;
    float a = p[0], b = p[half];
    p[0] = a * cosine - b * sine;
    p[half] = a * sine + b * cosine;
}

KERNEL cross_entropy(const float *logits, const int *label, float *loss, int classes)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float most = -1e30f, sum = 0.0f;
    for (int c = 0; c < classes; c++)
        most = fmaxf(most, logits[row * classes + c]);
    for (int c = 0; c < classes; c++)
        sum += expf(logits[row * classes + c] - most);
    loss[row] = logf(sum) + most - logits[row * classes + label[row]];
}

KERNEL embedding_gather(const int *token, const __nv_bfloat16 *table, float *out, int width)
{
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column < width)
        out[blockIdx.x * width + column] = __bfloat162float(table[token[blockIdx.x] * width + column]);
}

KERNEL embedding_grad(const int *token, const float *grad, float *table, int width)
{
    int column = threadIdx.x;
    atomicAdd(&table[token[blockIdx.x] * width + column], grad[blockIdx.x * width + column]);
}

KERNEL adam_step(float *p, const float *g, float *m, float *v, float rate, float c1, float c2, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    p[i] -= rate * (m[i] * c1) / (sqrtf(v[i] * c2) + 1e-8f);
}

KERNEL top4_rows(const float *in, int *index, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float best[4] = {-1e30f, -1e30f, -1e30f, -1e30f};
    int at[4] = {-1, -1, -1, -1};
    for (int i = 0; i < columns; i++) {
        float x = in[row * columns + i];
        if (x <= best[3])
            continue;
        int k = 3;
        for (; k > 0 && x > best[k - 1]; k--) {
            best[k] = best[k - 1];
            at[k] = at[k - 1];
        }
        best[k] = x;
        at[k] = i;
    }
    for (int k = 0; k < 4; k++)
        index[4 * row + k] = at[k];
}

KERNEL maxpool2x2(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width / 2 || y >= height / 2)
        return;
    const float *p = in + (blockIdx.z * height + 2 * y) * width + 2 * x;
    out[(blockIdx.z * (height / 2) + y) * (width / 2) + x] =
        fmaxf(fmaxf(p[0], p[1]), fmaxf(p[width], p[width + 1]));
}

KERNEL batchnorm(const float *x, const float *mean, const float *variance, const float *gain,
                 const float *bias, float *out, int channels, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (i < pixels && c < channels) {
        float scale = gain[c] / sqrtf(variance[c] + 1e-3f);
        out[c * pixels + i] = (x[c * pixels + i] - mean[c]) * scale + bias[c];
    }
}

KERNEL dropout(const float *in, float *out, unsigned seed, float keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned h = (i ^ seed) * 0x9e3779b1u;
    h = (h ^ h >> 15) * 0x85ebca77u;
    h ^= h >> 13;
    out[i] = (float)(h >> 8) * 5.9604645e-8f < keep ? in[i] / keep : 0.0f;
}

KERNEL bias_gelu_half2(const __half2 *in, const __half2 *bias, __half2 *out, int columns, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 x = __half22float2(__hadd2(in[i], bias[i % columns]));
    x.x = x.x / (1.0f + expf(-1.702f * x.x));
    x.y = x.y / (1.0f + expf(-1.702f * x.y));
    out[i] = __float22half2_rn(x);
}

KERNEL kmeans_assign(const float *x, const float *center, int *label, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = 1e30f;
    int at = 0;
    for (int c = 0; c < k; c++) {
        float dx = x[2 * i] - center[2 * c], dy = x[2 * i + 1] - center[2 * c + 1];
        float d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            at = c;
        }
    }
    label[i] = at;
}

KERNEL kmeans_accumulate(const int *x, const int *label, int *sum, int *count, int n)
{
    __shared__ int s[16], c[8];
    if (threadIdx.x < 16)
        s[threadIdx.x] = 0;
    if (threadIdx.x < 8)
        c[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int k = label[i] & 7;
        atomicAdd(&s[2 * k], x[2 * i]);
        atomicAdd(&s[2 * k + 1], x[2 * i + 1]);
        atomicAdd(&c[k], 1);
    }
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&sum[threadIdx.x], s[threadIdx.x]);
    if (threadIdx.x < 8)
        atomicAdd(&count[threadIdx.x], c[threadIdx.x]);
}

KERNEL quantize_rows(const float *in, signed char *out, float *scale, int columns)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float most = 0.0f;
    for (int i = t; i < columns; i += 64)
        most = fmaxf(most, fabsf(in[blockIdx.x * columns + i]));
    s[t] = most;
    __syncthreads();
    for (int step = 32; step > 0; step >>= 1) {
        if (t < step)
            s[t] = fmaxf(s[t], s[t + step]);
        __syncthreads();
    }
    float inverse = 127.0f / s[0];
    for (int i = t; i < columns; i += 64)
        out[blockIdx.x * columns + i] = (signed char)__float2int_rn(in[blockIdx.x * columns + i] * inverse);
    if (t == 0)
        scale[blockIdx.x] = s[0] / 127.0f;
}
