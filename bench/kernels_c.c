// SPDX-License-Identifier: Apache-2.0
/* Written as a C programmer would who knows OpenMP; built with -O3 -march=native
 * -fopenmp. */
#include "kernels_c.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void c_saxpy(float *restrict y, const float *restrict x, float a, size_t n)
{
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

void c_copy(float *restrict out, const float *restrict in, size_t n)
{
#pragma omp parallel for simd
    for (size_t i = 0; i < n; i++)
        out[i] = in[i];
}

/* Tiles of 32 x 32, as the kernel. */
void c_transpose(float *restrict out, const float *restrict in, size_t width,
                 size_t height)
{
#pragma omp parallel for collapse(2)
    for (size_t y0 = 0; y0 < height; y0 += 32)
        for (size_t x0 = 0; x0 < width; x0 += 32)
            for (size_t x = x0; x < x0 + 32; x++)
                for (size_t y = y0; y < y0 + 32; y++)
                    out[x * height + y] = in[y * width + x];
}

/* Rows in pieces of 256 that stay in the first cache, as a block of the kernel has them.
 */
void c_gemv(float *restrict y, const float *restrict weight, const float *restrict x,
            size_t rows, size_t columns)
{
#pragma omp parallel for
    for (size_t r0 = 0; r0 < rows; r0 += 256) {
        float sum[256] = {0};
        for (size_t k = 0; k < columns; k++) {
            const float *from = weight + k * rows + r0;
#pragma omp simd
            for (size_t r = 0; r < 256; r++)
                sum[r] += from[r] * x[k];
        }
        memcpy(y + r0, sum, sizeof(sum));
    }
}

float c_reduce(const float *in, size_t n)
{
    float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += in[i];
    return sum;
}

/* e^x by 2^n times a polynomial, which gcc vectorizes; expf() it would call once an
 * element. */
static inline float exponential(float x)
{
    x *= 1.44269504f;
    x = x < -126.0f ? -126.0f : x;
    const float whole = (float)(int32_t)(x - 0.5f);
    const float f = x - whole;
    const float p =
        1.0f + f * (0.69314718f +
                    f * (0.24022651f +
                         f * (0.05550411f +
                              f * (0.00961813f + f * (0.00133336f + f * 0.00015469f)))));
    const int32_t bits = ((int32_t)whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof(scale));
    return p * scale;
}

void c_softmax_rows(float *restrict out, const float *restrict in, size_t rows,
                    size_t width)
{
#pragma omp parallel for
    for (size_t r = 0; r < rows; r++) {
        const float *from = in + r * width;
        float *to = out + r * width;
        float top = -3.4e38f, sum = 0;
#pragma omp simd reduction(max : top)
        for (size_t i = 0; i < width; i++)
            top = from[i] > top ? from[i] : top;
#pragma omp simd reduction(+ : sum)
        for (size_t i = 0; i < width; i++) {
            to[i] = exponential(from[i] - top);
            sum += to[i];
        }
        const float scale = 1.0f / sum;
#pragma omp simd
        for (size_t i = 0; i < width; i++)
            to[i] *= scale;
    }
}

/* Tiles of 16 x 16 of c, as the kernel. */
void c_matmul(float *restrict c, const float *restrict a, const float *restrict b,
              size_t n)
{
#pragma omp parallel for collapse(2)
    for (size_t y0 = 0; y0 < n; y0 += 16)
        for (size_t x0 = 0; x0 < n; x0 += 16) {
            float sum[16][16] = {{0}};
            for (size_t k = 0; k < n; k++)
                for (size_t y = 0; y < 16; y++)
#pragma omp simd
                    for (size_t x = 0; x < 16; x++)
                        sum[y][x] += a[(y0 + y) * n + k] * b[k * n + x0 + x];
            for (size_t y = 0; y < 16; y++)
                memcpy(c + (y0 + y) * n + x0, sum[y], sizeof(sum[y]));
        }
}
