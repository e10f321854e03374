// SPDX-License-Identifier: Apache-2.0
/* Selection and searching: launches, and the same in C. */
#include "more.h"

static void prepare_topk(more_job *job)
{
    const size_t rows = more_size(job, 256, 10);
    more_result(job, rows * 8 * 4, MORE_FLOATS);
    more_result(job, rows * 8 * 4, MORE_WORDS);
    float *in = more_floats(job, rows * 1024, -1, 1);
    for (size_t i = 0; i < rows * 1024; i += 100) /* equal ones: the first counts */
        in[i] = 0.999f;
    more_number(job, rows);
    more_line(job, rows * 32, 256);
}
/* A piece is looked at one by one where its largest is among the eight. */
static void top_8(float *value, int *index, const float *in)
{
    for (int k = 0; k < 8; k++)
        value[k] = -INFINITY;
    for (int first = 0; first < 1024; first += 32) {
        float top = -INFINITY;
#pragma omp simd reduction(max : top)
        for (int i = first; i < first + 32; i++)
            top = in[i] > top ? in[i] : top;
        if (!(top > value[7]))
            continue;
        for (int i = first; i < first + 32; i++) {
            if (!(in[i] > value[7]))
                continue;
            int k = 7;
            for (; k > 0 && in[i] > value[k - 1]; k--) {
                value[k] = value[k - 1];
                index[k] = index[k - 1];
            }
            value[k] = in[i];
            index[k] = i;
        }
    }
}
static void plain_topk(const more_job *job)
{
    float *value = more_at(job, 0);
    int *index = more_at(job, 1);
    const float *in = more_at(job, 2);
    const int rows = more_int(job, 3);
#pragma omp parallel for
    for (int r = 0; r < rows; r++)
        top_8(value + r * 8, index + r * 8, in + r * 1024);
}

static void prepare_argmax(more_job *job)
{
    const size_t rows = more_size(job, 64, 5), width = 4096;
    more_result(job, rows * 4, MORE_WORDS);
    more_floats(job, rows * width, -1, 1);
    more_number(job, width);
    more_line(job, rows * 256, 256);
}
static void plain_argmax(const more_job *job)
{
    int *out = more_at(job, 0);
    const float *in = more_at(job, 1);
    const int width = more_int(job, 2), rows = (int)job->grid[0];
#pragma omp parallel for
    for (int r = 0; r < rows; r++) {
        const float *x = in + r * width;
        float top = -INFINITY;
#pragma omp simd reduction(max : top)
        for (int i = 0; i < width; i++)
            top = x[i] > top ? x[i] : top;
        int at = 0;
        while (x[at] != top)
            at++;
        out[r] = at;
    }
}

static void prepare_compact(more_job *job)
{
    const size_t n = more_size(job, 262144, 3000);
    more_updated(job, n * 4, MORE_ANY_ORDER);
    more_updated(job, 4, MORE_WORDS);
    more_numbers(job, n, 0);
    more_number(job, 0x90000000u);
    more_number(job, n);
    more_line(job, n, 256);
}
/* Each thread counts its share first; no branch. */
static void plain_compact(const more_job *job)
{
    uint32_t *out = more_at(job, 0), *count = more_at(job, 1);
    const uint32_t *in = more_at(job, 2), least = job->a[3].number;
    const int n = more_int(job, 4);
    enum { SHARES = 8 };
    uint32_t base[SHARES + 1] = {0};
#pragma omp parallel for
    for (int s = 0; s < SHARES; s++) {
        uint32_t sum = 0;
        const int end = (int)((int64_t)n * (s + 1) / SHARES);
#pragma omp simd reduction(+ : sum)
        for (int i = (int)((int64_t)n * s / SHARES); i < end; i++)
            sum += in[i] >= least;
        base[s + 1] = sum;
    }
    for (int s = 0; s < SHARES; s++)
        base[s + 1] += base[s];
#pragma omp parallel for
    for (int s = 0; s < SHARES; s++) {
        uint32_t at = base[s];
        const int end = (int)((int64_t)n * (s + 1) / SHARES);
        for (int i = (int)((int64_t)n * s / SHARES); i < end && at < base[s + 1]; i++) {
            out[at] = in[i];
            at += in[i] >= least;
        }
    }
    *count = base[SHARES];
}

static void prepare_bound(more_job *job)
{
    const size_t n = more_size(job, 65536, 1000), queries = more_size(job, 65536, 1000);
    more_result(job, queries * 4, MORE_WORDS);
    int *sorted = more_input(job, n * 4);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (int)(3 * i + more_random_number(job) % 3);
    more_numbers(job, queries, (uint32_t)(3 * n + 5));
    more_number(job, n);
    more_number(job, queries);
    more_line(job, queries, 256);
}
/* Halves without a branch: eight searches side by side are a vector. */
static void plain_bound(const more_job *job)
{
    int *out = more_at(job, 0);
    const int *sorted = more_at(job, 1), *query = more_at(job, 2);
    const int n = more_int(job, 3), queries = more_int(job, 4);
#pragma omp parallel for
    for (int first = 0; first < queries; first += 64) {
        const int count = first + 64 < queries ? 64 : queries - first;
        int base[64] = {0};
        for (int left = n; left > 1; left -= left / 2) {
            const int half = left / 2;
#pragma omp simd
            for (int i = 0; i < count; i++)
                base[i] += sorted[base[i] + half - 1] < query[first + i] ? half : 0;
        }
        for (int i = 0; i < count; i++)
            out[first + i] = base[i] + (sorted[base[i]] < query[first + i]);
    }
}

static void prepare_probe(more_job *job)
{
    const size_t size = more_size(job, 65536, 1024),
                 queries = more_size(job, 131072, 1000);
    const uint32_t mask = (uint32_t)size - 1;
    more_result(job, queries * 4, MORE_WORDS);
    uint32_t *table = more_input(job, size * 8);
    uint32_t *query = more_input(job, queries * 4);
    for (size_t i = 0; i < queries; i++)
        query[i] = 1 + more_random_number(job) % 1000000;
    for (size_t i = 0; i < size * 6 / 10; i++) { /* half of the queries are there */
        const uint32_t key =
            i % 2 ? query[i % queries] : 1 + more_random_number(job) % 1000000;
        uint32_t at = key * 2654435761u & mask;
        while (table[at * 2] != 0 && table[at * 2] != key)
            at = (at + 1) & mask;
        table[at * 2] = key;
        table[at * 2 + 1] = (uint32_t)i;
    }
    more_number(job, mask);
    more_number(job, queries);
    more_line(job, queries, 256);
}
static void plain_probe(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint32_t *table = more_at(job, 1), *query = more_at(job, 2);
    const uint32_t mask = job->a[3].number;
    const int queries = more_int(job, 4);
#pragma omp parallel for
    for (int i = 0; i < queries; i++) {
        const uint32_t key = query[i];
        uint32_t at = key * 2654435761u & mask;
        while (table[at * 2] != key && table[at * 2] != 0)
            at = (at + 1) & mask;
        out[i] = table[at * 2] == key ? table[at * 2 + 1] : 0xffffffffu;
    }
}

const more_kernel more_select[] = {
    {"topk_warp", "select", prepare_topk, plain_topk, 0},
    {"argmax_rows", "select", prepare_argmax, plain_argmax, 0},
    {"compact_ballot", "select", prepare_compact, plain_compact, 0},
    {"lower_bound", "select", prepare_bound, plain_bound, 0},
    {"hash_probe", "select", prepare_probe, plain_probe, 0},
    {0}};
