// SPDX-License-Identifier: Apache-2.0
// Reductions in the styles that people write.

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL reduce_interleaved(const int *in, int *out)
{
    __shared__ int s[256];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (t % (2 * step) == 0)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

KERNEL reduce_sequential(const float *in, float *out, int n)
{
    extern __shared__ float sums[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    sums[t] = (i < n ? in[i] : 0.0f) + (i + blockDim.x < n ? in[i + blockDim.x] : 0.0f);
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step >>= 1) {
        if (t < step)
            sums[t] += sums[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

KERNEL reduce_unrolled(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile int *v = s;
        int x = v[t] + v[t + 32];
        v[t] = x;
        __syncwarp();
        for (int step = 16; step > 0; step >>= 1) {
            x = v[t] + v[t + step];
            __syncwarp();
            v[t] = x;
            __syncwarp();
        }
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__device__ float warp_sum(float x)
{
    for (int step = 16; step > 0; step >>= 1)
        x += __shfl_down_sync(FULL, x, step);
    return x;
}
KERNEL reduce_shuffle_block(const float *in, float *out, int n)
{
    __shared__ float warps[32];
    float x = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x += in[i];
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.0f;
        x = warp_sum(x);
        if (threadIdx.x == 0)
            out[blockIdx.x] = x;
    }
}

KERNEL reduce_shuffle_xor(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes <<= 1)
        x = max(x, __shfl_xor_sync(FULL, x, lanes));
    out[i] = x;
}

KERNEL sum_atomic(const int *in, int *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, in[i]);
}

KERNEL sum_block_atomic(const int *in, unsigned long long *sum, int n)
{
    __shared__ long long total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    long long x = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x += in[i];
    for (int step = 16; step > 0; step >>= 1)
        x += __shfl_down_sync(FULL, x, step);
    if ((threadIdx.x & 31) == 0)
        atomicAdd((unsigned long long *)&total, (unsigned long long)x);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, (unsigned long long)total);
}

KERNEL argmax_block(const float *in, int *index, float *value, int n)
{
    __shared__ float best[128];
    __shared__ int where[128];
    int t = threadIdx.x;
    float x = -1e30f;
    int at = -1;
    for (int i = t; i < n; i += blockDim.x) {
        float v = in[blockIdx.x * n + i];
        if (v > x) {
            x = v;
            at = i;
        }
    }
    best[t] = x;
    where[t] = at;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step) {
            float other = best[t + step];
            if (other > best[t] || (other == best[t] && where[t + step] < where[t])) {
                best[t] = other;
                where[t] = where[t + step];
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        index[blockIdx.x] = where[0];
        value[blockIdx.x] = best[0];
    }
}

KERNEL minmax_atomic(const int *in, int *least, int *most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(least, in[i]);
        atomicMax(most, in[i]);
    }
}

KERNEL dot_blocks(const float *a, const float *b, float *out, int n)
{
    __shared__ float cache[128];
    float sum = 0.0f;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    cache[threadIdx.x] = sum;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (threadIdx.x < i)
            cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
        i /= 2;
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cache[0];
}

KERNEL welford_rows(const float *x, float *mean, float *variance, int columns)
{
    __shared__ float m[64], v[64], c[64];
    int t = threadIdx.x;
    float mu = 0.0f, m2 = 0.0f, count = 0.0f;
    for (int i = t; i < columns; i += 64) {
        float value = x[blockIdx.x * columns + i], delta = value - mu;
        count += 1.0f;
        mu += delta / count;
        m2 += delta * (value - mu);
    }
    m[t] = mu;
    v[t] = m2;
    c[t] = count;
    __syncthreads();
    for (int step = 32; step > 0; step >>= 1) {
        if (t < step) {
            float nb = c[t + step], na = c[t], total = na + nb;
            if (total > 0.0f) {
                float delta = m[t + step] - m[t];
                m[t] += delta * nb / total;
                v[t] += v[t + step] + delta * delta * na * nb / total;
                c[t] = total;
            }
        }
        __syncthreads();
    }
    if (t == 0) {
        mean[blockIdx.x] = m[0];
        variance[blockIdx.x] = v[0] / c[0];
    }
}

KERNEL norm_rows_warp(const float *x, float *out, int rows, int columns)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        float v = x[row * columns + i];
        sum += v * v;
    }
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_xor_sync(FULL, sum, step);
    if (lane == 0)
        out[row] = sqrtf(sum);
}

__device__ unsigned finished_blocks;
KERNEL reduce_last_block(const int *in, int *partial, int *out, int n)
{
    __shared__ int s[128];
    __shared__ bool is_last;
    int t = threadIdx.x, sum = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128)
        sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        is_last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            total += ((volatile int *)partial)[i];
        *out = total;
    }
}

KERNEL block_predicates(const int *in, int *out)
{
    int x = in[blockIdx.x * blockDim.x + threadIdx.x];
    int positive = __syncthreads_count(x > 0);
    int all = __syncthreads_and(x > -100), some = __syncthreads_or(x == 7);
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = positive;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = some != 0;
    }
}

KERNEL column_sums(const float *m, float *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    float sum = 0.0f;
    for (int row = 0; row < rows; row++)
        sum += m[row * columns + column];
    out[column] = sum;
}
