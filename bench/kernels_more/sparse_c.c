// SPDX-License-Identifier: Apache-2.0
/* Sparse matrices, segments and gathers: launches, and the same in C. */
#include "more.h"

/* Rows of 8 to 56 numbers. */
static void prepare_rows(more_job *job)
{
    const size_t rows = more_size(job, 8192, 100), columns = more_size(job, 16384, 300);
    more_result(job, rows * 4, MORE_FLOATS);
    uint32_t *start = more_input(job, (rows + 1) * 4);
    for (size_t r = 0; r < rows; r++)
        start[r + 1] = start[r] + 8 + more_random_number(job) % 49;
    more_numbers(job, start[rows], (uint32_t)columns);
    more_floats(job, start[rows], -1, 1);
    more_floats(job, columns, -1, 1);
    more_number(job, rows);
}
static void prepare_scalar(more_job *job)
{
    prepare_rows(job);
    more_line(job, job->a[5].number, 256);
}
static void prepare_vector(more_job *job)
{
    prepare_rows(job);
    more_line(job, (size_t)job->a[5].number * 32, 256);
}
static void plain_rows(const more_job *job)
{
    float *y = more_at(job, 0);
    const int *start = more_at(job, 1), *column = more_at(job, 2);
    const float *value = more_at(job, 3), *x = more_at(job, 4);
    const int rows = more_int(job, 5);
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        float sum = 0;
        const int end = start[r + 1];
#pragma omp simd reduction(+ : sum)
        for (int i = start[r]; i < end; i++)
            sum += value[i] * x[column[i]];
        y[r] = sum;
    }
}

/* Numbers in the order of rows, as most files have them. */
static void prepare_coo(more_job *job)
{
    const size_t n = more_size(job, 262144, 3000), rows = n / 16;
    more_updated(job, rows * 4, MORE_FLOATS);
    uint32_t *row = more_input(job, n * 4);
    for (size_t i = 0; i < n; i++)
        row[i] = (uint32_t)(i * rows / n);
    more_numbers(job, n, (uint32_t)rows);
    more_floats(job, n, -1, 1);
    more_floats(job, rows, -1, 1);
    more_number(job, n);
    more_line(job, n, 256);
}
/* Each thread begins and ends with a row. */
static void plain_coo(const more_job *job)
{
    float *y = more_at(job, 0);
    const int *row = more_at(job, 1), *column = more_at(job, 2);
    const float *value = more_at(job, 3), *x = more_at(job, 4);
    const int n = more_int(job, 5), shares = 8;
#pragma omp parallel for
    for (int s = 0; s < shares; s++) {
        int i = (int)((int64_t)n * s / shares),
            end = (int)((int64_t)n * (s + 1) / shares);
        while (i > 0 && i < n && row[i] == row[i - 1])
            i++;
        while (end < n && row[end] == row[end - 1])
            end++;
        while (i < end) {
            const int r = row[i];
            float sum = y[r];
            for (; i < end && row[i] == r; i++)
                sum += value[i] * x[column[i]];
            y[r] = sum;
        }
    }
}

static void prepare_ell(more_job *job)
{
    const size_t rows = more_size(job, 8192, 300), width = 32;
    more_result(job, rows * 4, MORE_FLOATS);
    int *column = more_input(job, rows * width * 4);
    for (size_t r = 0; r < rows; r++) {
        const size_t has = width / 2 + more_random_number(job) % (width / 2 + 1);
        for (size_t k = 0; k < width; k++)
            column[k * rows + r] = k < has ? (int)(more_random_number(job) % rows) : -1;
    }
    more_floats(job, rows * width, -1, 1);
    more_floats(job, rows, -1, 1);
    more_number(job, rows);
    more_number(job, width);
    more_line(job, rows, 256);
}
static void plain_ell(const more_job *job)
{
    float *y = more_at(job, 0);
    const int *column = more_at(job, 1);
    const float *value = more_at(job, 2), *x = more_at(job, 3);
    const int rows = more_int(job, 4), width = more_int(job, 5);
#pragma omp parallel for
    for (int first = 0; first < rows; first += 256) {
        const int end = first + 256 < rows ? first + 256 : rows;
        float sum[256] = {0};
        for (int k = 0; k < width; k++)
#pragma omp simd
            for (int r = first; r < end; r++) {
                const int c = column[k * rows + r];
                const float product = value[k * rows + r] * x[c < 0 ? 0 : c];
                sum[r - first] += c < 0 ? 0.0f : product;
            }
        memcpy(y + first, sum, (size_t)(end - first) * 4);
    }
}

static void prepare_segments(more_job *job)
{
    const size_t n = more_size(job, 262144, 1024);
    more_result(job, n * 4, MORE_FLOATS);
    more_floats(job, n, -1, 1);
    uint8_t *head = more_input(job, n);
    for (size_t i = 0; i < n; i++)
        head[i] = more_random_number(job) % 20 == 0;
    more_line(job, n, 256);
}
static void plain_segments(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const uint8_t *head = more_at(job, 2);
    const int n = (int)(job->grid[0] * 256);
#pragma omp parallel for
    for (int first = 0; first < n; first += 256) {
        float sum = 0;
        for (int i = first; i < first + 256; i++) {
            sum = (head[i] ? 0.0f : sum) + in[i];
            out[i] = sum;
        }
    }
}

static void prepare_gather(more_job *job)
{
    const size_t rows = more_size(job, 1024, 20), width = 256;
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_floats(job, 1000 * width, -1, 1);
    more_numbers(job, rows, 1000);
    more_number(job, width);
    more_line(job, rows * 128, 128);
}
static void plain_gather(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *table = more_at(job, 1);
    const int *index = more_at(job, 2);
    const int width = more_int(job, 3), rows = (int)job->grid[0];
#pragma omp parallel for
    for (int r = 0; r < rows; r++)
        memcpy(out + (size_t)r * (size_t)width, table + (size_t)index[r] * (size_t)width,
               (size_t)width * 4);
}

const more_kernel more_sparse[] = {
    {"spmv_scalar", "sparse", prepare_scalar, plain_rows, 1e-4},
    {"spmv_vector", "sparse", prepare_vector, plain_rows, 1e-4},
    {"spmv_coo", "sparse", prepare_coo, plain_coo, 1e-4},
    {"spmv_ell", "sparse", prepare_ell, plain_ell, 1e-4},
    {"segment_scan", "sparse", prepare_segments, plain_segments, 1e-4},
    {"gather_rows", "sparse", prepare_gather, plain_gather, 0},
    {0}};
