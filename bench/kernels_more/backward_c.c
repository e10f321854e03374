// SPDX-License-Identifier: Apache-2.0
/* Gradients and the optimizer's step: launches, and the same in C. */
#include "more.h"

static size_t rows_of(const more_job *job)
{
    return more_size(job, 256, 10);
}
static size_t width_of(const more_job *job)
{
    return more_size(job, 1024, 300);
}

static void prepare_layernorm(more_job *job)
{
    const size_t rows = rows_of(job), width = width_of(job);
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_floats(job, rows * width, -1, 1);
    more_floats(job, rows * width, -1, 1);
    more_floats(job, width, 0, 2);
    more_floats(job, rows, -0.1f, 0.1f);
    more_floats(job, rows, 1, 2);
    more_number(job, width);
    more_line(job, rows * 256, 256);
}
static void plain_layernorm(const more_job *job)
{
    float *dx = more_at(job, 0);
    const float *dy = more_at(job, 1), *x = more_at(job, 2), *weight = more_at(job, 3);
    const float *mean = more_at(job, 4), *rstd = more_at(job, 5);
    const int width = more_int(job, 6), rows = (int)job->grid[0];
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float m = mean[row], r = rstd[row];
        const int first = row * width;
        float a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
        for (int i = 0; i < width; i++) {
            const float g = dy[first + i] * weight[i];
            a += g;
            b += g * (x[first + i] - m) * r;
        }
        a /= (float)width;
        b /= (float)width;
#pragma omp simd
        for (int i = 0; i < width; i++) {
            const float g = dy[first + i] * weight[i], n = (x[first + i] - m) * r;
            dx[first + i] = r * (g - a - n * b);
        }
    }
}

static void prepare_softmax(more_job *job)
{
    const size_t rows = rows_of(job), width = width_of(job);
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_floats(job, rows * width, -1, 1);
    more_floats(job, rows * width, 0, 2.0f / (float)width);
    more_number(job, rows);
    more_number(job, width);
    more_line(job, rows * 32, 256);
}
static void plain_softmax(const more_job *job)
{
    float *dx = more_at(job, 0);
    const float *dy = more_at(job, 1), *y = more_at(job, 2);
    const int rows = more_int(job, 3), width = more_int(job, 4);
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const int first = row * width;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < width; i++)
            sum += y[first + i] * dy[first + i];
#pragma omp simd
        for (int i = 0; i < width; i++)
            dx[first + i] = y[first + i] * (dy[first + i] - sum);
    }
}

static void prepare_element(more_job *job)
{
    const size_t n = more_size(job, 262144, 1000);
    more_result(job, n * 4, MORE_FLOATS);
    more_floats(job, n, -1, 1);
    more_floats(job, n, -3, 3);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_relu(const more_job *job)
{
    float *dx = more_at(job, 0);
    const float *dy = more_at(job, 1), *y = more_at(job, 2);
    const int n = more_int(job, 3);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++)
        dx[i] = y[i] > 0 ? dy[i] : 0.0f;
}
static void plain_gelu(const more_job *job)
{
    float *dx = more_at(job, 0);
    const float *dy = more_at(job, 1), *x = more_at(job, 2);
    const int n = more_int(job, 3);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        const float v = x[i], e = more_exp(1.5957691216f * (v + 0.044715f * v * v * v));
        const float t = 1.0f - 2.0f / (e + 1.0f); /* tanh */
        dx[i] = dy[i] * (0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * 0.7978845608f *
                                                 (1.0f + 3.0f * 0.044715f * v * v));
    }
}

static void prepare_embedding(more_job *job)
{
    const size_t tokens = more_size(job, 1024, 20), width = 256, table = 500;
    more_updated(job, table * width * 4, MORE_FLOATS);
    more_floats(job, tokens * width, -1, 1);
    more_numbers(job, tokens, (uint32_t)table);
    more_number(job, width);
    more_line(job, tokens * 128, 128);
}
/* A thread has columns of its own. */
static void plain_embedding(const more_job *job)
{
    float *table = more_at(job, 0);
    const float *dy = more_at(job, 1);
    const int *token = more_at(job, 2), width = more_int(job, 3),
              tokens = (int)job->grid[0];
#pragma omp parallel for
    for (int first = 0; first < width; first += 64)
        for (int t = 0; t < tokens; t++) {
            float *to = table + token[t] * width;
#pragma omp simd
            for (int i = first; i < first + 64; i++)
                to[i] += dy[t * width + i];
        }
}

static void prepare_entropy(more_job *job)
{
    const size_t rows = rows_of(job), width = width_of(job);
    more_result(job, rows * 4, MORE_FLOATS);
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_floats(job, rows * width, -5, 5);
    more_numbers(job, rows, (uint32_t)width);
    more_number(job, width);
    more_line(job, rows * 256, 256);
}
static void plain_entropy(const more_job *job)
{
    float *loss = more_at(job, 0), *dx = more_at(job, 1);
    const float *logit = more_at(job, 2);
    const int *target = more_at(job, 3), width = more_int(job, 4),
              rows = (int)job->grid[0];
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        const float *x = logit + r * width;
        float *to = dx + r * width, top = -INFINITY, sum = 0;
#pragma omp simd reduction(max : top)
        for (int i = 0; i < width; i++)
            top = x[i] > top ? x[i] : top;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < width; i++) {
            to[i] = more_exp(x[i] - top);
            sum += to[i];
        }
        const float scale = 1.0f / sum;
        loss[r] = logf(sum) + top - x[target[r]];
#pragma omp simd
        for (int i = 0; i < width; i++)
            to[i] *= scale;
        to[target[r]] -= 1.0f;
    }
}

static void prepare_bias(more_job *job)
{
    const size_t rows = more_size(job, 256, 30), width = more_size(job, 1024, 300);
    more_result(job, width * 4, MORE_FLOATS);
    more_floats(job, rows * width, -1, 1);
    more_number(job, rows);
    more_number(job, width);
    more_line(job, width, 128);
}
static void plain_bias(const more_job *job)
{
    float *db = more_at(job, 0);
    const float *dy = more_at(job, 1);
    const int rows = more_int(job, 2), width = more_int(job, 3);
#pragma omp parallel for
    for (int first = 0; first < width; first += 128) {
        const int end = first + 128 < width ? first + 128 : width;
        float sum[128] = {0};
        for (int r = 0; r < rows; r++)
#pragma omp simd
            for (int i = first; i < end; i++)
                sum[i - first] += dy[r * width + i];
        memcpy(db + first, sum, (size_t)(end - first) * 4);
    }
}

static void prepare_adamw(more_job *job)
{
    const size_t n = more_size(job, 65536, 1000);
    for (int k = 0; k < 3; k++) {
        float *at = more_updated(job, n * 4, MORE_FLOATS);
        for (size_t i = 0; i < n; i++)
            at[i] = more_random_float(job, k == 2 ? 0.01f : -1, 1);
    }
    more_floats(job, n, -1, 1);
    more_real(job, 1e-3f);
    more_real(job, 0.01f);
    more_number(job, n);
    more_line(job, n, 256);
}
static void plain_adamw(const more_job *job)
{
    float *p = more_at(job, 0), *m = more_at(job, 1), *v = more_at(job, 2);
    const float *g = more_at(job, 3), rate = job->a[4].real, decay = job->a[5].real;
    const int n = more_int(job, 6);
#pragma omp parallel for simd
    for (int i = 0; i < n; i++) {
        const float first = 0.9f * m[i] + 0.1f * g[i];
        const float second = 0.999f * v[i] + 0.001f * g[i] * g[i];
        m[i] = first;
        v[i] = second;
        p[i] -=
            rate * (first / 0.271f / (sqrtf(second / 0.002997f) + 1e-8f) + decay * p[i]);
    }
}

const more_kernel more_backward[] = {
    {"layernorm_backward", "backward", prepare_layernorm, plain_layernorm, 1e-4},
    {"softmax_backward", "backward", prepare_softmax, plain_softmax, 1e-4},
    {"relu_backward", "backward", prepare_element, plain_relu, 0},
    {"gelu_backward", "backward", prepare_element, plain_gelu, 1e-4},
    {"embedding_backward", "backward", prepare_embedding, plain_embedding, 1e-4},
    {"cross_entropy", "backward", prepare_entropy, plain_entropy, 1e-4},
    {"bias_gradient", "backward", prepare_bias, plain_bias, 1e-4},
    {"adamw", "backward", prepare_adamw, plain_adamw, 1e-5},
    {0}};
