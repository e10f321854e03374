// SPDX-License-Identifier: Apache-2.0
/* The best loops one would write for a CPU, which need not look like the kernels: no tiles
 * in shared memory, no steps between barriers. Built with -O3 -march=native -fopenmp. */
#include "patterns_c.h"

#include <math.h>
#include <string.h>

/* Sums and norms of rows ------------------------------------------------------------ */

void c_rmsnorm(float *restrict out, const float *restrict in,
               const float *restrict weight, size_t rows, size_t width)
{
#pragma omp parallel for
    for (size_t r = 0; r < rows; r++) {
        const float *from = in + r * width;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < width; i++)
            sum += from[i] * from[i];
        const float scale = 1.0f / sqrtf(sum / (float)width + 1e-5f);
#pragma omp simd
        for (size_t i = 0; i < width; i++)
            out[r * width + i] = from[i] * scale * weight[i];
    }
}

void c_gemv_rows(float *restrict y, const float *restrict weight, const float *restrict x,
                 size_t rows, size_t columns)
{
#pragma omp parallel for
    for (size_t r = 0; r < rows; r++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < columns; i++)
            sum += weight[r * columns + i] * x[i];
        y[r] = sum;
    }
}

void c_scores(float *restrict out, const float *restrict query, const float *restrict key,
              size_t keys)
{
#pragma omp parallel for
    for (size_t k = 0; k < keys; k++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < 128; i++)
            sum += query[i] * key[k * 128 + i];
        out[k] = sum * 0.088388f;
    }
}

/* Scans ----------------------------------------------------------------------------- */

void c_scan_blocks(float *restrict out, const float *restrict in, size_t n)
{
#pragma omp parallel for
    for (size_t b = 0; b < n; b += 256) {
        float sum = 0;
#pragma omp simd reduction(inscan, + : sum)
        for (size_t i = b; i < b + 256; i++) {
            sum += in[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
    }
}

/* Two passes over pieces that stay in the first cache would need two threads' sums first;
 * so each thread sums its share, then scans it. */
void c_scan(uint32_t *restrict out, const uint32_t *restrict in, size_t n)
{
    enum { SHARES = 2 };
    uint32_t before[SHARES + 1] = {0};
#pragma omp parallel for
    for (size_t t = 0; t < SHARES; t++) {
        uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = n * t / SHARES; i < n * (t + 1) / SHARES; i++)
            sum += in[i];
        before[t + 1] = sum;
    }
    for (size_t t = 0; t < SHARES; t++)
        before[t + 1] += before[t];
#pragma omp parallel for
    for (size_t t = 0; t < SHARES; t++) {
        uint32_t sum = before[t];
#pragma omp simd reduction(inscan, + : sum)
        for (size_t i = n * t / SHARES; i < n * (t + 1) / SHARES; i++) {
            sum += in[i];
#pragma omp scan inclusive(sum)
            out[i] = sum;
        }
    }
}

/* Neighbors ------------------------------------------------------------------------ */

static float five(const float *row, const float *up, const float *down, size_t x,
                  size_t left, size_t right)
{
    return 0.5f * row[x] + 0.125f * (up[x] + down[x] + row[left] + row[right]);
}

void c_stencil(float *restrict out, const float *restrict in, size_t width, size_t height)
{
#pragma omp parallel for
    for (size_t y = 0; y < height; y++) {
        const float *row = in + y * width;
        const float *up = y > 0 ? row - width : row;
        const float *down = y + 1 < height ? row + width : row;
        float *to = out + y * width;
        to[0] = five(row, up, down, 0, 0, 1);
#pragma omp simd
        for (size_t x = 1; x < width - 1; x++)
            to[x] = 0.5f * row[x] + 0.125f * (up[x] + down[x] + row[x - 1] + row[x + 1]);
        to[width - 1] = five(row, up, down, width - 1, width - 2, width - 1);
    }
}

/* The edge is asked for pixel by pixel; inside, 25 products a vector. */
static float edge(const float *in, const float *weight, size_t width, size_t height,
                  size_t x, size_t y)
{
    float sum = 0;
    for (size_t j = 0; j < 5; j++)
        for (size_t i = 0; i < 5; i++)
            if (y + j >= 2 && y + j - 2 < height && x + i >= 2 && x + i - 2 < width)
                sum += weight[j * 5 + i] * in[(y + j - 2) * width + x + i - 2];
    return sum;
}

void c_convolve(float *restrict out, const float *restrict in,
                const float *restrict weight, size_t width, size_t height)
{
#pragma omp parallel for
    for (size_t y = 0; y < height; y++) {
        const int inside = y >= 2 && y + 2 < height;
        for (size_t x = 0; x < width; x++)
            if (!inside || x < 2 || x >= width - 2)
                out[y * width + x] = edge(in, weight, width, height, x, y);
        if (!inside)
            continue;
        const float *from = in + (y - 2) * width;
#pragma omp simd
        for (size_t x = 2; x < width - 2; x++) {
            float sum = 0;
            for (size_t j = 0; j < 5; j++)
                for (size_t i = 0; i < 5; i++)
                    sum += weight[j * 5 + i] * from[j * width + x + i - 2];
            out[y * width + x] = sum;
        }
    }
}

/* Numbers of 16 bits ---------------------------------------------------------------- */

__extension__ typedef _Float16 half;

/* As _Float16, which gcc computes as such where the machine does, else through floats. */
void c_half2_chain(uint16_t *restrict y, const uint16_t *restrict x, const uint16_t a[2],
                   size_t n)
{
    half both[2], *to = (half *)y;
    const half *from = (const half *)x;
    memcpy(both, a, sizeof(both));
    const half k = both[0];
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        const half v = from[i], w = to[i];
        to[i] = ((k * v + w) * v + k) * v + w;
    }
}

static inline float from_bf16(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static inline float round_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    bits += 0x7fff + (bits >> 16 & 1);
    bits &= 0xffff0000u;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

void c_bf162_chain(uint16_t *restrict y, const uint16_t *restrict x, const uint16_t a[2],
                   size_t n)
{
    const float k = from_bf16(a[0]);
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++) {
        const float v = from_bf16(x[i]), w = from_bf16(y[i]);
        const float r = round_bf16(round_bf16(round_bf16(k * v + w) * v + k) * v + w);
        uint32_t bits;
        memcpy(&bits, &r, sizeof(bits));
        y[i] = (uint16_t)(bits >> 16);
    }
}

/* Whole numbers --------------------------------------------------------------------- */

/* Four tables a thread: counts of equal neighbors need not wait for one another. */
void c_histogram(uint32_t *restrict out, const uint32_t *restrict in, size_t words)
{
#pragma omp parallel
    {
        uint32_t bins[4][256] = {{0}};
#pragma omp for
        for (size_t i = 0; i < words; i++) {
            const uint32_t v = in[i];
            bins[0][v & 255]++;
            bins[1][v >> 8 & 255]++;
            bins[2][v >> 16 & 255]++;
            bins[3][v >> 24]++;
        }
#pragma omp critical
        for (size_t b = 0; b < 256; b++)
            out[b] += bins[0][b] + bins[1][b] + bins[2][b] + bins[3][b];
    }
}

void c_gemv_dp4a(int32_t *restrict y, const int32_t *restrict weight,
                 const int32_t *restrict x, size_t rows, size_t words)
{
    const int8_t *w = (const int8_t *)weight, *v = (const int8_t *)x;
#pragma omp parallel for
    for (size_t r0 = 0; r0 < rows; r0 += 256) {
        int32_t sum[256] = {0};
        for (size_t k = 0; k < words; k++)
#pragma omp simd
            for (size_t r = 0; r < 256; r++) {
                const int8_t *from = w + (k * rows + r0 + r) * 4;
                sum[r] += from[0] * v[k * 4] + from[1] * v[k * 4 + 1] +
                          from[2] * v[k * 4 + 2] + from[3] * v[k * 4 + 3];
            }
        memcpy(y + r0, sum, sizeof(sum));
    }
}

static inline void exchange(uint32_t *a, uint32_t *b)
{
    const uint32_t x = *a, y = *b;
    *a = x < y ? x : y;
    *b = x < y ? y : x;
}

/* The same network, its steps as loops over runs that lie side by side. */
void c_sort_network(uint32_t *keys, size_t n)
{
#pragma omp parallel for
    for (size_t first = 0; first < n; first += 512) {
        uint32_t *s = keys + first;
        for (size_t size = 2; size <= 512; size *= 2)
            for (size_t step = size / 2; step > 0; step /= 2)
                for (size_t base = 0; base < 512; base += 2 * step) {
                    uint32_t *low = s + base, *high = low + step;
                    if (base & size)
#pragma omp simd
                        for (size_t i = 0; i < step; i++)
                            exchange(&high[i], &low[i]);
                    else
#pragma omp simd
                        for (size_t i = 0; i < step; i++)
                            exchange(&low[i], &high[i]);
                }
    }
}
