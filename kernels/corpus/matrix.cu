// SPDX-License-Identifier: Apache-2.0
// Dense and sparse linear algebra, transposes.
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define FULL 0xffffffffu

KERNEL matmul_naive(const float *a, const float *b, float *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

#define TILE 16
KERNEL matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float sa[TILE][TILE], sb[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (int tile = 0; tile < n / TILE; tile++) {
        sa[ty][tx] = a[y * n + tile * TILE + tx];
        sb[ty][tx] = b[(tile * TILE + ty) * n + x];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += sa[ty][k] * sb[k][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

// 32 x 32 of c a block of 8 x 8 threads, 4 x 4 a thread.
KERNEL matmul_register(const float *a, const float *b, float *c, int n)
{
    __shared__ float sa[32][8], sb[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 8 + tx;
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int i = t; i < 256; i += 64) {
            sa[i / 8][i % 8] = a[(y0 + i / 8) * n + k0 + i % 8];
            sb[i / 32][i % 32] = b[(k0 + i / 32) * n + x0 + i % 32];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float u[4], v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u[i] = sa[ty * 4 + i][k];
                v[i] = sb[k][tx * 4 + i];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += u[i] * v[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(y0 + ty * 4 + i) * n + x0 + tx * 4 + j] = sum[i][j];
}

KERNEL matmul_half(const __half *a, const __half *b, float *c, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += __half2float(a[y * n + k]) * __half2float(b[k * n + x]);
    c[y * n + x] = sum;
}

KERNEL syrk_double(const double *a, double *c, int n, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > y || y >= n)
        return;
    double sum = 0.0;
    for (int i = 0; i < k; i++)
        sum += a[y * k + i] * a[x * k + i];
    c[y * n + x] = sum;
}

KERNEL transpose_naive(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

KERNEL transpose_tiled(const float *in, float *out, int width, int height)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

KERNEL gemv_row(const float *m, const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < columns; k++)
        sum += m[row * columns + k] * x[k];
    y[row] = sum;
}

KERNEL gemv_warp(const float *m, const float *x, float *y, int columns)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int k = lane; k < columns; k += 32)
        sum += m[row * columns + k] * x[k];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(FULL, sum, step);
    if (lane == 0)
        y[row] = sum;
}

KERNEL gemv_block(const float *m, const float *x, float *y, int columns)
{
    __shared__ float s[64];
    float sum = 0.0f;
    for (int k = threadIdx.x; k < columns; k += 64)
        sum += m[blockIdx.x * columns + k] * x[k];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 32; step > 0; step >>= 1) {
        if (threadIdx.x < step)
            s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = s[0];
}

// Rows of the matrix have row % 8 entries.
__device__ int row_begin(int row) { return row / 8 * 28 + (row % 8) * (row % 8 - 1) / 2; }
KERNEL spmv_scalar(const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = row_begin(row); i < row_begin(row + 1); i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

KERNEL spmv_csr_warp(const int *start, const int *columns, const float *values, const float *x,
                     float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(FULL, sum, step);
    if (lane == 0)
        y[row] = sum;
}

KERNEL spmv_csr(const int *start, const int *columns, const float *values, const float *x,
                float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = start[row]; i < start[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

KERNEL spmv_ell(const int *columns, const float *values, const float *x, float *y, int rows,
                int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        int column = columns[k * rows + row];
        if (column >= 0)
            sum += values[k * rows + row] * x[column];
    }
    y[row] = sum;
}

KERNEL spmv_coo_atomic(const int *row, const int *column, const float *value, const float *x,
                       float *y, int entries)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < entries)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}

// Cholesky of one 16 x 16 matrix a block.
KERNEL cholesky_block(const float *in, float *out)
{
    __shared__ float s[16][17];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++)
        s[i][t] = in[blockIdx.x * 256 + i * 16 + t] + (i == t ? 20.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        if (t == k)
            s[k][k] = sqrtf(s[k][k]);
        __syncthreads();
        if (t > k)
            s[t][k] /= s[k][k];
        __syncthreads();
        for (int j = k + 1; j <= t; j++)
            s[t][j] -= s[t][k] * s[j][k];
        __syncthreads();
    }
    for (int i = 0; i < 16; i++)
        out[blockIdx.x * 256 + i * 16 + t] = i >= t ? s[i][t] : 0.0f;
}

KERNEL inverse4(const float *in, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    float m[4][8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            m[i][j] = in[16 * t + 4 * i + j] + (i == j ? 4.0f : 0.0f);
            m[i][j + 4] = i == j;
        }
    for (int k = 0; k < 4; k++) {
        float pivot = 1.0f / m[k][k];
        for (int j = 0; j < 8; j++)
            m[k][j] *= pivot;
        for (int i = 0; i < 4; i++) {
            if (i == k)
                continue;
            float f = m[i][k];
            for (int j = 0; j < 8; j++)
                m[i][j] -= f * m[k][j];
        }
    }
    for (int i = 0; i < 16; i++)
        out[16 * t + i] = m[i / 4][4 + i % 4];
}

KERNEL power_iteration_step(const float *m, const float *x, float *y, int n)
{
    __shared__ float s[64];
    __shared__ float length;
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += m[k * n + t] * x[k];
    s[t] = sum * sum;
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0)
        length = sqrtf(s[0]);
    __syncthreads();
    y[t] = sum / length;
}
