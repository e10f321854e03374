// SPDX-License-Identifier: Apache-2.0
/* Products of quantized weights, and quantizing: launches, and the same in C. */
#include "more.h"

static uint16_t *halves(more_job *job, size_t count, float low, float high)
{
    uint16_t *to = more_input(job, count * 2);
    for (size_t i = 0; i < count; i++) {
        const more_half h = (more_half)more_random_float(job, low, high);
        memcpy(&to[i], &h, 2);
    }
    return to;
}

static void prepare_int8(more_job *job)
{
    const size_t rows = more_size(job, 512, 20), columns = more_size(job, 1024, 256);
    more_result(job, rows * 4, MORE_FLOATS);
    more_bytes(job, rows * columns);
    more_floats(job, rows, 0.001f, 0.01f);
    more_floats(job, columns, -1, 1);
    more_number(job, rows);
    more_number(job, columns);
    more_line(job, rows * 32, 256);
}
static void plain_int8(const more_job *job)
{
    float *y = more_at(job, 0);
    const int8_t *weight = more_at(job, 1);
    const float *scale = more_at(job, 2), *x = more_at(job, 3);
    const int rows = more_int(job, 4), columns = more_int(job, 5);
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        const int8_t *w = weight + r * columns;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < columns; i++)
            sum += (float)w[i] * x[i];
        y[r] = sum * scale[r];
    }
}

static void prepare_int4(more_job *job)
{
    const size_t rows = more_size(job, 512, 20), columns = more_size(job, 1024, 256);
    more_result(job, rows * 4, MORE_FLOATS);
    more_numbers(job, rows * columns / 8, 0);
    halves(job, rows * columns / 32, 0.01f, 0.1f);
    more_floats(job, columns, -1, 1);
    more_number(job, rows);
    more_number(job, columns);
    more_line(job, rows * 32, 256);
}
/* Eight numbers of a word are a vector: the word shifted by 0, 4, 8 ... */
static void plain_int4(const more_job *job)
{
    float *y = more_at(job, 0);
    const uint32_t *weight = more_at(job, 1);
    const more_half *scale = more_at(job, 2);
    const float *x = more_at(job, 3);
    const int rows = more_int(job, 4), columns = more_int(job, 5);
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        float sum[8] = {0};
        for (int block = 0; block < columns / 32; block++) {
            float part[8] = {0};
            for (int i = block * 4; i < block * 4 + 4; i++) {
                const uint32_t w = weight[r * (columns / 8) + i];
#pragma omp simd
                for (int k = 0; k < 8; k++)
                    part[k] += (float)((int)(w >> (4 * k) & 15) - 8) * x[i * 8 + k];
            }
            const float s = (float)scale[r * (columns / 32) + block];
#pragma omp simd
            for (int k = 0; k < 8; k++)
                sum[k] += part[k] * s;
        }
        float all = 0;
        for (int k = 0; k < 8; k++)
            all += sum[k];
        y[r] = all;
    }
}

static void prepare_quantize(more_job *job)
{
    const size_t rows = more_size(job, 256, 10), width = more_size(job, 1024, 300);
    more_result(job, rows * width, MORE_BYTES);
    more_result(job, rows * 4, MORE_FLOATS);
    more_floats(job, rows * width, -3, 3);
    more_number(job, width);
    more_line(job, rows * 256, 256);
}
static void plain_quantize(const more_job *job)
{
    int8_t *out = more_at(job, 0);
    float *scale = more_at(job, 1);
    const float *in = more_at(job, 2);
    const int width = more_int(job, 3), rows = (int)job->grid[0];
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        const float *x = in + r * width;
        float top = 0;
#pragma omp simd reduction(max : top)
        for (int i = 0; i < width; i++)
            top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
        const float to = top > 0 ? 127.0f / top : 0.0f;
        scale[r] = top / 127.0f;
#pragma omp simd
        for (int i = 0; i < width; i++)
            out[r * width + i] = (int8_t)nearbyintf(x[i] * to);
    }
}

static void prepare_dot(more_job *job)
{
    const size_t rows = more_size(job, 1024, 20), words = 256;
    more_result(job, rows * 4, MORE_WORDS);
    more_numbers(job, rows * words, 0);
    more_numbers(job, words, 0);
    more_number(job, rows);
    more_number(job, words);
    more_line(job, rows * 32, 256);
}
static void plain_dot(const more_job *job)
{
    int32_t *y = more_at(job, 0);
    const int8_t *weight = more_at(job, 1), *x = more_at(job, 2);
    const int rows = more_int(job, 3), bytes = more_int(job, 4) * 4;
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < bytes; i++)
            sum += (int16_t)weight[r * bytes + i] * (int16_t)x[i];
        y[r] = sum;
    }
}

static void prepare_unpack(more_job *job)
{
    const size_t words = more_size(job, 32768, 1000);
    more_result(job, words * 8 * 2, MORE_HALVES);
    more_numbers(job, words, 0);
    halves(job, words / 4, 0.01f, 0.1f);
    more_number(job, words);
    more_line(job, words, 256);
}
static void plain_unpack(const more_job *job)
{
    more_half *out = more_at(job, 0);
    const uint32_t *in = more_at(job, 1);
    const more_half *scale = more_at(job, 2);
    const int words = more_int(job, 3);
#pragma omp parallel for
    for (int i = 0; i < words; i++) {
        const uint32_t w = in[i];
        const float s = (float)scale[i / 4];
        float all[8];
#pragma omp simd
        for (int k = 0; k < 8; k++)
            all[k] = (float)((int)(w >> (4 * k) & 15) - 8) * s;
        more_to_halves(out + i * 8, all);
    }
}

static void prepare_mixed(more_job *job)
{
    const size_t n = more_size(job, 262144, 1000);
    more_result(job, n * 2, MORE_BRAINS);
    halves(job, n, -1, 1);
    halves(job, n, -1, 1);
    more_real(job, 1.7f);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_mixed(const more_job *job)
{
    uint16_t *out = more_at(job, 0);
    const more_half *x = more_at(job, 1), *b = more_at(job, 2);
    const float a = job->a[3].real;
    const int n = more_int(job, 4);
#pragma omp parallel for
    for (int first = 0; first < n; first += 8) {
        float p[8], q[8];
        more_of_halves(p, x + first);
        more_of_halves(q, b + first);
#pragma omp simd
        for (int k = 0; k < 8; k++)
            out[first + k] = more_to_brain(a * p[k] + q[k]);
    }
}

static void prepare_swiglu(more_job *job)
{
    const size_t n = more_size(job, 262144, 1000);
    more_result(job, n * 2, MORE_BRAINS);
    for (int k = 0; k < 2; k++) {
        uint16_t *to = more_input(job, n * 2);
        for (size_t i = 0; i < n; i++)
            to[i] = more_to_brain(more_random_float(job, -4, 4));
    }
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_swiglu(const more_job *job)
{
    uint16_t *out = more_at(job, 0);
    const uint16_t *gate = more_at(job, 1), *up = more_at(job, 2);
    const int n = more_int(job, 3);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        const float g = more_of_brain(gate[i]);
        out[i] = more_to_brain(g / (1.0f + more_exp(-g)) * more_of_brain(up[i]));
    }
}

const more_kernel more_quant[] = {
    {"gemv_int8", "quant", prepare_int8, plain_int8, 1e-4},
    {"gemv_int4", "quant", prepare_int4, plain_int4, 1e-4},
    {"quantize_rows", "quant", prepare_quantize, plain_quantize, 1e-6},
    {"dot_dp4a", "quant", prepare_dot, plain_dot, 0},
    {"unpack_int4", "quant", prepare_unpack, plain_unpack, 0},
    {"half_to_bf16", "quant", prepare_mixed, plain_mixed, 8e-3},
    {"swiglu_bf16", "quant", prepare_swiglu, plain_swiglu, 8e-3},
    {0}};
