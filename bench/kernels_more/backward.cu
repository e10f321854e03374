// SPDX-License-Identifier: Apache-2.0
/* Gradients and the optimizer's step. */
#define KERNEL extern "C" __global__ void

__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffff, x, step);
    return x;
}

/* The sum over a block of 256, in every thread. */
__device__ float block_sum(float x, float *part)
{
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x % 32 < 8 ? part[threadIdx.x % 32] : 0.0f;
    return warp_sum(x);
}

/* dx of y = (x - mean) * rstd * weight, a block of 256 a row. */
KERNEL layernorm_backward(float *dx, const float *dy, const float *x, const float *weight,
                          const float *mean, const float *rstd, int width)
{
    __shared__ float part[8];
    size_t row = (size_t)blockIdx.x * width;
    float m = mean[blockIdx.x], r = rstd[blockIdx.x], a = 0, b = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float g = dy[row + i] * weight[i];
        a += g;
        b += g * (x[row + i] - m) * r;
    }
    a = block_sum(a, part) / width;
    b = block_sum(b, part) / width;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float g = dy[row + i] * weight[i], n = (x[row + i] - m) * r;
        dx[row + i] = r * (g - a - n * b);
    }
}

/* dx = y * (dy - sum(y * dy)), a warp a row. */
KERNEL softmax_backward(float *dx, const float *dy, const float *y, int rows, int width)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    size_t first = (size_t)row * width;
    float sum = 0;
    for (int i = lane; i < width; i += 32)
        sum += y[first + i] * dy[first + i];
    sum = warp_sum(sum);
    for (int i = lane; i < width; i += 32)
        dx[first + i] = y[first + i] * (dy[first + i] - sum);
}

KERNEL relu_backward(float *dx, const float *dy, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = y[i] > 0 ? dy[i] : 0.0f;
}

KERNEL gelu_backward(float *dx, const float *dy, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i], cube = 0.044715f * v * v * v;
    float t = tanhf(0.7978845608f * (v + cube));
    float slope = 0.5f * (1.0f + t) +
                  0.5f * v * (1.0f - t * t) * 0.7978845608f * (1.0f + 3.0f * 0.044715f * v * v);
    dx[i] = dy[i] * slope;
}

/* Rows of dy are added to the rows of the table that the tokens name. */
KERNEL embedding_backward(float *table, const float *dy, const int *token, int width)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        atomicAdd(&table[(size_t)token[blockIdx.x] * width + i],
                  dy[(size_t)blockIdx.x * width + i]);
}

/* The loss and its gradient, a block of 256 a row. */
KERNEL cross_entropy(float *loss, float *dx, const float *logit, const int *target,
                     int width)
{
    __shared__ float part[256];
    const float *x = logit + (size_t)blockIdx.x * width;
    int t = threadIdx.x;
    float top = -INFINITY, sum = 0;
    for (int i = t; i < width; i += 256)
        top = fmaxf(top, x[i]);
    part[t] = top;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] = fmaxf(part[t], part[t + step]);
        __syncthreads();
    }
    top = part[0];
    __syncthreads();
    for (int i = t; i < width; i += 256)
        sum += expf(x[i] - top);
    part[t] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    sum = part[0];
    int right = target[blockIdx.x];
    if (t == 0)
        loss[blockIdx.x] = logf(sum) + top - x[right];
    for (int i = t; i < width; i += 256)
        dx[(size_t)blockIdx.x * width + i] = expf(x[i] - top) / sum - (i == right ? 1.0f : 0.0f);
}

/* Sums of columns, a thread a column. */
KERNEL bias_gradient(float *db, const float *dy, int rows, int width)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= width)
        return;
    float sum = 0;
    for (int r = 0; r < rows; r++)
        sum += dy[(size_t)r * width + column];
    db[column] = sum;
}

KERNEL adamw(float *p, float *m, float *v, const float *g, float rate, float decay, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float grad = g[i];
    float first = 0.9f * m[i] + 0.1f * grad, second = 0.999f * v[i] + 0.001f * grad * grad;
    m[i] = first;
    v[i] = second;
    p[i] -= rate * (first / 0.271f / (sqrtf(second / 0.002997f) + 1e-8f) + decay * p[i]);
}
