// SPDX-License-Identifier: Apache-2.0
/* Rows of a model: launches, and the same in C. */
#include "more.h"

static void prepare_rms(more_job *job)
{
    const size_t rows = more_size(job, 256, 10), width = more_size(job, 1024, 300);
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_floats(job, rows * width, -1, 1);
    more_floats(job, rows * width, -1, 1);
    more_floats(job, width, 0, 2);
    more_number(job, width / 4);
    more_line(job, rows * 256, 256);
}
static void plain_rms(const more_job *job)
{
    float *y = more_at(job, 0), *all = more_at(job, 1);
    const float *x = more_at(job, 2), *residual = more_at(job, 3),
                *weight = more_at(job, 4);
    const int width = more_int(job, 5) * 4, rows = (int)job->grid[0];
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const int first = row * width;
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (int i = 0; i < width; i++) {
            const float a = x[first + i] + residual[first + i];
            all[first + i] = a;
            squares += a * a;
        }
        const float scale = 1.0f / sqrtf(squares / (float)width + 1e-5f);
#pragma omp simd
        for (int i = 0; i < width; i++)
            y[first + i] = all[first + i] * scale * weight[i];
    }
}

static void prepare_cosine(more_job *job)
{
    const size_t rows = more_size(job, 256, 13), width = more_size(job, 512, 90);
    more_result(job, rows * 4, MORE_FLOATS);
    more_floats(job, rows * width, -1, 1);
    more_floats(job, rows * width, -1, 1);
    more_number(job, rows);
    more_number(job, width);
    more_plane(job, 32, rows, 32, 8);
    job->grid[0] = job->grid[1];
    job->grid[1] = 1;
}
static void plain_cosine(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *a = more_at(job, 1), *b = more_at(job, 2);
    const int rows = more_int(job, 3), width = more_int(job, 4);
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float *x = a + row * width, *y = b + row * width;
        float ab = 0, aa = 0, bb = 0;
#pragma omp simd reduction(+ : ab, aa, bb)
        for (int i = 0; i < width; i++) {
            ab += x[i] * y[i];
            aa += x[i] * x[i];
            bb += y[i] * y[i];
        }
        out[row] = ab / fmaxf(sqrtf(aa * bb), 1e-8f);
    }
}

static void prepare_divergence(more_job *job)
{
    const size_t rows = more_size(job, 256, 10), width = more_size(job, 1000, 77);
    more_result(job, rows * 4, MORE_FLOATS);
    float *p = more_floats(job, rows * width, 0, 2.0f / (float)width);
    for (size_t i = 0; i < rows * width; i += 7)
        p[i] = 0;
    more_floats(job, rows * width, -5, 5);
    more_number(job, rows);
    more_number(job, width);
    more_line(job, rows * 32, 256);
}
static void plain_divergence(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *all_p = more_at(job, 1), *all_x = more_at(job, 2);
    const int rows = more_int(job, 3), width = more_int(job, 4);
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const float *p = all_p + row * width, *x = all_x + row * width;
        float top = -INFINITY, sum = 0, all = 0;
#pragma omp simd reduction(max : top)
        for (int i = 0; i < width; i++)
            top = x[i] > top ? x[i] : top;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < width; i++)
            sum += more_exp(x[i] - top);
        const float shift = top + logf(sum);
#pragma omp simd reduction(+ : all)
        for (int i = 0; i < width; i++) {
            const float one = p[i] * (more_log(p[i]) - (x[i] - shift));
            all += p[i] > 0 ? one : 0;
        }
        out[row] = all;
    }
}

enum { GROUPS = 8 };

static void prepare_groups(more_job *job)
{
    const size_t samples = more_size(job, 8, 2), channels = 4,
                 pixels = more_size(job, 1024, 60);
    const size_t count = samples * GROUPS * channels * pixels;
    more_result(job, count * 4, MORE_FLOATS);
    more_floats(job, count, -1, 2);
    more_floats(job, GROUPS * channels, 0, 2);
    more_floats(job, GROUPS * channels, -1, 1);
    more_number(job, channels);
    more_number(job, pixels);
    more_plane(job, GROUPS * 256, samples, 256, 1);
}
static void plain_groups(const more_job *job)
{
    float *y = more_at(job, 0);
    const float *x = more_at(job, 1), *weight = more_at(job, 2), *bias = more_at(job, 3);
    const int channels = more_int(job, 4), pixels = more_int(job, 5);
    const int groups = (int)(job->grid[0] * job->grid[1]), count = channels * pixels;
#pragma omp parallel for
    for (int g = 0; g < groups; g++) {
        const float *from = x + g * count;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
        for (int i = 0; i < count; i++) {
            sum += from[i];
            squares += from[i] * from[i];
        }
        const float mean = sum / (float)count;
        const float scale = 1.0f / sqrtf(squares / (float)count - mean * mean + 1e-5f);
        for (int c = 0; c < channels; c++) {
            const float w = weight[g % GROUPS * channels + c] * scale,
                        b = bias[g % GROUPS * channels + c];
            const float *in = from + c * pixels;
            float *to = y + g * count + c * pixels;
#pragma omp simd
            for (int i = 0; i < pixels; i++) {
                const float v = (in[i] - mean) * w + b;
                to[i] = v / (1.0f + more_exp(-v));
            }
        }
    }
}

static void brains(more_job *job, size_t count)
{
    uint16_t *to = more_input(job, count * 2);
    for (size_t i = 0; i < count; i++)
        to[i] = more_to_brain(more_random_float(job, -1, 1));
}

static void prepare_brain(more_job *job)
{
    const size_t rows = more_size(job, 512, 20), columns = more_size(job, 1024, 264);
    more_result(job, rows * 4, MORE_FLOATS);
    brains(job, rows * columns);
    brains(job, columns);
    more_number(job, rows);
    more_number(job, columns / 8);
    more_line(job, rows * 32, 256);
}
static void plain_brain(const more_job *job)
{
    float *y = more_at(job, 0);
    const uint16_t *weight = more_at(job, 1), *x = more_at(job, 2);
    const int rows = more_int(job, 3), columns = more_int(job, 4) * 8;
#pragma omp parallel for
    for (int row = 0; row < rows; row++) {
        const uint16_t *w = weight + row * columns;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < columns; i++)
            sum += more_of_brain(w[i]) * more_of_brain(x[i]);
        y[row] = sum;
    }
}

static void prepare_gate(more_job *job)
{
    const size_t tokens = more_size(job, 2048, 21);
    more_result(job, tokens * 2 * 4, MORE_FLOATS);
    more_result(job, tokens * 2 * 4, MORE_WORDS);
    more_floats(job, tokens * 64, -3, 3);
    more_number(job, tokens);
    more_line(job, tokens * 32, 128);
}
static int best_of(const float x[64], float *most)
{
    float top = -INFINITY;
#pragma omp simd reduction(max : top)
    for (int i = 0; i < 64; i++)
        top = x[i] > top ? x[i] : top;
    int at = 64;
#pragma omp simd reduction(min : at)
    for (int i = 0; i < 64; i++)
        at = x[i] == top && i < at ? i : at;
    *most = top;
    return at;
}
static void plain_gate(const more_job *job)
{
    float *share = more_at(job, 0);
    uint32_t *expert = more_at(job, 1);
    const float *logit = more_at(job, 2);
    const int tokens = more_int(job, 3);
#pragma omp parallel for
    for (int t = 0; t < tokens; t++) {
        float x[64], best[2];
        memcpy(x, logit + t * 64, sizeof(x));
        for (int k = 0; k < 2; k++) {
            const int at = best_of(x, &best[k]);
            expert[t * 2 + k] = (uint32_t)at;
            x[at] = -INFINITY;
        }
        const float e = more_exp(best[1] - best[0]);
        share[t * 2] = 1.0f / (1.0f + e);
        share[t * 2 + 1] = e / (1.0f + e);
    }
}

const more_kernel more_rows[] = {
    {"rmsnorm_residual", "rows", prepare_rms, plain_rms, 1e-4},
    {"cosine_rows", "rows", prepare_cosine, plain_cosine, 1e-4},
    {"divergence_rows", "rows", prepare_divergence, plain_divergence, 1e-4},
    {"groupnorm_silu", "rows", prepare_groups, plain_groups, 1e-4},
    {"gemv_bf16", "rows", prepare_brain, plain_brain, 1e-4},
    {"expert_gate", "rows", prepare_gate, plain_gate, 1e-5},
    {0}};
