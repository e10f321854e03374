// SPDX-License-Identifier: Apache-2.0
/* Attention over pages, softmax and rotations: launches, and the same in C. */
#include "more.h"

enum { PAGE = 16, DIM = 128, HEADS = 4 };

static uint32_t *pages_of(more_job *job, size_t sequences, size_t tokens)
{
    const size_t count = sequences * tokens / PAGE;
    uint32_t *page = more_input(job, count * 4);
    for (size_t i = 0; i < count; i++)
        page[i] = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) {
        const size_t k = more_random_number(job) % (i + 1);
        const uint32_t was = page[i];
        page[i] = page[k];
        page[k] = was;
    }
    return page;
}

static void prepare_scores(more_job *job)
{
    const size_t sequences = 2, tokens = more_size(job, 256, 32);
    more_result(job, sequences * HEADS * tokens * 4, MORE_FLOATS);
    more_floats(job, sequences * HEADS * DIM, -1, 1);
    more_floats(job, sequences * tokens * HEADS * DIM, -1, 1);
    pages_of(job, sequences, tokens);
    more_number(job, tokens);
    more_plane(job, HEADS * 128, sequences, 128, 1);
}
static void plain_scores(const more_job *job)
{
    float *score = more_at(job, 0);
    const float *query = more_at(job, 1), *key = more_at(job, 2);
    const int *page = more_at(job, 3), tokens = more_int(job, 4);
    const int rows = (int)(job->grid[0] * job->grid[1]);
#pragma omp parallel for collapse(2)
    for (int row = 0; row < rows; row++)
        for (int t = 0; t < tokens; t++) {
            const int p = page[row / HEADS * (tokens / PAGE) + t / PAGE];
            const float *k = key + ((p * HEADS + row % HEADS) * PAGE + t % PAGE) * DIM;
            const float *q = query + row * DIM;
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int d = 0; d < DIM; d++)
                sum += q[d] * k[d];
            score[row * tokens + t] = sum * 0.08838835f;
        }
}

static void prepare_values(more_job *job)
{
    const size_t sequences = 2, tokens = more_size(job, 256, 32);
    more_result(job, sequences * HEADS * DIM * 4, MORE_FLOATS);
    more_floats(job, sequences * HEADS * tokens, 0, 0.01f);
    more_floats(job, sequences * tokens * HEADS * DIM, -1, 1);
    pages_of(job, sequences, tokens);
    more_number(job, tokens);
    more_plane(job, HEADS * DIM, sequences, DIM, 1);
}
/* A page at a time: 16 products before a sum goes back to memory. */
static void sum_values(float *out, const float *weight, const float *value,
                       const int *page, int row, int tokens)
{
    float sum[DIM] = {0};
    for (int p = 0; p < tokens / PAGE; p++) {
        const float *v = value + (page[p] * HEADS + row % HEADS) * PAGE * DIM;
        const float *w = weight + p * PAGE;
#pragma omp simd
        for (int d = 0; d < DIM; d++)
            for (int t = 0; t < PAGE; t++)
                sum[d] += w[t] * v[t * DIM + d];
    }
    memcpy(out, sum, sizeof(sum));
}
static void plain_values(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *weight = more_at(job, 1), *value = more_at(job, 2);
    const int *page = more_at(job, 3), tokens = more_int(job, 4);
    const int rows = (int)(job->grid[0] * job->grid[1]);
#pragma omp parallel for
    for (int row = 0; row < rows; row++)
        sum_values(out + row * DIM, weight + row * tokens, value,
                   page + row / HEADS * (tokens / PAGE), row, tokens);
}

/* The largest first: two passes of vectors take less than one that scales again and again. */
static void softmax_row(float *out, const float *in, int width)
{
    float top = -INFINITY, sum = 0;
#pragma omp simd reduction(max : top)
    for (int i = 0; i < width; i++)
        top = in[i] > top ? in[i] : top;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < width; i++) {
        out[i] = more_exp(in[i] - top);
        sum += out[i];
    }
    const float scale = 1.0f / sum;
#pragma omp simd
    for (int i = 0; i < width; i++)
        out[i] *= scale;
}

static void prepare_online(more_job *job)
{
    const size_t rows = more_size(job, 256, 10), width = more_size(job, 1024, 100);
    more_result(job, rows * width * 4, MORE_FLOATS);
    more_floats(job, rows * width, -5, 5);
    more_number(job, rows);
    more_number(job, width);
    more_line(job, rows * 32, 256);
}
static void plain_online(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const int rows = more_int(job, 2), width = more_int(job, 3);
#pragma omp parallel for
    for (int r = 0; r < rows; r++)
        softmax_row(out + r * width, in + r * width, width);
}

static void prepare_causal(more_job *job)
{
    const size_t width = more_size(job, 512, 40);
    more_result(job, width * width * 4, MORE_FLOATS);
    more_floats(job, width * width, -5, 5);
    more_number(job, width);
    more_line(job, width * 32, 256);
}
static void plain_causal(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const int width = more_int(job, 2);
#pragma omp parallel for schedule(dynamic, 16)
    for (int r = 0; r < width; r++) {
        softmax_row(out + r * width, in + r * width, r + 1);
        memset(out + r * width + r + 1, 0, (size_t)(width - r - 1) * 4);
    }
}

static void prepare_tile(more_job *job)
{
    const size_t n = more_size(job, 512, 64);
    more_result(job, n * 32 * 4, MORE_FLOATS);
    for (int k = 0; k < 3; k++)
        more_floats(job, n * 32, -1, 1);
    more_number(job, n);
    more_line(job, n, 64);
}
/* A query at a time: its scores, their softmax, the sum of the values. */
static void attend(float *out, const float *q, const float *key, const float *value,
                   int n)
{
    float score[512] = {0}, p[512], sum[32] = {0};
    for (int k = 0; k < n; k++) {
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (int d = 0; d < 32; d++)
            s += q[d] * key[k * 32 + d];
        score[k] = s * 0.17677669f;
    }
    softmax_row(p, score, n);
    for (int k = 0; k < n; k++)
#pragma omp simd
        for (int d = 0; d < 32; d++)
            sum[d] += p[k] * value[k * 32 + d];
    memcpy(out, sum, sizeof(sum));
}
static void plain_tile(const more_job *job)
{
    float *out = more_at(job, 0);
    const float *query = more_at(job, 1), *key = more_at(job, 2),
                *value = more_at(job, 3);
    const int n = more_int(job, 4);
#pragma omp parallel for
    for (int row = 0; row < n; row++)
        attend(out + row * 32, query + row * 32, key, value, n);
}

static void prepare_write(more_job *job)
{
    const size_t tokens = more_size(job, 256, 10), pages = tokens / PAGE + 4;
    const size_t bytes = pages * HEADS * PAGE * DIM * 4;
    more_result(job, bytes, MORE_FLOATS);
    more_result(job, bytes, MORE_FLOATS);
    more_floats(job, tokens * HEADS * DIM, -1, 1);
    more_floats(job, tokens * HEADS * DIM, -1, 1);
    int *slot = more_input(job, tokens * 4);
    for (size_t i = 0; i < tokens; i++)
        slot[i] = i % 50 == 9 ? -1 : (int)(i * 7 % (pages * PAGE - 1));
    more_number(job, HEADS);
    more_line(job, tokens * 256, 256);
}
static void plain_write(const more_job *job)
{
    float *keys = more_at(job, 0), *values = more_at(job, 1);
    const float *key = more_at(job, 2), *value = more_at(job, 3);
    const int *slot = more_at(job, 4), heads = more_int(job, 5),
              tokens = (int)job->grid[0];
#pragma omp parallel for
    for (int t = 0; t < tokens; t++)
        for (int h = 0; h < heads && slot[t] >= 0; h++) {
            const int to = ((slot[t] / PAGE * heads + h) * PAGE + slot[t] % PAGE) * DIM;
            memcpy(keys + to, key + (t * heads + h) * DIM, DIM * 4);
            memcpy(values + to, value + (t * heads + h) * DIM, DIM * 4);
        }
}

static void prepare_rope(more_job *job)
{
    const size_t tokens = more_size(job, 256, 10), positions = 512;
    float *x = more_updated(job, tokens * HEADS * DIM * 4, MORE_FLOATS);
    for (size_t i = 0; i < tokens * HEADS * DIM; i++)
        x[i] = more_random_float(job, -1, 1);
    more_floats(job, positions * DIM / 2, -1, 1);
    more_floats(job, positions * DIM / 2, -1, 1);
    more_numbers(job, tokens, (uint32_t)positions);
    more_number(job, HEADS);
    more_line(job, tokens * 256, 256);
}
static void plain_rope(const more_job *job)
{
    float *x = more_at(job, 0);
    const float *cosine = more_at(job, 1), *sine = more_at(job, 2);
    const int *position = more_at(job, 3), heads = more_int(job, 4);
    const int tokens = (int)job->grid[0];
#pragma omp parallel for
    for (int t = 0; t < tokens; t++)
        for (int h = 0; h < heads; h++) {
            float *at = x + (t * heads + h) * DIM;
            const float *c = cosine + position[t] * (DIM / 2);
            const float *s = sine + position[t] * (DIM / 2);
#pragma omp simd
            for (int d = 0; d < DIM / 2; d++) {
                const float a = at[d], b = at[d + DIM / 2];
                at[d] = a * c[d] - b * s[d];
                at[d + DIM / 2] = b * c[d] + a * s[d];
            }
        }
}

const more_kernel more_attention[] = {
    {"paged_scores", "attention", prepare_scores, plain_scores, 1e-4},
    {"paged_values", "attention", prepare_values, plain_values, 1e-4},
    {"softmax_online", "attention", prepare_online, plain_online, 1e-4},
    {"softmax_causal", "attention", prepare_causal, plain_causal, 1e-4},
    {"attention_tile", "attention", prepare_tile, plain_tile, 1e-4},
    {"kv_write", "attention", prepare_write, plain_write, 0},
    {"rope", "attention", prepare_rope, plain_rope, 1e-5},
    {0}};
