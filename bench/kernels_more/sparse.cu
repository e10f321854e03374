// SPDX-License-Identifier: Apache-2.0
/* Sparse matrices, segments and gathers. */
#define KERNEL extern "C" __global__ void

KERNEL spmv_scalar(float *y, const int *start, const int *column, const float *value,
                   const float *x, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = start[row]; i < start[row + 1]; i++)
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

KERNEL spmv_vector(float *y, const int *start, const int *column, const float *value,
                   const float *x, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    int end = start[row + 1];
    float sum = 0;
    for (int i = start[row] + lane; i < end; i += 32)
        sum += value[i] * x[column[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

KERNEL spmv_coo(float *y, const int *row, const int *column, const float *value,
                const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}

/* Columns of the padded rows side by side, -1 where a row has ended. */
KERNEL spmv_ell(float *y, const int *column, const float *value, const float *x, int rows,
                int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int c = column[k * rows + row];
        if (c >= 0)
            sum += value[k * rows + row] * x[c];
    }
    y[row] = sum;
}

/* Inclusive sums in a block of 256 that begin again at each head. */
KERNEL segment_scan(float *out, const float *in, const unsigned char *head)
{
    __shared__ float sum[256];
    __shared__ unsigned char begun[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sum[t] = in[i];
    begun[t] = head[i];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        float add = 0;
        unsigned char flag = 0;
        if (t >= step) {
            add = begun[t] ? 0.0f : sum[t - step];
            flag = begun[t - step];
        }
        __syncthreads();
        sum[t] += add;
        begun[t] |= flag;
        __syncthreads();
    }
    out[i] = sum[t];
}

/* Rows of a table by their numbers, a block of 128 a row. */
KERNEL gather_rows(float *out, const float *table, const int *index, int width)
{
    const float *from = table + (size_t)index[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(size_t)blockIdx.x * width + i] = from[i];
}
