// SPDX-License-Identifier: Apache-2.0
/* Sorting, ranks and merging: launches, and the same in C. */
#include "more.h"

#include <stdlib.h>

static void prepare_pairs(more_job *job)
{
    const size_t n = more_size(job, 131072, 2048);
    uint32_t *keys = more_updated(job, n * 4, MORE_WORDS);
    uint32_t *values = more_updated(job, n * 4, MORE_WORDS);
    for (size_t i = 0; i < n; i++) { /* no two keys are equal */
        keys[i] = (uint32_t)(i * 2654435761u);
        values[i] = (uint32_t)i;
    }
    more_line(job, n / 2, 256);
}
/* Least digit first, 8 bits a pass, a piece in the first cache. */
static void sort_512(uint32_t *keys, uint32_t *values)
{
    uint32_t other_keys[512], other_values[512];
    uint32_t *k = keys, *v = values, *to_k = other_keys, *to_v = other_values;
    for (int shift = 0; shift < 32; shift += 8) {
        uint32_t place[256] = {0}, sum = 0;
        for (int i = 0; i < 512; i++)
            place[k[i] >> shift & 255]++;
        for (int d = 0; d < 256; d++) {
            const uint32_t count = place[d];
            place[d] = sum;
            sum += count;
        }
        for (int i = 0; i < 512; i++) {
            const uint32_t at = place[k[i] >> shift & 255]++;
            to_k[at] = k[i];
            to_v[at] = v[i];
        }
        uint32_t *const was_k = k, *const was_v = v;
        k = to_k;
        v = to_v;
        to_k = was_k;
        to_v = was_v;
    }
}
static void plain_pairs(const more_job *job)
{
    uint32_t *keys = more_at(job, 0), *values = more_at(job, 1);
    const int blocks = (int)job->grid[0];
#pragma omp parallel for
    for (int b = 0; b < blocks; b++)
        sort_512(keys + b * 512, values + b * 512);
}

static void prepare_histogram(more_job *job)
{
    const size_t blocks = more_size(job, 128, 3);
    more_result(job, blocks * 256 * 4, MORE_WORDS);
    more_numbers(job, blocks * 2048, 0);
    more_number(job, 8);
    more_line(job, blocks * 256, 256);
}
static void plain_histogram(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint32_t *keys = more_at(job, 1);
    const int shift = more_int(job, 2), blocks = (int)job->grid[0];
#pragma omp parallel for
    for (int b = 0; b < blocks; b++) {
        uint32_t bins[2][256] = {{0}};
        for (int i = 0; i < 2048; i += 2) {
            bins[0][keys[b * 2048 + i] >> shift & 255]++;
            bins[1][keys[b * 2048 + i + 1] >> shift & 255]++;
        }
        for (int d = 0; d < 256; d++)
            out[d * blocks + b] = bins[0][d] + bins[1][d];
    }
}

static void prepare_scatter(more_job *job)
{
    const size_t blocks = more_size(job, 1024, 5);
    more_result(job, blocks * 256 * 4, MORE_WORDS);
    const uint32_t *keys = more_numbers(job, blocks * 256, 0);
    uint32_t *offset = more_input(job, blocks * 16 * 4), sum = 0;
    for (size_t i = 0; i < blocks * 256; i++)
        offset[(keys[i] >> 4 & 15) * blocks + i / 256]++;
    for (size_t i = 0; i < blocks * 16; i++) {
        const uint32_t count = offset[i];
        offset[i] = sum;
        sum += count;
    }
    more_number(job, 4);
    more_line(job, blocks * 256, 256);
}
static void plain_scatter(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint32_t *keys = more_at(job, 1), *offset = more_at(job, 2);
    const int shift = more_int(job, 3), blocks = (int)job->grid[0];
#pragma omp parallel for
    for (int b = 0; b < blocks; b++) {
        uint32_t place[16];
        for (int d = 0; d < 16; d++)
            place[d] = offset[d * blocks + b];
        for (int i = 0; i < 256; i++) {
            const uint32_t key = keys[b * 256 + i];
            out[place[key >> shift & 15]++] = key;
        }
    }
}

static int by_key(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
static void prepare_merge(more_job *job)
{
    const size_t n = more_size(job, 131072, 2048);
    more_result(job, n * 2 * 4, MORE_WORDS);
    for (int run = 0; run < 2; run++)
        qsort(more_numbers(job, n, 0), n, 4, by_key);
    more_number(job, n);
    more_line(job, n / 8, 128);
}
/* A piece of the result: no branch waits for a key. */
static void merge(uint32_t *out, const uint32_t *a, const uint32_t *b, int n, int first,
                  int last)
{
    int low = first > n ? first - n : 0, high = first < n ? first : n;
    while (low < high) {
        const int mid = (low + high) / 2;
        if (a[mid] <= b[first - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    int i = low, j = first - low, k = first;
    for (; k < last && i < n && j < n; k++) {
        const uint32_t x = a[i], y = b[j];
        const int left = x <= y;
        out[k] = left ? x : y;
        i += left;
        j += !left;
    }
    while (k < last && i < n)
        out[k++] = a[i++];
    while (k < last && j < n)
        out[k++] = b[j++];
}
static void plain_merge(const more_job *job)
{
    uint32_t *out = more_at(job, 0);
    const uint32_t *a = more_at(job, 1), *b = more_at(job, 2);
    const int n = more_int(job, 3);
#pragma omp parallel for
    for (int piece = 0; piece < 8; piece++)
        merge(out, a, b, n, n / 4 * piece, n / 4 * (piece + 1));
}

static void prepare_rank(more_job *job)
{
    const size_t n = more_size(job, 16384, 512);
    more_result(job, n * 4, MORE_WORDS);
    float *keys = more_floats(job, n, 0, 1);
    for (size_t i = 0; i < n; i++) /* some are equal */
        keys[i] = floorf(keys[i] * 500.0f);
    more_line(job, n, 256);
}
static void plain_rank(const more_job *job)
{
    uint32_t *rank = more_at(job, 0);
    const float *keys = more_at(job, 1);
    const int blocks = (int)job->grid[0];
#pragma omp parallel for
    for (int b = 0; b < blocks; b++) {
        const float *s = keys + b * 256;
        uint32_t r[256] = {0};
        for (int i = 0; i < 256; i++) {
            const float x = s[i];
#pragma omp simd
            for (int t = 0; t < 256; t++)
                r[t] += (uint32_t)((x < s[t]) | ((x == s[t]) & (i < t)));
        }
        memcpy(rank + b * 256, r, sizeof(r));
    }
}

const more_kernel more_sort[] = {
    {"bitonic_pairs", "sort", prepare_pairs, plain_pairs, 0},
    {"radix_histogram", "sort", prepare_histogram, plain_histogram, 0},
    {"radix_scatter", "sort", prepare_scatter, plain_scatter, 0},
    {"merge_path", "sort", prepare_merge, plain_merge, 0},
    {"rank_count", "sort", prepare_rank, plain_rank, 0},
    {0}};
